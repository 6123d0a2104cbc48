/** The canvas of the graph, and the hand of the person on it. */
import type { MenuEntry } from '../controls';
import { h, s } from '../dom';
import { icon } from '../icons';
import { arrowTarget, isArrow } from '../lineage';
import type { Choice, PanelActions, ViewState } from '../view_state';
import { camera } from './camera';
import { labelExtent } from './edges';
import { animateMoves, graphLayers } from './elements';
import { copyToClipboard, dotText, svgText as taken } from './graph_export';
import { type Box, graphLayout, type Layout, type Size, type Spot, spotOfCall } from './layout';
import { objectList } from './node_labels';
import { overview } from './overview';
import { scene, type Scene, surroundings, type Surroundings } from './scene';
import { search } from './search_bar';
import { legend, toolbar, ZOOM_STEP } from './toolbar';

const NARROW = 640;
const TALL = 600;
const EMPTY = 64;
/** Of more nodes only those in sight are drawn. */
const GREAT = 150;
/** Graphviz takes too long for more. */
const TIDY = 300;
/** From so many objects on there is an overview, and the search is at hand. */
const WIDE = 100;

const choiceOf = ({ object, failedCall: nothing }: Spot): Choice => ({
  call: nothing?.id ?? object?.call ?? '',
  object: object?.id ?? ''
});

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input, textarea, select') !== null;

const NOWHERE: Box = { left: 0, top: 0, right: 0, bottom: 0 };

export interface Graph {
  readonly element: HTMLElement;
  paint(view: ViewState): void;
  resize(): void;
  /** Does what a key is for, wherever in the panel it was pressed; says whether it did. */
  press(event: KeyboardEvent): boolean;
}

