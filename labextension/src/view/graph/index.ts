/** The canvas of the graph, and the hand of the person on it. */
import type { MenuEntry } from '../controls';
import { h, s } from '../dom';
import { icon } from '../icons';
import { arrowTarget, isArrow } from '../lineage';
import type { Choice, PanelActions, ViewState } from '../view_state';
import { Camera } from './camera';
import { labelExtent } from './edges';
import { animateMoves, GraphLayers } from './elements';
import { copyToClipboard, dotText, svgText as taken } from './graph_export';
import { type Box, graphLayout, type Layout, type Size, type Spot, spotOfCall } from './layout';
import { ObjectList } from './node_labels';
import { Overview } from './overview';
import { scene, type Scene, surroundings, type Surroundings } from './scene';
import { Search } from './search_bar';
import { legend, Toolbar, ZOOM_STEP } from './toolbar';

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

/** The canvas with the graph and its tools. */
export class Graph {
  private readonly drawing = new GraphLayers();
  private readonly svg = s('svg', { class: 'g', role: 'graphics-document img', 'aria-label': 'Object lineage' }, this.drawing.world);
  private readonly hand = new Camera(this.svg, this.drawing.world, () => this.draw());
  private readonly find = new Search(this.acts, { again: () => this.again(), focus: on => this.narrow(on), close: () => this.open(false) });
  private readonly line = new Overview(to => this.go(to));
  private readonly spoken = new ObjectList();
  private readonly key = h('div', { class: 'tc-key', hidden: true });
  private readonly tools = new Toolbar({
    fold: () => this.acts.setState({ unfolded: new Set() }),
    tidy: () => this.lay(),
    search: () => this.open(true),
    zoom: by => this.hand.zoom(by),
    fit: () => this.hand.fit(this.extent),
    entries: () => this.entries()
  });
  private readonly hint = h(
    'p',
    { class: 'tc-empty' },
    icon('info'),
    'No objects yet. The graph shows the inputs, and the objects that calls make.'
  );
  private readonly canvas = h('div', { class: 'tc-canvas' }, this.svg, this.tools.element, this.hint);
  readonly element = h('div', { class: 'tc-graph' }, this.find.element, this.line.element, this.canvas, this.key, this.spoken.element);
  private readonly placed = graphLayout();
  private found: Layout = { spots: [], spotOf: () => undefined, divider: null, box: NOWHERE };
  /** All that is drawn, labels too. */
  private extent: Box = NOWHERE;
  private rest: Surroundings = { notes: [], strokes: [], newest: undefined, right: 0 };
  private drawn: Scene = { nodes: [], edges: [] };
  private view: ViewState | null = null;
  private current = '';
  private shown = '';
  private width = 0;
  private focus = false;
  private laying = false;
  /** The step that the overview led to, for as long as it is in sight. */
  private led = 0;

  constructor(private readonly acts: PanelActions) {
    this.svg.addEventListener('click', event => {
      const spot = this.hand.dragged() ? undefined : this.spotAt(event);
      if (!spot) return;
      this.current = spot.key;
      this.enter(spot);
    });
    this.svg.addEventListener('keydown', event => this.type(event));
    // Not on the drawing: Chromium lets Tab stop at an SVG that listens to the focus.
    this.canvas.addEventListener('focusin', event => {
      const spot = this.spotAt(event);
      if (spot) this.current = spot.key;
      this.mind();
    });
  }

