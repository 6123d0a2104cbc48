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
  private readonly layers = new GraphLayers();
  private readonly svg = s('svg', { class: 'g', role: 'graphics-document img', 'aria-label': 'Object lineage' }, this.layers.world);
  private readonly camera = new Camera(this.svg, this.layers.world, () => this.draw());
  private readonly search = new Search(this.acts, { repaint: () => this.repaint(), setFocus: on => this.setFocus(on), close: () => this.openSearch(false) });
  private readonly overview = new Overview(to => this.showStep(to));
  private readonly objectList = new ObjectList();
  private readonly legendBox = h('div', { class: 'tc-key', hidden: true });
  private readonly toolbar = new Toolbar({
    fold: () => this.acts.setState({ unfolded: new Set() }),
    tidy: () => this.tidy(),
    search: () => this.openSearch(true),
    zoom: by => this.camera.zoom(by),
    fit: () => this.camera.fit(this.extent),
    menuEntries: () => this.menuEntries()
  });
  private readonly emptyHint = h(
    'p',
    { class: 'tc-empty' },
    icon('info'),
    'No objects yet. The graph shows the inputs, and the objects that calls make.'
  );
  private readonly canvas = h('div', { class: 'tc-canvas' }, this.svg, this.toolbar.element, this.emptyHint);
  readonly element = h('div', { class: 'tc-graph' }, this.search.element, this.overview.element, this.canvas, this.legendBox, this.objectList.element);
  private readonly computeLayout = graphLayout();
  private layout: Layout = { spots: [], spotOf: () => undefined, divider: null, box: NOWHERE };
  /** All that is drawn, labels too. */
  private extent: Box = NOWHERE;
  private surroundings: Surroundings = { notes: [], strokes: [], newest: undefined, right: 0 };
  private scene: Scene = { nodes: [], edges: [] };
  private view: ViewState | null = null;
  private focusedKey = '';
  private chosenKey = '';
  private width = 0;
  private isFocused = false;
  private isTidying = false;
  /** The step that the overview led to, for as long as it is in sight. */
  private overviewStep = 0;

  constructor(private readonly acts: PanelActions) {
    this.svg.addEventListener('click', event => {
      const spot = this.camera.wasDragged() ? undefined : this.spotAt(event);
      if (!spot) return;
      this.focusedKey = spot.key;
      this.chooseSpot(spot);
    });
    this.svg.addEventListener('keydown', event => this.handleCanvasKey(event));
    // Not on the drawing: Chromium lets Tab stop at an SVG that listens to the focus.
    this.canvas.addEventListener('focusin', event => {
      const spot = this.spotAt(event);
      if (spot) this.focusedKey = spot.key;
      this.markNodes();
    });
  }

  paint(next: ViewState): void {
    const before = this.isTidying ? new Map(this.layout.spots.map(spot => [spot.key, [spot.x, spot.y] as const])) : null;
    this.view = next;
    this.layout = this.computeLayout(next, this.size(), this.isFocused);
    this.surroundings = surroundings(next, this.layout);
    const small = this.layout.spots.length <= GREAT;
    if (small) this.scene = scene(next, this.layout.spots, this.layout, this.size());
    const far = labelExtent(small ? this.scene.edges : []);
    this.extent = { ...this.layout.box, top: Math.min(this.layout.box.top, far.top), right: Math.max(this.layout.box.right, this.surroundings.right, far.right) };
    const wide = next.objects.length > WIDE;
    this.search.paint(next, wide, this.isFocused);
    this.toolbar.paint({
      any: this.layout.spots.length > 0,
      fold: next.ui.unfolded.size > 0 && !this.isFocused,
      tidy: next.live && !next.isPast && next.objects.length <= TIDY,
      search: this.search.element.hidden
    });
    this.emptyHint.hidden = this.layout.spots.length > 0;
    this.overview.element.hidden = !wide;
    if (wide) this.overview.paint(next, this.search, this.size().width - (this.size().narrow ? 16 : 32));
    this.camera.setSize(this.size().width, this.extent, this.layout.spots.length > 0 ? TALL : EMPTY);
    const spot = this.chosenSpot();
    if (next.followsNewest) this.camera.followNewest(this.extent, next.ui.editedCall ? (spot ?? this.surroundings.newest) : this.surroundings.newest);
    else this.camera.showIfItFits(this.extent);
    if (!next.followsNewest && spot && this.chosenKey !== spot.key) this.camera.reveal(spot);
    if (this.chosenKey !== (spot?.key ?? '')) this.overviewStep = 0;
    this.chosenKey = spot?.key ?? '';
    this.draw();
    this.objectList.paint(next, this.layout);
    if (!this.legendBox.hidden) this.legendBox.replaceChildren(legend(this.scene));
    if (before && next.model.lastUpdate === null) {
      this.isTidying = false;
      animateMoves(this.layers.nodes, this.layers.edges, before, new Map(this.layout.spots.map(one => [one.key, [one.x, one.y] as const])));
    }
  }

  resize(): void {
    const now = this.canvas.clientWidth;
    if (now === this.width || now === 0) return;
    this.width = now;
    this.repaint();
  }

  /** Does what a key is for, wherever in the panel it was pressed; says whether it did. */
  handleKey(event: KeyboardEvent): boolean {
    if (isField(event.target) || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === '/') this.openSearch(true);
    else if (event.key === 'f') this.setFocus(!this.isFocused);
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

  private repaint(): void {
    if (this.view) this.paint(this.view);
  }

  private menuEntries(): MenuEntry[] {
    const currentStep = this.view;
    if (!currentStep) return [];
    return [
      { text: this.isFocused ? 'Leave focus' : 'Focus ±2', key: 'f', act: () => this.setFocus(!this.isFocused) },
      { text: this.legendBox.hidden ? 'Legend' : 'Hide legend', act: () => this.toggleLegend() },
      { text: 'Copy as SVG', act: () => void this.copy('SVG', taken(scene(currentStep, this.layout.spots, this.layout, this.size()), this.surroundings, this.extent, this.canvas)) },
      { text: 'Copy as DOT', act: () => void this.copy('DOT', dotText(currentStep)) }
    ];
  }

  private async copy(what: string, text: string): Promise<void> {
    this.toolbar.showMessage((await copyToClipboard(text)) ? `${what} copied` : `The browser does not allow copying. Use Export to save a file.`);
  }

  private toggleLegend(): void {
    this.legendBox.hidden = !this.legendBox.hidden;
    this.repaint();
  }

  private tidy(): void {
    this.isTidying = true;
    this.acts.send({ type: 'tidy' });
  }

  private openSearch(on: boolean): void {
    this.search.setOpen(on);
    if (!on) this.focusSpot(this.layout.spots.find(spot => spot.key === this.focusedKey) ?? this.surroundings.newest);
  }

  private setFocus(on: boolean): void {
    this.isFocused = on;
    this.repaint();
    const spot = this.chosenSpot() ?? this.surroundings.newest;
    if (spot) this.camera.reveal(spot);
  }

  /** Leads to what the calls had come to by a step. */
  private showStep(to: number): void {
    const call = this.view?.calls[to - 1];
    const spot = call && spotOfCall(this.layout, call);
    const near = spot ?? this.layout.spots.findLast(({ object }) => object !== null && object.step > 0 && object.step <= to);
    if (near) this.camera.reveal(near);
    this.overviewStep = near ? to : 0;
    this.draw();
  }

  // -- on the canvas -------------------------------------------------------------------------
  private spotAt(event: Event): Spot | undefined {
    const target = event.target instanceof Element ? event.target.closest('.node') : null;
    const key = target?.getAttribute('data-k');
    return this.layout.spots.find(spot => spot.key === key);
  }

  private chosenSpot(): Spot | undefined {
    if (!this.view) return undefined;
    const call = this.view.model.calls.get(this.view.chosen.call);
    return (call && this.layout.spotOf(`call:${call.id}`)) ?? this.layout.spotOf(this.view.chosen.object);
  }

  private chooseSpot(spot: Spot): void {
    const [first] = spot.folded;
    if (!first || !this.view) return this.acts.setState({ chosen: choiceOf(spot), form: null });
    if (this.isFocused) {
      const nearest = first.step > (this.chosenSpot()?.object?.step ?? Infinity) ? first : (spot.folded.at(-1) ?? first);
      return this.acts.setState({ chosen: { call: nearest.call, object: nearest.id }, form: null });
    }
    this.acts.setState({ unfolded: new Set([...this.view.ui.unfolded, ...spot.folded.map(object => object.id)]) });
    this.focusSpot(this.layout.spotOf(first.id));
  }

  private focusSpot(spot: Spot | undefined): void {
    if (!spot) return;
    this.focusedKey = spot.key;
    this.camera.reveal(spot);
    this.draw();
    this.layers.buttonOfNode(spot.key)?.focus({ preventScroll: true });
  }

  private escape(): void {
    if (!this.legendBox.hidden) this.toggleLegend();
    else if (this.isFocused) this.setFocus(false);
    else this.acts.setState({ chosen: null, form: null });
  }

  private handleCanvasKey(event: KeyboardEvent): void {
    const spot = this.spotAt(event);
    if (event.key === 'Escape') this.escape();
    else if (event.key === '+' || event.key === '-') this.camera.zoom(event.key === '+' ? ZOOM_STEP : 1 / ZOOM_STEP);
    else if (event.key === '0') this.camera.fit(this.extent);
    else if (!spot || !this.view) return;
    else if (event.key === 'Enter' || event.key === ' ') this.chooseSpot(spot);
    else if (isArrow(event.key)) this.focusSpot(arrowTarget(this.view, this.layout, spot, event.key));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // -- drawing -------------------------------------------------------------------------------
  private markNodes(): void {
    const here = this.chosenSpot()?.key;
    const keys = new Set(this.scene.nodes.map(node => node.key));
    const tab = [this.focusedKey, here ?? '', this.surroundings.newest?.key ?? ''].find(one => keys.has(one)) ?? this.scene.nodes[0]?.key;
    this.layers.markNodes({ chosen: here, tab, found: this.search.keys });
  }

  private stepOf(spot: Spot | undefined): number {
    return spot?.object?.step ?? spot?.failedCall?.step ?? 0;
  }

  private visibleSteps(): number[] {
    return this.layout.spots
      .filter(spot => !spot.parked && this.camera.isVisible(spot, 0))
      .map(spot => this.stepOf(spot))
      .filter(step => step > 0);
  }

  private isSpotVisible(spot: Spot | undefined): boolean {
    return spot !== undefined && this.camera.isVisible(spot, 0);
  }

  /** The step that is looked at: where the overview led to, what is chosen, what is newest, or else what is seen. */
  private here(steps: readonly number[]): number {
    const call = this.view?.calls[this.overviewStep - 1];
    if (!(call && this.isSpotVisible(spotOfCall(this.layout, call)))) this.overviewStep = 0;
    const spot = [this.chosenSpot(), this.surroundings.newest].find(one => this.isSpotVisible(one) && this.stepOf(one) > 0);
    return this.overviewStep || this.stepOf(spot) || (steps[steps.length >> 1] ?? 1);
  }

  /** Puts what can be seen into the drawing; far away nodes of a great graph are left out. */
  private draw(): void {
    if (!this.view) return;
    if (this.layout.spots.length > GREAT) {
      const seen = this.layout.spots.filter(spot => this.camera.isVisible(spot) || spot.key === this.focusedKey);
      this.scene = scene(this.view, seen, this.layout, this.size());
    }
    this.layers.draw(this.scene, this.surroundings, this.camera.isZoomedOut());
    this.markNodes();
    if (!this.overview.element.hidden) {
      const steps = this.visibleSteps();
      this.overview.frame(steps, this.here(steps));
    }
  }
}
