/** The graph: canvas, toolbar, search, overview and keyboard navigation. */
import type { MenuEntry } from '../menu';
import { consume, focusInPlace, h, isField, listen, s } from '../dom';
import { finished } from '../incremental';
import { drawsInSlices } from '../model';
import { icon } from '../icons';
import { arrowTarget, isArrow, lineageOf, mainUse } from '../lineage';
import { type Choice, GROUPINGS, type PanelActions, type ViewState } from '../view_state';
import { Camera } from './camera';
import { BranchStrip, branchNotes, STRIP } from './branch_strip';
import { animateMoves, GraphLayers } from './elements';
import { copyPicture, copyText, dotText, svgText as taken } from './graph_export';
import { type Box, graphLayout, type Layout, type Size, type Spot, spotOfCall } from './layout';
import { ObjectList } from './node_labels';
import { Overview } from './overview';
import { scene, type Scene, surroundings, type Surroundings } from './scene';
import { Search } from './search_bar';
import { legend, Toolbar, ZOOM_STEP } from './toolbar';
import { t, tableText } from '../text';

const NARROW = 640;
const TALL = 600;
/** What belongs to a node around its middle: its tile, its texts and the name of an argument. */
const [BESIDE, ABOVE, BELOW] = [95, 52, 66];
/** What names of zoomed out nodes need beside the drawing. */
const OUTSIDE = 24;
const EMPTY = 64;
/** Above this many nodes only visible ones are drawn. */
const GREAT = 150;
/** So many nodes come into sight in a frame at most; the others follow in the next ones. */
const MOST_FRESH = 120;
/** Graphviz is too slow for more objects. */
const TIDY = 300;
/** Above this many objects or calls, the search bar is shown. */
const WIDE = 100;
/** Above this many nodes, a graph that does not fit has an overview, with the search bar beside it where there is room. */
const FEW = 20;

const choiceOf = ({ object, failedCall: nothing }: Spot): Choice => ({
  call: nothing?.id ?? object?.call ?? '',
  object: object?.id ?? ''
});

const GROUP_TEXTS = { branch: tableText('Group by branch'), tool: tableText('Group by tool'), type: tableText('Group by type') };

const NOWHERE: Box = { left: 0, top: 0, right: 0, bottom: 0 };

/** The canvas with the graph and its tools. */
export class Graph {
  private readonly _layers = new GraphLayers();
  private readonly _svg = s('svg', { class: 'g', role: 'graphics-document img', label: t('Object lineage') }, this._layers.world);
  private readonly _camera = new Camera(this._svg, this._layers.world, () => this._draw());
  private readonly _search = new Search(this._acts, { repaint: () => this._repaint(), close: () => this._openSearch(false) });
  private readonly _overview = new Overview((x, y) => {
    this._camera.showPoint(x, y);
    this._frameOverview();
  });
  private readonly _branchStrip = new BranchStrip(this._acts);
  private readonly _objectList = new ObjectList();
  private readonly _legendBox = h('div', { class: 'tc-key', hidden: true });
  private readonly _toolbar = new Toolbar({
    fold: () => this._acts.setState({ unfolded: new Set() }),
    tidy: () => this._tidy(),
    search: () => this._openSearch(true),
    lineage: () => this._showLineage(!this._hasLineage),
    zoom: by => this._camera.zoom(by),
    fit: () => this._camera.fit(this._extent),
    menuEntries: () => this._menuEntries()
  });
  private readonly _emptyHint = h(
    'p',
    'tc-empty',
    icon('info'),
    t('No objects yet. The graph shows the inputs, and the objects that calls make.')
  );
  private readonly _canvas = h('div', 'tc-canvas', this._svg, this._branchStrip.element, this._emptyHint);
  readonly element = h('div', 'tc-graph', h('div', 'tc-lookup', this._search.element, this._overview.element), this._canvas, this._legendBox, this._objectList.element);
  private readonly _computeLayout = graphLayout();
  private _layout: Layout = { spots: [], spotOf: () => undefined, divider: null, box: NOWHERE };
  /** The bounding box of all nodes and labels. */
  private _extent: Box = NOWHERE;
  private _surroundings: Surroundings = { notes: [], strokes: [], newest: undefined, right: 0 };
  private _scene: Scene = { nodes: [], edges: [] };
  private _view: ViewState | null = null;
  private _focusedKey = '';
  private _chosenKey = '';
  private _width = 0;
  /** The lineage of the chosen object is shown, and the rest pale. */
  private _hasLineage = false;
  private _lineage: ReadonlySet<string> | null = null;
  private _isTidying = false;
  /** What follows after the next drawing. */
  private _whenDrawn: (() => void) | null = null;