/** The canvas with the graph and its tools. */
export function graph(acts: PanelActions): Graph {
  const drawing = graphLayers();
  const svg = s('svg', { class: 'g', role: 'graphics-document img', 'aria-label': 'Object lineage' }, drawing.world);
  const hand = camera(svg, drawing.world, () => draw());
  const find = search(acts, { again, focus: narrow, close: () => open(false) });
  const line = overview(go);
  const spoken = objectList();
  const key = h('div', { class: 'tc-key', hidden: true });
  const tools = toolbar({
    fold: () => acts.setState({ unfolded: new Set() }),
    tidy: lay,
    search: () => open(true),
    zoom: by => hand.zoom(by),
    fit: () => hand.fit(extent),
    entries
  });
  const hint = h(
    'p',
    { class: 'tc-empty' },
    icon('info'),
    'No objects yet. The graph shows the inputs, and the objects that calls make.'
  );
  const canvas = h('div', { class: 'tc-canvas' }, svg, tools.element, hint);
  const element = h('div', { class: 'tc-graph' }, find.element, line.element, canvas, key, spoken.element);

  const placed = graphLayout();
  let found: Layout = { spots: [], spotOf: () => undefined, divider: null, box: NOWHERE };
  /** All that is drawn, labels too. */
  let extent: Box = NOWHERE;
  let rest: Surroundings = { notes: [], strokes: [], newest: undefined, right: 0 };
  let drawn: Scene = { nodes: [], edges: [] };
  let view: ViewState | null = null;
  let current = '';
  let shown = '';
  let width = 0;
  let focus = false;
  let laying = false;
  /** The step that the overview led to, for as long as it is in sight. */
  let led = 0;

  /** The width is read once and when it changes: to read it makes the browser lay out. */
  const size = (): Size => {
    width ||= canvas.clientWidth;
    const known = width || 900;
    return { width: known, narrow: known < NARROW };
  };

  function again(): void {
    if (view) paint(view);
  }

  function entries(): MenuEntry[] {
    const here = view;
    if (!here) return [];
    return [
      { text: focus ? 'Leave focus' : 'Focus ±2', key: 'f', act: () => narrow(!focus) },
      { text: key.hidden ? 'Legend' : 'Hide legend', act: explain },
      { text: 'Copy as SVG', act: () => void copy('SVG', taken(scene(here, found.spots, found, size()), rest, extent, canvas)) },
      { text: 'Copy as DOT', act: () => void copy('DOT', dotText(here)) }
    ];
  }

  async function copy(what: string, text: string): Promise<void> {
    tools.say((await copyToClipboard(text)) ? `${what} copied` : `The browser does not allow copying. Use Export to save a file.`);
  }

  function explain(): void {
    key.hidden = !key.hidden;
    again();
  }

  function lay(): void {
    laying = true;
    acts.send({ type: 'tidy' });
  }

  function open(on: boolean): void {
    find.set(on);
    if (!on) reach(found.spots.find(spot => spot.key === current) ?? rest.newest);
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
    led = near ? to : 0;
    draw();
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
    if (!first || !view) return acts.setState({ chosen: choiceOf(spot), form: null });
    if (focus) {
      const nearest = first.step > (chosen()?.object?.step ?? Infinity) ? first : (spot.folded.at(-1) ?? first);
      return acts.setState({ chosen: { call: nearest.call, object: nearest.id }, form: null });
    }
    acts.setState({ unfolded: new Set([...view.ui.unfolded, ...spot.folded.map(object => object.id)]) });
    reach(found.spotOf(first.id));
  }

  function reach(spot: Spot | undefined): void {
    if (!spot) return;
    current = spot.key;
    hand.reveal(spot);
    draw();
    drawing.nodeOf(spot.key)?.focus({ preventScroll: true });
  }

  function escape(): void {
    if (!key.hidden) explain();
    else if (focus) narrow(false);
    else acts.setState({ chosen: null, form: null });
  }

  function type(event: KeyboardEvent): void {
    const spot = spotAt(event);
    if (event.key === 'Escape') escape();
    else if (event.key === '+' || event.key === '-') hand.zoom(event.key === '+' ? ZOOM_STEP : 1 / ZOOM_STEP);
    else if (event.key === '0') hand.fit(extent);
    else if (!spot || !view) return;
    else if (event.key === 'Enter' || event.key === ' ') enter(spot);
    else if (isArrow(event.key)) reach(arrowTarget(view, found, spot, event.key));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // -- drawing -------------------------------------------------------------------------------

  function mind(): void {
    const here = chosen()?.key;
    const keys = new Set(drawn.nodes.map(node => node.key));
    const tab = [current, here ?? '', rest.newest?.key ?? ''].find(one => keys.has(one)) ?? drawn.nodes[0]?.key;
    drawing.mark({ chosen: here, tab, found: find.keys });
  }

  const stepOf = (spot: Spot | undefined): number => spot?.object?.step ?? spot?.failedCall?.step ?? 0;

  const seenSteps = (): number[] =>
    found.spots
      .filter(spot => !spot.parked && hand.sees(spot, 0))
      .map(stepOf)
      .filter(step => step > 0);

  const inSight = (spot: Spot | undefined): boolean => spot !== undefined && hand.sees(spot, 0);

  /** The step that is looked at: where the overview led to, what is chosen, what is newest, or else what is seen. */
  function here(steps: readonly number[]): number {
    const call = view?.calls[led - 1];
    if (!(call && inSight(spotOfCall(found, call)))) led = 0;
    const spot = [chosen(), rest.newest].find(one => inSight(one) && stepOf(one) > 0);
    return led || stepOf(spot) || (steps[steps.length >> 1] ?? 1);
  }

  /** Puts what can be seen into the drawing; far away nodes of a great graph are left out. */
  function draw(): void {
    if (!view) return;
    if (found.spots.length > GREAT) {
      const seen = found.spots.filter(spot => hand.sees(spot) || spot.key === current);
      drawn = scene(view, seen, found, size());
    }
    drawing.draw(drawn, rest, hand.afar());
    mind();
    if (!line.element.hidden) {
      const steps = seenSteps();
      line.frame(steps, here(steps));
    }
  }

  function paint(next: ViewState): void {
    const before = laying ? new Map(found.spots.map(spot => [spot.key, [spot.x, spot.y] as const])) : null;
    view = next;
    found = placed(next, size(), focus);
    rest = surroundings(next, found);
    const small = found.spots.length <= GREAT;
    if (small) drawn = scene(next, found.spots, found, size());
    const far = labelExtent(small ? drawn.edges : []);
    extent = { ...found.box, top: Math.min(found.box.top, far.top), right: Math.max(found.box.right, rest.right, far.right) };
    const wide = next.objects.length > WIDE;
    find.paint(next, wide, focus);
    tools.paint({
      any: found.spots.length > 0,
      fold: next.ui.unfolded.size > 0 && !focus,
      tidy: next.live && !next.isPast && next.objects.length <= TIDY,
      search: find.element.hidden
    });
    hint.hidden = found.spots.length > 0;
    line.element.hidden = !wide;
    if (wide) line.paint(next, find, size().width - (size().narrow ? 16 : 32));
    hand.space(size().width, extent, found.spots.length > 0 ? TALL : EMPTY);
    const spot = chosen();
    if (next.followsNewest) hand.follow(extent, next.ui.editedCall ? (spot ?? rest.newest) : rest.newest);
    else hand.keep(extent);
    if (!next.followsNewest && spot && shown !== spot.key) hand.reveal(spot);
    if (shown !== (spot?.key ?? '')) led = 0;
    shown = spot?.key ?? '';
    draw();
    spoken.paint(next, found);
    if (!key.hidden) key.replaceChildren(legend(drawn));
    if (before && next.model.lastUpdate === null) {
      laying = false;
      animateMoves(drawing.nodes, drawing.edges, before, new Map(found.spots.map(one => [one.key, [one.x, one.y] as const])));
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
  // Not on the drawing: Chromium lets Tab stop at an SVG that listens to the focus.
  canvas.addEventListener('focusin', event => {
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