  paint(next: ViewState): void {
    const before = this.laying ? new Map(this.found.spots.map(spot => [spot.key, [spot.x, spot.y] as const])) : null;
    this.view = next;
    this.found = this.placed(next, this.size(), this.focus);
    this.rest = surroundings(next, this.found);
    const small = this.found.spots.length <= GREAT;
    if (small) this.drawn = scene(next, this.found.spots, this.found, this.size());
    const far = labelExtent(small ? this.drawn.edges : []);
    this.extent = { ...this.found.box, top: Math.min(this.found.box.top, far.top), right: Math.max(this.found.box.right, this.rest.right, far.right) };
    const wide = next.objects.length > WIDE;
    this.find.paint(next, wide, this.focus);
    this.tools.paint({
      any: this.found.spots.length > 0,
      fold: next.ui.unfolded.size > 0 && !this.focus,
      tidy: next.live && !next.isPast && next.objects.length <= TIDY,
      search: this.find.element.hidden
    });
    this.hint.hidden = this.found.spots.length > 0;
    this.line.element.hidden = !wide;
    if (wide) this.line.paint(next, this.find, this.size().width - (this.size().narrow ? 16 : 32));
    this.hand.space(this.size().width, this.extent, this.found.spots.length > 0 ? TALL : EMPTY);
    const spot = this.chosen();
    if (next.followsNewest) this.hand.follow(this.extent, next.ui.editedCall ? (spot ?? this.rest.newest) : this.rest.newest);
    else this.hand.keep(this.extent);
    if (!next.followsNewest && spot && this.shown !== spot.key) this.hand.reveal(spot);
    if (this.shown !== (spot?.key ?? '')) this.led = 0;
    this.shown = spot?.key ?? '';
    this.draw();
    this.spoken.paint(next, this.found);
    if (!this.key.hidden) this.key.replaceChildren(legend(this.drawn));
    if (before && next.model.lastUpdate === null) {
      this.laying = false;
      animateMoves(this.drawing.nodes, this.drawing.edges, before, new Map(this.found.spots.map(one => [one.key, [one.x, one.y] as const])));
    }
  }

  resize(): void {
    const now = this.canvas.clientWidth;
    if (now === this.width || now === 0) return;
    this.width = now;
    this.again();
  }

  /** Does what a key is for, wherever in the panel it was pressed; says whether it did. */
  press(event: KeyboardEvent): boolean {
    if (isField(event.target) || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === '/') this.open(true);
    else if (event.key === 'f') this.narrow(!this.focus);
    else return false;
    event.preventDefault();
    return true;
  }

  /** The width is read once and when it changes: to read it makes the browser lay out. */
  private size(): Size {
    this.width ||= this.canvas.clientWidth;
    const known = this.width || 900;
    return { width: known, narrow: known < NARROW };
  }

  private again(): void {
    if (this.view) this.paint(this.view);
  }

  private entries(): MenuEntry[] {
    const here = this.view;
    if (!here) return [];
    return [
      { text: this.focus ? 'Leave focus' : 'Focus ±2', key: 'f', act: () => this.narrow(!this.focus) },
      { text: this.key.hidden ? 'Legend' : 'Hide legend', act: () => this.explain() },
      { text: 'Copy as SVG', act: () => void this.copy('SVG', taken(scene(here, this.found.spots, this.found, this.size()), this.rest, this.extent, this.canvas)) },
      { text: 'Copy as DOT', act: () => void this.copy('DOT', dotText(here)) }
    ];
  }

  private async copy(what: string, text: string): Promise<void> {
    this.tools.say((await copyToClipboard(text)) ? `${what} copied` : `The browser does not allow copying. Use Export to save a file.`);
  }

  private explain(): void {
    this.key.hidden = !this.key.hidden;
    this.again();
  }

  private lay(): void {
    this.laying = true;
    this.acts.send({ type: 'tidy' });
  }

  private open(on: boolean): void {
    this.find.set(on);
    if (!on) this.reach(this.found.spots.find(spot => spot.key === this.current) ?? this.rest.newest);
  }

  private narrow(on: boolean): void {
    this.focus = on;
    this.again();
    const spot = this.chosen() ?? this.rest.newest;
    if (spot) this.hand.reveal(spot);
  }

  /** Leads to what the calls had come to by a step. */
  private go(to: number): void {
    const call = this.view?.calls[to - 1];
    const spot = call && spotOfCall(this.found, call);
    const near = spot ?? this.found.spots.findLast(({ object }) => object !== null && object.step > 0 && object.step <= to);
    if (near) this.hand.reveal(near);
    this.led = near ? to : 0;
    this.draw();
  }