  constructor(private readonly _acts: PanelActions) {
    listen(this._svg, 'click', event => {
      const spot = this._camera.wasDragged() ? undefined : this._spotAt(event);
      if (!spot) return;
      this._focusedKey = spot.key;
      this._chooseSpot(spot);
    });
    listen(this._svg, 'keydown', event => this._handleCanvasKey(event));
    // Not on the SVG: Chromium makes an SVG with a focus listener focusable.
    listen(this._canvas, 'focusin', event => {
      const spot = this._spotAt(event);
      if (spot) this._focusedKey = spot.key;
      this._markNodes();
    });
  }

  /** Draws a state in slices; `most` is the height that the graph may have while a decision waits. */
  *painting(next: ViewState, most = TALL): Generator<void, void> {
    const layout = yield* this._computeLayout(next, this._size(next));
    yield;
    const before = this._isTidying ? new Map(this._layout.spots.map(spot => [spot.key, [spot.x, spot.y] as const])) : null;
    [this._view, this._layout] = [next, layout];
    this._surroundings = surroundings(next, this._layout);
    this._branchStrip.paint(next, this._layout);
    yield;
    this._lineage = this._hasLineage ? lineageOf(next, this._lineageCentre(next)) : null;
    const small = this._layout.spots.length <= GREAT;
    if (small) this._scene = this._sceneOf(next, this._layout.spots);
    this._extent = { ...this._layout.box, right: Math.max(this._layout.box.right + OUTSIDE, this._surroundings.right) };
    this._emptyHint.hidden = this._layout.spots.length > 0;
    this._camera.setSize(this._size().width, this._extent, this._layout.spots.length > 0 ? most : EMPTY);
    const isLong = Math.max(next.objects.length, next.calls.length) > WIDE;
    const isPart = (this._layout.spots.length > FEW || (isLong && !next.ui.grouping)) && !this._camera.fits(this._extent, TALL);
    this._overview.element.hidden = !isPart;
    // The search in a very large session comes after the graph.
    const search = this._paintingSearch(next, isLong || (isPart && !this._size().narrow));
    const isLate = drawsInSlices(next.model);
    if (!isLate) finished(search);
    this._toolbar.paint({
      any: this._layout.spots.length > 0,
      fold: next.ui.unfolded.size > 0,
      lineage: this._hasLineage,
      tidy: next.live && !next.isPast && next.objects.length <= TIDY,
      search: this._search.element.hidden
    });
    const spot = this._chosenSpot();
    const asked = most < TALL && next.waitingCall?.id === next.chosen.call ? this._waitingBox(next) : null;
    if (asked) this._camera.showPart(this._extent, asked);
    else if (next.followsNewest) this._camera.followNewest(this._extent, next.ui.editedCall ? (spot ?? this._surroundings.newest) : this._surroundings.newest);
    else this._camera.showIfItFits(this._extent);
    if (!next.followsNewest && spot && this._chosenKey !== spot.key) this._camera.reveal(spot);
    this._chosenKey = spot?.key ?? '';
    yield;
    this._draw();
    this._objectList.paint(next, this._layout);
    this._whenDrawn?.();
    this._whenDrawn = null;
    if (isLate) {
      yield* search;
      this._markNodes();
    }
    if (!this._legendBox.hidden) this._legendBox.replaceChildren(legend(this._scene));
    if (before && next.model.lastUpdate === null) {
      this._isTidying = false;
      animateMoves(this._layers.nodes, this._layers.edges, before, new Map(this._layout.spots.map(one => [one.key, [one.x, one.y] as const])));
    }
  }

  /** Draws the search bar and the overview, in slices. */
  private *_paintingSearch(next: ViewState, always: boolean): Generator<void, void> {
    yield* this._search.painting(next, always);
    yield;
    if (this._overview.element.hidden) return;
    this._overview.paint({ view: next, layout: this._layout, box: this._extent, searched: this._search, lineage: this._lineage }, this._mapWidth());
    this._frameOverview();
  }

