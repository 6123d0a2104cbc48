/** The canvas of the graph, and the hand of the person on it. */
import { h, keyed, s } from '../dom';
import { button, icon } from '../icons';
import type { Acts, Choice, Look } from '../look';
import { camera } from './camera';
import { edgeElement, edgeStamp, nodeElement, nodeStamp, noteElement, strokeElement } from './draw';
import { hits, nextHit, type Hit } from './find';
import { finder, NOTHING, type Query } from './finder';
import { legend } from './legend';
import { list } from './list';
import { menu, type Entry } from './menu';
import { moved } from './motion';
import { overview } from './overview';
import { spotOfCall, type Places, type Size, type Spot } from './place';
import { reaches } from './edges';
import { around, scene, type Around, type Scene } from './scene';
import { survey } from './survey';
import { copied, dot, svg as taken } from './take';
import { counts, type Kind } from './trouble';
import { isArrow, walk } from './walk';

const NARROW = 640;
const TALL = 520;
/** Of more nodes only those in sight are drawn. */
const GREAT = 150;
/** Graphviz takes too long for more. */
const TIDY = 300;
/** From so many objects on there is an overview, and the search is at hand. */
const WIDE = 100;

const choiceOf = ({ object, nothing }: Spot): Choice => ({
  call: nothing?.id ?? object?.call ?? '',
  object: object?.id ?? ''
});