  // -- on the canvas -------------------------------------------------------------------------
  private spotAt(event: Event): Spot | undefined {
    const target = event.target instanceof Element ? event.target.closest('.node') : null;
    const key = target?.getAttribute('data-k');
    return this.found.spots.find(spot => spot.key === key);
  }

  private chosen(): Spot | undefined {
    if (!this.view) return undefined;
    const call = this.view.model.calls.get(this.view.chosen.call);
    return (call && this.found.spotOf(`call:${call.id}`)) ?? this.found.spotOf(this.view.chosen.object);
  }

  private enter(spot: Spot): void {
    const [first] = spot.folded;
    if (!first || !this.view) return this.acts.setState({ chosen: choiceOf(spot), form: null });
    if (this.focus) {
      const nearest = first.step > (this.chosen()?.object?.step ?? Infinity) ? first : (spot.folded.at(-1) ?? first);
      return this.acts.setState({ chosen: { call: nearest.call, object: nearest.id }, form: null });
    }
    this.acts.setState({ unfolded: new Set([...this.view.ui.unfolded, ...spot.folded.map(object => object.id)]) });
    this.reach(this.found.spotOf(first.id));
  }

  private reach(spot: Spot | undefined): void {
    if (!spot) return;
    this.current = spot.key;
    this.hand.reveal(spot);
    this.draw();
    this.drawing.nodeOf(spot.key)?.focus({ preventScroll: true });
  }

  private escape(): void {
    if (!this.key.hidden) this.explain();
    else if (this.focus) this.narrow(false);
    else this.acts.setState({ chosen: null, form: null });
  }

  private type(event: KeyboardEvent): void {
    const spot = this.spotAt(event);
    if (event.key === 'Escape') this.escape();
    else if (event.key === '+' || event.key === '-') this.hand.zoom(event.key === '+' ? ZOOM_STEP : 1 / ZOOM_STEP);
    else if (event.key === '0') this.hand.fit(this.extent);
    else if (!spot || !this.view) return;
    else if (event.key === 'Enter' || event.key === ' ') this.enter(spot);
    else if (isArrow(event.key)) this.reach(arrowTarget(this.view, this.found, spot, event.key));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // -- drawing -------------------------------------------------------------------------------
  private mind(): void {
    const here = this.chosen()?.key;
    const keys = new Set(this.drawn.nodes.map(node => node.key));
    const tab = [this.current, here ?? '', this.rest.newest?.key ?? ''].find(one => keys.has(one)) ?? this.drawn.nodes[0]?.key;
    this.drawing.mark({ chosen: here, tab, found: this.find.keys });
  }

  private stepOf(spot: Spot | undefined): number {
    return spot?.object?.step ?? spot?.failedCall?.step ?? 0;
  }

  private seenSteps(): number[] {
    return this.found.spots
      .filter(spot => !spot.parked && this.hand.sees(spot, 0))
      .map(spot => this.stepOf(spot))
      .filter(step => step > 0);
  }

  private inSight(spot: Spot | undefined): boolean {
    return spot !== undefined && this.hand.sees(spot, 0);
  }

  /** The step that is looked at: where the overview led to, what is chosen, what is newest, or else what is seen. */
  private here(steps: readonly number[]): number {
    const call = this.view?.calls[this.led - 1];
    if (!(call && this.inSight(spotOfCall(this.found, call)))) this.led = 0;
    const spot = [this.chosen(), this.rest.newest].find(one => this.inSight(one) && this.stepOf(one) > 0);
    return this.led || this.stepOf(spot) || (steps[steps.length >> 1] ?? 1);
  }

  /** Puts what can be seen into the drawing; far away nodes of a great graph are left out. */
  private draw(): void {
    if (!this.view) return;
    if (this.found.spots.length > GREAT) {
      const seen = this.found.spots.filter(spot => this.hand.sees(spot) || spot.key === this.current);
      this.drawn = scene(this.view, seen, this.found, this.size());
    }
    this.drawing.draw(this.drawn, this.rest, this.hand.afar());
    this.mind();
    if (!this.line.element.hidden) {
      const steps = this.seenSteps();
      this.line.frame(steps, this.here(steps));
    }
  }
}