  /** The width of the overview at most: beside the search bar, or below it. */
  private _mapWidth(): number {
    const width = this._width || this._size().width;
    return this._size().narrow ? width - 16 : Math.round(0.45 * width);
  }

  private _frameOverview(): void {
    this._overview.frame(this._camera.inSight(), this._layout.spots.filter(spot => !spot.parked && this._camera.isVisible(spot, 0)));
  }

  /** The buttons that zoom and fit the graph, for a place outside of it. */
  get tools(): HTMLElement {
    return this._toolbar.element;
  }

  /** Where the canvas begins, in pixels of the window. */
  canvasTop(): number {
    return this._canvas.getBoundingClientRect().top;
  }

  resize(): void {
    const now = this._canvas.clientWidth;
    if (now === this._width || now === 0) return;
    this._width = now;
    this._repaint();
  }

  /** Handles a key pressed anywhere in the panel; returns whether it did. */
  handleKey(event: KeyboardEvent): boolean {
    if (isField(event.target) || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === '/') this._openSearch(true);
    else if (event.key === 'l') {
      const spot = this._spotAt(event);
      if (spot?.object && !this._hasLineage) this._chooseSpot(spot);
      this._showLineage(!this._hasLineage);
    } else if (event.key === 'Escape' && this._hasLineage) this._showLineage(false);
    else return false;
    event.preventDefault();
    return true;
  }

  /** The width is cached: reading it forces a layout. */
  private _size(view = this._view): Size {
    this._width ||= this._canvas.clientWidth;
    const known = this._width || 900;
    return { width: (view?.model.branches.size ?? 0) > 1 ? known - STRIP : known, narrow: known < NARROW };
  }

  /** Draws the panel again, and then does something. */
  private _repaint(whenDrawn = this._whenDrawn): void {
    this._whenDrawn = whenDrawn;
    if (this._view) this._acts.setState({});
  }

  /** The box around the waiting call and its inputs; null if nothing waits. */
  private _waitingBox({ waitingCall: call }: ViewState): Box | null {
    if (!call) return null;
    const spots = [spotOfCall(this._layout, call), ...call.uses.map(use => this._layout.spotOf(use.object))].filter(spot => spot !== undefined);
    if (spots.length === 0) return null;
    const [xs, ys] = [spots.map(spot => spot.x), spots.map(spot => spot.y)];
    return { left: Math.min(...xs) - BESIDE, right: Math.max(...xs) + BESIDE, top: Math.min(...ys) - ABOVE, bottom: Math.max(...ys) + BELOW };
  }

  private _menuEntries(): MenuEntry[] {
    const currentStep = this._view;
    if (!currentStep) return [];
    return [
      ...GROUPINGS.map(by => ({
        text: currentStep.ui.grouping === by ? t('Do not group') : t(GROUP_TEXTS[by]),
        act: () => this._acts.setState({ grouping: currentStep.ui.grouping === by ? null : by, unfolded: new Set() })
      })),
      { text: this._legendBox.hidden ? t('Legend') : t('Hide legend'), act: () => this._toggleLegend() },
      { text: t('Copy as %1', 'SVG'), act: () => void this._copy('SVG', copyText(this._svgText(currentStep))) },
      { text: t('Copy as %1', 'PNG'), act: () => void this._copy('PNG', copyPicture(this._svgText(currentStep))) },
      { text: t('Copy as %1', 'DOT'), act: () => void this._copy('DOT', copyText(dotText(currentStep))) }
    ];
  }

  private _svgText(view: ViewState): string {
    return taken(this._sceneOf(view, this._layout.spots), this._surroundings, branchNotes(view, this._layout, this._extent.right), this._extent, this._canvas);
  }

  private async _copy(what: string, copied: Promise<boolean>): Promise<void> {
    this._toolbar.showMessage((await copied) ? t('%1 copied', what) : t('The browser does not allow copying. Use Export to save a file.'));
  }

  private _toggleLegend(): void {
    this._legendBox.hidden = !this._legendBox.hidden;
    this._repaint();
  }

  private _tidy(): void {
    this._isTidying = true;
    this._acts.send({ type: 'tidy' });
  }

  private _openSearch(on: boolean): void {
    this._search.setOpen(on);
    if (!on) this._focusSpot(this._layout.spots.find(spot => spot.key === this._focusedKey) ?? this._surroundings.newest);
  }