/** What stands there already is not written again: to write makes the browser look at it anew. */
function put(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select') !== null;

export interface Graph {
  readonly element: HTMLElement;
  paint(view: Look): void;
  resize(): void;
  /** Does what a key is for, wherever in the panel it was pressed; says whether it did. */
  press(event: KeyboardEvent): boolean;
}

/** The canvas with the graph and its tools. */
export function graph(acts: Acts): Graph {
  const layers = { strokes: s('g'), edges: s('g'), nodes: s('g'), notes: s('g') };
  const world = s('g', {}, layers.strokes, layers.edges, layers.nodes, layers.notes);
  const svg = s('svg', { class: 'g', role: 'graphics-document img', 'aria-label': 'Object lineage' }, world);
  const hand = camera(svg, world, () => draw());
  const find = finder({ look: ask, go: step, focus: narrow, close: () => open(false) });
  const line = overview(go);
  const spoken = list();
  const key = h('div', { class: 'tc-key', hidden: true });
  const says = h('span', { class: 'tc-says', role: 'status', 'aria-label': 'Graph' });

  const refold = button('Fold', { look: 'ghost', onclick: () => acts.set({ unfolded: new Set() }) });
  const tidy = button('Tidy', { look: 'ghost', onclick: lay });
  const look = button('', { icon: 'search', label: 'Search', look: 'ghost icon', onclick: () => open(true) });
  const tools = h(
    'div',
    { class: 'tc-tools' },
    says,
    refold,
    tidy,
    look,
    button('', { icon: 'minus', label: 'Zoom out', look: 'ghost icon', onclick: () => hand.zoom(1 / 1.25) }),
    button('', { icon: 'plus', label: 'Zoom in', look: 'ghost icon', onclick: () => hand.zoom(1.25) }),
    button('', { icon: 'fit', label: 'Fit', look: 'ghost icon', onclick: () => hand.fit(found.box) }),
    menu('More', 'more', entries)
  );
  const hint = h(
    'p',
    { class: 'tc-empty' },
    icon('info'),
    'No objects yet. What the session begins with, and what its calls make, stands here.'
  );
  const canvas = h('div', { class: 'tc-canvas' }, svg, tools, hint);
  const element = h('div', { class: 'tc-graph' }, find.element, line.element, canvas, key, spoken.element);

  const edgeLayer = keyed(layers.edges, (edge: Scene['edges'][number]) => edgeElement(edge, hand.afar()));
  const nodeLayer = keyed(layers.nodes, (node: Scene['nodes'][number]) => nodeElement(node, hand.afar()));
  const noteLayer = keyed(layers.notes, noteElement);
  const strokeLayer = keyed(layers.strokes, strokeElement);

  const placed = survey();
  let found: Places = { spots: [], spotOf: () => undefined, divider: null, box: { left: 0, top: 0, right: 0, bottom: 0 } };
  let rest: Around = { notes: [], strokes: [], newest: undefined, right: 0 };
  let drawn: Scene = { nodes: [], edges: [] };
  let view: Look | null = null;
  let current = '';
  let shown = '';
  let width = 0;
  let query: Query = NOTHING;
  let results: readonly Hit[] = [];
  let focus = false;
  let searching = false;
  let laying = false;

  /** The width is read once and when it changes: to read it makes the browser lay out. */
  const size = (): Size => {
    width ||= canvas.clientWidth;
    const known = width || 900;
    return { width: known, narrow: known < NARROW };
  };

  const again = (): void => void (view && paint(view));

  function entries(): Entry[] {
    const here = view;
    if (!here) return [];
    return [
      { text: focus ? 'Leave the focus' : 'Focus ±2', key: 'f', act: () => narrow(!focus) },
      { text: key.hidden ? 'Legend' : 'Hide the legend', act: explain },
      { text: 'Copy as SVG', act: () => void copy('SVG', taken(scene(here, found.spots, found, size()), rest, found.box, canvas)) },
      { text: 'Copy as DOT', act: () => void copy('DOT', dot(here)) }
    ];
  }

  async function copy(what: string, text: string): Promise<void> {
    tell((await copied(text)) ? `${what} copied` : `The browser does not let ${what} be copied here`);
  }

  function tell(text: string): void {
    says.textContent = text;
    setTimeout(() => says.textContent === text && says.replaceChildren(), 2500);
  }

  function explain(): void {
    key.hidden = !key.hidden;
    again();
  }

  function lay(): void {
    laying = true;
    acts.send({ type: 'tidy' });
  }

  // -- looking for something ----------------------------------------------------------------

  function ask(next: Query): void {
    query = next;
    results = view ? hits(view, query.text, query.kind) : [];
    if (query.kind !== null && results.length > 0) step(1);
    else again();
  }

  function step(by: 1 | -1): void {
    const hit = view && nextHit(results, view, by);
    if (hit) acts.set({ chosen: { call: hit.call, object: hit.object }, form: null });
    else again();
  }

  function open(on: boolean): void {
    searching = on;
    if (!on) [query, results] = [NOTHING, []];
    again();
    if (on) find.field.focus({ preventScroll: true });
    else reach(found.spots.find(spot => spot.key === current) ?? rest.newest);
  }

  function narrow(on: boolean): void {
    focus = on;
    again();
    const spot = chosen() ?? rest.newest;
    if (spot) hand.reveal(spot);
  }

  /** Leads to what the calls had come to by a step. */
  function go(to: number): void {
    const call = view?.calls[to - 1];
    const spot = call && spotOfCall(found, call);
    const near = spot ?? found.spots.findLast(({ object }) => object !== null && object.step > 0 && object.step <= to);
    if (near) hand.reveal(near);
  }

  // -- on the canvas -------------------------------------------------------------------------

  function spotAt(event: Event): Spot | undefined {
    const target = event.target instanceof Element ? event.target.closest('.node') : null;
    const key = target?.getAttribute('data-k');
    return found.spots.find(spot => spot.key === key);
  }

  const chosen = (): Spot | undefined => {
    if (!view) return undefined;
    const call = view.model.calls.get(view.chosen.call);
    return (call && found.spotOf(`call:${call.id}`)) ?? found.spotOf(view.chosen.object);
  };

  function enter(spot: Spot): void {
    const [first] = spot.folded;
    if (!first || !view) return acts.set({ chosen: choiceOf(spot), form: null });
    if (focus) {
      const nearest = first.step > (chosen()?.object?.step ?? Infinity) ? first : (spot.folded.at(-1) ?? first);
      return acts.set({ chosen: { call: nearest.call, object: nearest.id }, form: null });
    }
    acts.set({ unfolded: new Set([...view.ui.unfolded, ...spot.folded.map(object => object.id)]) });
    reach(found.spotOf(first.id));
  }

  function reach(spot: Spot | undefined): void {
    if (!spot) return;
    current = spot.key;
    hand.reveal(spot);
    draw();
    const child = [...layers.nodes.children].find(one => one.getAttribute('data-k') === spot.key);
    (child as SVGElement | undefined)?.focus({ preventScroll: true });
  }

  function escape(): void {
    if (!key.hidden) explain();
    else if (focus) narrow(false);
    else acts.set({ chosen: null, form: null });
  }

  function type(event: KeyboardEvent): void {
    const spot = spotAt(event);
    if (event.key === 'Escape') escape();
    else if (event.key === '+' || event.key === '-') hand.zoom(event.key === '+' ? 1.25 : 1 / 1.25);
    else if (event.key === '0') hand.fit(found.box);
    else if (!spot || !view) return;
    else if (event.key === 'Enter' || event.key === ' ') enter(spot);
    else if (isArrow(event.key)) reach(walk(view, found, spot, event.key));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // -- drawing -------------------------------------------------------------------------------

  function mind(): void {
    const here = chosen()?.key;
    const keys = new Set(drawn.nodes.map(node => node.key));
    const tab = [current, here ?? '', rest.newest?.key ?? ''].find(one => keys.has(one)) ?? drawn.nodes[0]?.key;
    const wanted = new Set(results.flatMap(hit => [hit.object, `call:${hit.call}`]));
    for (const child of layers.nodes.children) {
      const key = child.getAttribute('data-k') ?? '';
      put(child, 'aria-pressed', String(key === here));
      put(child, 'tabindex', key === tab ? '0' : '-1');
      if (child.classList.contains('hit') !== wanted.has(key)) child.classList.toggle('hit');
    }
  }

  const seenSteps = (): number[] =>
    found.spots
      .filter(spot => !spot.parked && hand.sees(spot, 0))
      .map(spot => spot.object?.step ?? spot.nothing?.step ?? 0)
      .filter(step => step > 0);

  /** Puts what can be seen into the drawing; far away nodes of a great graph are left out. */
  function draw(): void {
    if (!view) return;
    if (found.spots.length > GREAT) {
      const seen = found.spots.filter(spot => hand.sees(spot) || spot.key === current);
      drawn = scene(view, seen, found, size());
    }
    const afar = hand.afar();
    strokeLayer(rest.strokes.map(item => ({ key: item.look, stamp: [item.path], item })));
    edgeLayer(drawn.edges.map(item => ({ key: item.key, stamp: [...edgeStamp(item), afar], item })));
    nodeLayer(drawn.nodes.map(item => ({ key: item.key, stamp: [...nodeStamp(item), afar], item })));
    noteLayer(rest.notes.map(item => ({ key: item.key, stamp: [item.text, item.x, item.y, item.look], item })));
    mind();
    if (!line.element.hidden) line.frame(seenSteps());
  }

  function paint(next: Look): void {
    const before = laying ? new Map(found.spots.map(spot => [spot.key, [spot.x, spot.y] as const])) : null;
    view = next;
    found = placed(next, size(), focus);
    rest = around(next, found);
    const small = found.spots.length <= GREAT;
    if (small) drawn = scene(next, found.spots, found, size());
    const right = Math.max(found.box.right, rest.right, small ? reaches(drawn.edges) : 0);
    const box = { ...found.box, right };
    const wide = next.objects.length > WIDE;
    if (query !== NOTHING) results = hits(next, query.text, query.kind);
    tidy.hidden = !next.live || next.past || next.objects.length > TIDY;
    refold.hidden = next.ui.unfolded.size === 0 || focus;
    hint.hidden = found.spots.length > 0;
    tools.hidden = !hint.hidden;
    find.element.hidden = !(wide || searching || focus);
    find.element.classList.toggle('fixed', wide);
    look.hidden = !find.element.hidden;
    line.element.hidden = !wide;
    const wrong = find.element.hidden ? new Map<Kind, number>() : counts(next.calls);
    if (!find.element.hidden) find.paint(next, query, results, wrong, focus);
    if (wide) line.paint(next, results, wrong, size().width);
    hand.space(size().width, Math.min(TALL, found.spots.length ? Math.max(120, box.bottom - box.top) : 64));
    const spot = chosen();
    if (next.follow) hand.follow(box, rest.newest);
    else if (spot && shown !== spot.key) hand.reveal(spot);
    shown = spot?.key ?? '';
    draw();
    spoken.paint(next, found);
    if (!key.hidden) key.replaceChildren(legend(drawn));
    if (before && next.model.number === null) {
      laying = false;
      moved(layers.nodes, layers.edges, before, new Map(found.spots.map(one => [one.key, [one.x, one.y] as const])));
    }
  }

  function resize(): void {
    const now = canvas.clientWidth;
    if (now === width || now === 0) return;
    width = now;
    again();
  }

  svg.addEventListener('click', event => {
    const spot = hand.dragged() ? undefined : spotAt(event);
    if (!spot) return;
    current = spot.key;
    enter(spot);
  });
  svg.addEventListener('keydown', type);
  svg.addEventListener('focusin', event => {
    const spot = spotAt(event);
    if (spot) current = spot.key;
    mind();
  });
  return {
    element,
    paint,
    resize,
    press(event) {
      if (isField(event.target) || event.ctrlKey || event.metaKey || event.altKey) return false;
      if (event.key === '/') open(true);
      else if (event.key === 'f') narrow(!focus);
      else return false;
      event.preventDefault();
      return true;
    }
  };
}