  /** Shows the lineage of the chosen object, and the object itself. */
  private _showLineage(on: boolean): void {
    this._hasLineage = on;
    this._repaint(() => {
      const centre = on && this._view && this._layout.spotOf(this._lineageCentre(this._view));
      if (centre) this._camera.reveal(centre);
    });
  }

  /** The object whose lineage is shown: the chosen one, what a chosen call used, else the newest. */
  private _lineageCentre({ chosen, model }: ViewState): string {
    return model.objects.has(chosen.object) ? chosen.object : (mainUse(model.calls.get(chosen.call))?.object ?? this._surroundings.newest?.object?.id ?? '');
  }

  private _sceneOf(view: ViewState, spots: readonly Spot[]): Scene {
    return scene(view, spots, this._layout, this._size(), this._lineage);
  }

  // -- on the canvas -------------------------------------------------------------------------
  private _spotAt(event: Event): Spot | undefined {
    const target = event.target instanceof Element ? event.target.closest('.node') : null;
    const key = target?.getAttribute('data-k');
    return this._layout.spots.find(spot => spot.key === key);
  }

  private _chosenSpot(): Spot | undefined {
    if (!this._view) return undefined;
    const call = this._view.model.calls.get(this._view.chosen.call);
    return (call && this._layout.spotOf(`call:${call.id}`)) ?? this._layout.spotOf(this._view.chosen.object);
  }

  private _chooseSpot(spot: Spot): void {
    const [first] = spot.folded;
    if (!first || !this._view) return this._acts.setState({ chosen: choiceOf(spot), form: null });
    this._whenDrawn = () => this._focusSpot(this._layout.spotOf(first.id));
    this._acts.setState({ unfolded: new Set([...this._view.ui.unfolded, ...spot.folded.map(object => object.id)]) });
  }

  private _focusSpot(spot: Spot | undefined): void {
    if (!spot) return;
    this._focusedKey = spot.key;
    this._camera.reveal(spot);
    this._draw();
    focusInPlace(this._layers.buttonOfNode(spot.key));
  }

  private _escape(): void {
    if (!this._legendBox.hidden) this._toggleLegend();
    else if (this._hasLineage) this._showLineage(false);
    else this._acts.setState({ chosen: null, form: null });
  }

  private _handleCanvasKey(event: KeyboardEvent): void {
    const spot = this._spotAt(event);
    if (event.key === 'Escape') this._escape();
    else if (event.key === '+' || event.key === '-') this._camera.zoom(event.key === '+' ? ZOOM_STEP : 1 / ZOOM_STEP);
    else if (event.key === '0') this._camera.fit(this._extent);
    else if (!spot || !this._view) return;
    else if ((event.key === 'Enter' && !event.shiftKey) || event.key === ' ') this._chooseSpot(spot);
    else if (isArrow(event.key)) this._focusSpot(arrowTarget(this._view, this._layout, spot, event.key));
    else return;
    consume(event);
  }

  // -- drawing -------------------------------------------------------------------------------
  private _markNodes(): void {
    const chosenKey = this._chosenSpot()?.key;
    const keys = new Set(this._scene.nodes.map(node => node.key));
    const tab = [this._focusedKey, chosenKey ?? '', this._surroundings.newest?.key ?? ''].find(one => keys.has(one)) ?? this._scene.nodes[0]?.key;
    this._layers.markNodes({ chosen: chosenKey, tab, found: this._search.keys });
  }

  /** Draws the visible nodes; in a large graph, only those near the viewport. */
  private _draw(): void {
    if (!this._view) return;
    if (this._layout.spots.length > GREAT) {
      const drawn = new Set([this._focusedKey, ...this._scene.nodes.map(node => node.key)]);
      let fresh = 0;
      const visible = this._layout.spots.filter(
        spot => spot.key === this._focusedKey || (this._camera.isVisible(spot) && (drawn.has(spot.key) || ++fresh <= MOST_FRESH))
      );
      if (fresh > MOST_FRESH) this._camera.drawSoon();
      this._scene = this._sceneOf(this._view, visible);
    }
    this._layers.draw(this._scene, this._surroundings, this._layout.spots.length > GREAT && this._camera.isAfar());
    this._branchStrip.place(spot => this._camera.heightOf(spot), this._camera.canvasHeight());
    this._markNodes();
    if (!this._overview.element.hidden) this._frameOverview();
  }
}
