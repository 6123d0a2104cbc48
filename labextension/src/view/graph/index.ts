/** The graph: canvas, toolbar, search, overview and keyboard navigation. */
import type { CallRow, GraphRow } from '../../generated/contract';
import type { MenuEntry } from '../menu';
import { consume, focusInPlace, h, hasFocus, listen, s } from '../dom';
import { finished } from '../incremental';
import { drawnId, drawsInSlices, isBusy } from '../model';
import { icon } from '../icons';
import { currentBranch } from '../labels';
import { lineageOf, mainUse, parentsOf, reachable } from '../lineage';
import type { Choice, PanelActions, ViewState } from '../view_state';
import { BeyondButton, BEYOND_BUTTON, STRIP } from './beyond_button';
import { Camera, LEAST } from './camera';
import { arrowTarget, type Box, boxAround, type Drawing, drawingOf, isArrow, NO_DRAWING, type Spot, spotOfCall, withStates } from './drawing';
import { GraphLayers, type Guess, type Scene } from './elements';
import { copyPicture, copyText, dotText, svgText } from './graph_export';
import { nodeText, ObjectList } from './node_texts';
import { rowsOnPath } from '../origins';
import { Overview } from './overview';
import { Search } from './search_bar';
import { legend, Toolbar, ZOOM_STEP } from './toolbar';
import { t } from '../text';

const NARROW = 640;
const TALL = 600;
/** A graph larger than its canvas is at least so high, leaves so much of the window to what is around it, and is so much lower at an earlier step. */
const [LEAST_HIGH, LEFT_BELOW, WALKED] = [380, 388, 110];
/** Space around the waiting call and what it uses, and between the drawing and the call to guess, in pixels. */
const [AROUND, BEYOND] = [24, 72];
/** The height of a canvas without a drawing, and what is empty at each side of a drawing, in pixels. */
const [EMPTY, EDGE] = [64, 12];
/** Ancestors of the chosen object that are to be drawn. */
const NEAR = 30;
/** The width of rows that the kernel draws unasked, the steps in which it follows that of the canvas, and the least, in pixels. */
const [PAGE, PAGE_STEP, LEAST_PAGE] = [900, 75, 300];
/** The width of a canvas, in pixels, below which objects are drawn by their names. */
const NAMES = 420;
/** The height of a canvas, in pixels, above which there is room for words on what is above and below it. */
const LOW = 240;
/** Above this many objects or calls, the search bar is shown. */
const WIDE = 100;
/** Above this many nodes, a graph that does not fit has an overview, with the search bar beside it where there is room. */
const FEW = 40;

const choiceOf = ({ object, call }: Spot): Choice => ({ call: call?.id ?? object?.call ?? '', object: object?.id ?? '' });

const NOTHING: Scene = { nodes: [], links: [], guess: null };

/** The canvas with the graph and its tools. */
export class Graph {
  private readonly _layers = new GraphLayers();
  private readonly _svg = s('svg', { class: 'g', role: 'graphics-document img', label: t('Object lineage') }, this._layers.world);
  private readonly _camera = new Camera(this._svg, this._layers.world, () => this._followCamera());
  private readonly _search = new Search(this._acts, {
    repaint: () => this._repaint(), close: () => this._openSearch(false),
    scroll: () => this._layers.buttonOfNode(this._chosenSpot()?.key ?? '')?.scrollIntoView({ block: 'nearest' })
  });
  private readonly _overview = new Overview((x, y) => {
    this._camera.showPoint(x, y);
    this._frameOverview();
  });
  private readonly _objectList = new ObjectList();
  private readonly _legendBox = h('div', { class: 'tc-key', hidden: true });
  private readonly _toolbar = new Toolbar({
    search: () => this._openSearch(true),
    lineage: () => this._showLineage(!this._hasLineage),
    zoom: by => this._zoom(by),
    fit: () => this._fit(),
    menuEntries: () => this._menuEntries()
  });
  private readonly _emptyHint = h('p', 'tc-empty', icon('info'), t('No objects yet. The graph shows the inputs, and the objects that calls make.'));
  /** At the sides of a drawing that is wider than the canvas: what is out of sight there. */
  private readonly _beyond = [new BeyondButton('left', this._camera), new BeyondButton('right', this._camera)] as const;
  private readonly _outside = [new BeyondButton('above', this._camera), new BeyondButton('below', this._camera)] as const;
  private readonly _canvas = h(
    'div', 'tc-canvas', this._outside[0].element, this._beyond[0].element, this._svg, this._beyond[1].element, this._outside[1].element,
    this._emptyHint
  );
  readonly element = h(
    'div', 'tc-graph', h('div', 'tc-lookup', this._search.element, this._overview.element), this._canvas, this._legendBox,
    this._objectList.element
  );
  private _drawing: Drawing = NO_DRAWING;
  private _scene = NOTHING;
  private _view: ViewState | null = null;
  private _focusedKey = '';
  /** The spot that was chosen at the last drawing, and the size of the canvas then. */
  private _chosenBefore: Spot | undefined;
  private _chosenSize = '';
  private _chosenBranch = '';
  /** The part that the kernel was asked for last. */
  private _asked = JSON.stringify({ until: 0, selected: '', page: PAGE, compact: false });
  /** Objects are drawn by their names alone, so that the whole drawing can be read. */
  private _isCompact = false;
  /** The person has sent a command since they entered the graph. */
  private _isReleased = false;
  /** They have moved the pointer in it: one that rests where the panel appears holds nothing. */
  private _isPointed = false;
  private _shownGraph: GraphRow | null = null;
  /** What follows once neither pointer nor focus is in the graph. */
  private _whenLeft: (() => void) | null = null;
  private _width = 0;
  /** Reading the height of the window forces a layout: it is read when its size changes. */
  private _high = TALL;
  /** The lineage of the chosen node is shown, and the rest pale. */
  private _hasLineage = false;
  /** The call that the next step runs, also while that step is under way. */
  private _nextCall: CallRow | undefined;
  /** The keys of its nodes. */
  private _lineage: ReadonlySet<string> | null = null;
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
    listen(this._canvas, 'pointermove', ({ movementX, movementY }) => {
      this._isPointed ||= movementX !== 0 || movementY !== 0;
    });
    for (const left of ['pointerleave', 'focusout'] as const) listen(this._canvas, left, ({ type }) => {
      this._isPointed &&= type === 'focusout';
      this._drawWhenLeft();
    });
  }

  /** Draws a state in slices; `most` is the height that the graph may have while a decision waits. */
  *painting(state: ViewState, most = TALL): Generator<void, void> {
    // Of the drawings in a page without a kernel, the widest one is the most readable as a whole.
    const room = this._size().width / LEAST;
    const graph = state.model.graphs.findLast(({ width }) => width <= room) ?? state.model.graph;
    const next = (this._view = { ...state, model: { ...state.model, graph } });
    this._askForPart(next);
    const before = this._shownGraph;
    this._drawing = this._calmDrawing(next);
    if (before && (before !== this._shownGraph || next.isPast)) this._camera.glide();
    yield;
    this._lineage = this._hasLineage ? lineageOf(this._drawing.links, this._lineageCentre()?.key ?? '') : null;
    this._scene = this._sceneOf(next);
    const { spots } = this._drawing;
    const [extent, error] = [this._extent(), spots.length ? '' : this._noDrawing(next)];
    this._emptyHint.hidden = spots.length > 0 || next.objects.length > 0;
    this._canvas.hidden = error !== '';
    const { width, narrow } = this._size();
    const isCut = spots.length > 0 && !this._camera.fits(extent, Infinity, width);
    for (const { element } of this._beyond) element.hidden = !isCut;
    // What the person wants to see as a whole may be as high as any drawing.
    if (!isBusy(next.model)) this._nextCall = next.isPast ? undefined : next.model.calls.get(next.model.session.next_call);
    const isLow = next.isPast || ((!narrow || this._nextCall !== undefined) && !this._camera.fits(extent, most, width));
    const isLimited = spots.length > 0 && !this._camera.isFitted && isLow;
    // At an earlier step there is room below the graph for what the call did.
    const isWhole = this._camera.isFitted && most === TALL && (graph.compact === this._wantsNames || !next.live);
    const high = isLimited ? Math.min(most, this._high - (next.isPast ? WALKED : 0)) : isWhole ? Infinity : most;
    const wide = isCut ? width - 2 * BEYOND_BUTTON : width;
    this._camera.setSize(wide, extent, spots.length > 0 ? high : EMPTY);
    const isTall = high > LOW && this._camera.isTooTall();
    for (const { element } of this._outside) element.hidden = !isTall;
    if (isTall) this._camera.setSize(wide, extent, high - 2 * STRIP);
    const isLong = Math.max(next.objects.length, next.calls.length) > WIDE;
    const isPart = (spots.length > FEW || isLong) && !this._camera.fits(extent, TALL);
    this._overview.element.hidden = !isPart || next.isPast || error !== '';
    // The search in a very large session comes after the graph.
    const search = this._paintingSearch(next, !next.isPast && (isLong || (isPart && !this._size().narrow)));
    const isLate = drawsInSlices(next.model);
    if (!isLate) finished(search);
    this._toolbar.paint({ any: spots.length > 0, lineage: this._hasLineage, search: this._search.element.hidden });
    this._moveCamera(next, extent, most);
    yield;
    this._draw();
    this._objectList.paint(next, error);
    this._whenDrawn?.();
    this._whenDrawn = null;
    if (isLate) {
      yield* search;
      this._camera.drawNow();
      this._markNodes();
    }
    if (!this._legendBox.hidden) this._legendBox.replaceChildren(legend(this._scene));
  }

  /** Shows the waiting call, the newest one or the chosen one; what the person holds stays in its place. */
  private _moveCamera(next: ViewState, extent: Box, most: number): void {
    const spot = this._chosenSpot();
    const { newest } = this._drawing;
    const isWaiting = next.waitingCall?.id === next.chosen.call;
    const asked = most < TALL && isWaiting ? this._waitingBox(next, most) : this._nextBox(extent);
    // In another size, and on another branch, the view is chosen anew.
    const [before, branch] = [this._chosenBefore, currentBranch(next.model)?.name ?? ''];
    if (branch !== this._chosenBranch && !this._camera.isFitted) this._camera.follow();
    this._chosenBranch = branch;
    const size = `${most} ${this._width} ${branch}`;
    const isKept = (isWaiting || !next.followsNewest) && this._chosenSize === size;
    if (this._camera.isFitted) this._camera.fit(extent);
    else if (isKept && spot && spot.key === before?.key) this._camera.keep(before, spot);
    else if (asked) this._camera.showPart(extent, asked);
    else if (next.followsNewest) this._camera.followNewest(extent, next.ui.editedCall ? (spot ?? newest) : newest, next.isPast);
    else this._camera.showIfItFits(extent);
    const isElsewhere = before?.key !== spot?.key || this._chosenSize !== size || this._camera.isFitted;
    if ((!next.followsNewest || next.isPast) && spot && isElsewhere) this._camera.reveal(spot);
    [this._chosenBefore, this._chosenSize] = [spot, size];
  }

  /** The drawing of a state. While the person holds the graph, nothing moves: only states change. */
  private _calmDrawing(next: ViewState): Drawing {
    const { graph } = next.model;
    const shown = this._shownGraph;
    const isHeld = !this._isReleased && (hasFocus(this._svg) || this._isPointed);
    const isAsked = shown === null || graph.until !== shown.until || graph.selected !== shown.selected;
    if (isAsked || !isHeld || graph.nodes.length === 0) {
      this._shownGraph = graph;
      return drawingOf(next);
    }
    this._whenLeft ??= () => this._repaint();
    return drawingOf({ ...next, model: { ...next.model, graph: withStates(shown, graph) } });
  }

  /** Lets the graph move though the person holds it: they have sent a command, and wait for what it does. */
  release(): void {
    this._isReleased = true;
    if (!this._camera.isFitted) this._camera.follow();
  }

  /** Shows what is in the objects again, at the scale of a drawing that nobody moved. */
  private _unfit(): void {
    this._isReleased = true;
    this._isCompact = false;
    this._camera.follow();
    this._repaint();
  }

  /** Zooms: in from a drawing of names to what is in the objects, and back. */
  private _zoom(by: number): void {
    if (by < 1 && this._camera.scale === LEAST) return this._fit();
    if (by < 1 || !this._isCompact) return this._camera.zoom(by);
    this._unfit();
  }

  /** Shows the whole drawing, by names where it is larger than the canvas. */
  private _fit(): void {
    const extent = this._extent();
    this._isCompact ||= !this._camera.fits(extent, this._high);
    this._camera.fit(extent);
    this._repaint();
  }

  /** Whether objects are drawn by their names: in a narrow canvas there is no room for what is in them. */
  private get _wantsNames(): boolean {
    return this._isCompact || (this._width > 0 && this._width < NAMES);
  }

  /** Asks the kernel for rows of the canvas's width, and for another part of a long session: an earlier one, or what the chosen row came from. */
  private _askForPart(next: ViewState): void {
    const { graph } = next.model;
    const isWhole = graph.earlier === 0 && graph.until === 0 && graph.selected === '';
    const page = this._width ? Math.max(LEAST_PAGE, PAGE_STEP * Math.floor(this._width / PAGE_STEP)) : PAGE;
    const wanted = { until: next.isPast && !isWhole ? Math.max(1, next.step) : 0, selected: isWhole ? '' : this._selectedOrigin(next), page, compact: this._wantsNames };
    const asked = JSON.stringify(wanted);
    if (!next.live || asked === this._asked) return;
    this._asked = asked;
    this._acts.request({ type: 'draw_graph', ...wanted });
  }

  /** The chosen row, if it or a near ancestor of it is not drawn. */
  private _selectedOrigin({ model, ui: { chosen } }: ViewState): string {
    const call = model.calls.get(chosen?.call ?? '');
    const object = chosen && model.objects.has(chosen.object) ? chosen.object : '';
    const id = object || (call?.scheme ? '' : (call?.id ?? ''));
    if (!id || id === model.graph.selected) return model.graph.selected;
    const drawn = new Set(model.graph.nodes.map(node => `${node.kind}:${node.row}`));
    const origin = object || (mainUse(call)?.object ?? '');
    const near = origin ? [origin, ...reachable(origin, of => parentsOf(model, of), Infinity, NEAR)] : [];
    const isDrawn = (object !== '' || drawn.has(`call:${id}`) || drawn.has(`call:${call?.same ?? ''}`)) &&
      near.every(one => drawn.has(`object:${one}`) || drawn.has(`object:${drawnId(model, one)}`));
    return isDrawn ? '' : id;
  }

  /** Why there is no drawing, though there are objects. */
  private _noDrawing({ model, objects }: ViewState): string {
    if (model.graph.error || objects.length === 0) return model.graph.error;
    return model.graph.nodes.length ? t('Run the cell to see earlier calls in the graph.') : t('Run the cell to see the graph.');
  }

  /** The box of the drawing, with the call to guess behind it. */
  private _extent(): Box {
    const { box } = this._drawing;
    return this._guess() ? { ...box, right: box.right + 2 * BEYOND } : box;
  }

  /** The place of the call to guess: behind the drawing, beside the newest node. */
  private _guess(): Guess | null {
    const { newest, box } = this._drawing;
    if (!this._view?.toGuess || this._view.isPast || !newest) return null;
    return { x: box.right + BEYOND / 2, y: newest.y, text: t('your guess') };
  }

  /** Draws the search bar and the overview, in slices. */
  private *_paintingSearch(next: ViewState, always: boolean): Generator<void, void> {
    yield* this._search.painting(next, always);
    yield;
    if (this._overview.element.hidden) return;
    this._overview.paint(
      { view: next, drawing: this._drawing, box: this._extent(), searched: this._search, lineage: this._lineage }, this._mapWidth()
    );
  }

  /** The width of the overview at most: beside the search bar, or below it. */
  private _mapWidth(): number {
    const width = this._width || this._size().width;
    return this._size().narrow ? width - 16 : Math.round(0.45 * width);
  }

  private _frameOverview(): void {
    this._overview.frame(this._camera.inSight(), this._drawing.spots.filter(spot => this._camera.isVisible(spot, 0)));
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
    const [now, high] = [this._canvas.clientWidth, Math.max(LEAST_HIGH, innerHeight - LEFT_BELOW)];
    if ((now === this._width && high === this._high) || now === 0) return;
    [this._width, this._high] = [now, high];
    this._repaint();
  }

  /** Applies the drawing that came while the person held the graph. */
  private _drawWhenLeft(): void {
    const draw = this._whenLeft;
    [this._whenLeft, this._isReleased] = [null, false];
    if (draw) requestAnimationFrame(draw);
  }

  /** Handles a key pressed anywhere in the panel; returns whether it did. */
  handleKey(event: KeyboardEvent): boolean {
    if (event.key === '/') this._openSearch(true);
    else if (event.key === 'l') {
      const spot = this._spotAt(event);
      if (spot && spot.node.kind !== 'fold' && !this._hasLineage) this._chooseSpot(spot);
      this._showLineage(!this._hasLineage);
    } else if (event.key === 'Escape' && this._hasLineage) this._showLineage(false);
    else return false;
    return true;
  }

  /** The width is cached: reading it forces a layout. */
  private _size(): { readonly width: number; readonly narrow: boolean } {
    this._width ||= this._canvas.clientWidth;
    const known = this._width || 900;
    return { width: known, narrow: known < NARROW };
  }

  /** Draws the panel again, and then does something. */
  private _repaint(whenDrawn = this._whenDrawn): void {
    this._whenDrawn = whenDrawn;
    if (this._view) this._acts.setState({});
  }

  /** The box around the waiting call, and what it uses where there is room for that; null if nothing waits. */
  private _waitingBox({ waitingCall: call }: ViewState, most: number): Box | null {
    if (!call) return null;
    const own = [this._drawing.pillOf(call.id), this._drawing.spotOf(call.object)];
    const whole = boxAround([...own, ...call.uses.map(use => this._drawing.spotOf(use.object))], AROUND);
    const isTooLarge = whole !== null && Math.max(
      (whole.bottom - whole.top) / most, (whole.right - whole.left) / this._size().width
    ) > 1;
    return isTooLarge ? boxAround(own, AROUND) : whole;
  }

  /** The box around the call that the next step runs, with the beginning of its row where there is room for that. */
  private _nextBox(extent: Box): Box | null {
    const box = this._nextCall ? boxAround([this._drawing.pillOf(this._nextCall.id), this._drawing.spotOf(this._nextCall.object)], AROUND) : null;
    return box && { ...box, left: box.right - extent.left > this._size().width - 2 * BEYOND_BUTTON ? box.left : extent.left };
  }

  private _menuEntries(): MenuEntry[] {
    const view = this._view;
    if (!view) return [];
    return [
      { text: this._legendBox.hidden ? t('Legend') : t('Hide legend'), act: () => this._toggleLegend() },
      { text: t('Copy as %1', 'SVG'), act: () => void this._copy('SVG', copyText(this._svgText())) },
      { text: t('Copy as %1', 'PNG'), act: () => void this._copy('PNG', copyPicture(this._svgText())) },
      { text: t('Copy as %1', 'DOT'), act: () => void this._copy('DOT', copyText(dotText(view.model.graph))) }
    ];
  }

  private _svgText(): string {
    return svgText(this._scene, this._extent(), this._canvas);
  }

  private async _copy(what: string, copied: Promise<boolean>): Promise<void> {
    this._toolbar.showMessage((await copied) ? t('%1 copied', what) : t('The browser does not allow copying. Use Export to save a file.'));
  }

  private _toggleLegend(): void {
    this._legendBox.hidden = !this._legendBox.hidden;
    this._repaint();
  }

  private _openSearch(on: boolean): void {
    this._search.setOpen(on);
    if (!on) this._focusSpot(this._drawing.spots.find(spot => spot.key === this._focusedKey) ?? this._drawing.newest);
  }

  /** Shows the lineage of the chosen node, and the node itself. */
  private _showLineage(on: boolean): void {
    this._hasLineage = on;
    this._repaint(() => {
      const centre = on && this._lineageCentre();
      if (centre) this._camera.reveal(centre);
    });
  }

  /** The node whose lineage is shown: the chosen one, else the newest. */
  private _lineageCentre(): Spot | undefined {
    return this._chosenSpot() ?? this._drawing.newest;
  }

  private _sceneOf(view: ViewState): Scene {
    const { spots, links } = this._drawing;
    const path = rowsOnPath(view);
    const isAway = ({ key, node: { kind, row } }: Spot): boolean =>
      kind !== 'branch' && (path ? !path.has(row) : this._lineage !== null && !this._lineage.has(key));
    this._canvas.classList.toggle('path', path !== null);
    return {
      nodes: spots.map(spot => ({ spot, text: nodeText(view, spot), isAway: isAway(spot) })),
      // What other branches have alone lies below the shown one. No line leads to a reference.
      links: links.filter(({ edge }) => edge.path).sort((a, b) => Number(b.edge.muted) - Number(a.edge.muted)).map(
        link => ({ link, isAway: isAway(link.tail) || isAway(link.head) })
      ),
      guess: this._guess()
    };
  }

  // -- on the canvas -------------------------------------------------------------------------
  private _spotAt(event: Event): Spot | undefined {
    const target = event.target instanceof Element ? event.target.closest('.node') : null;
    const key = target?.getAttribute('data-k');
    return this._drawing.spots.find(spot => spot.key === key);
  }

  private _chosenSpot(): Spot | undefined {
    if (!this._view) return undefined;
    const { model, chosen, ui } = this._view;
    const call = model.calls.get(chosen.call);
    // A box that the person chose is marked, not the call that made it; a form is open under a call.
    const object = ui.chosen && !ui.form ? this._drawing.spotOf(chosen.object) : undefined;
    return object ?? (call && spotOfCall(this._drawing, call)) ?? this._drawing.spotOf(chosen.object);
  }

  private _chooseSpot(spot: Spot): void {
    const { kind, row, muted } = spot.node;
    // What follows is drawn where these calls are.
    if (kind === 'fold') this._unfit();
    if (kind === 'branch') return this._view?.live && muted ? this._acts.send({ type: 'checkout', branch: row }) : undefined;
    this._acts.setState({ chosen: choiceOf(spot), form: null });
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
    else if (event.key === '+' || event.key === '-') this._zoom(event.key === '+' ? ZOOM_STEP : 1 / ZOOM_STEP);
    else if (event.key === '0') this._fit();
    else if (!spot || !this._view) return;
    else if ((event.key === 'Enter' && !event.shiftKey) || event.key === ' ') this._chooseSpot(spot);
    else if (isArrow(event.key)) this._focusSpot(arrowTarget(this._drawing, spot, event.key));
    else return;
    consume(event);
  }

  // -- drawing -------------------------------------------------------------------------------
  private _markNodes(): void {
    const chosenKey = this._chosenSpot()?.key;
    const keys = new Set(this._scene.nodes.map(({ spot }) => spot.key));
    const tab = [this._focusedKey, chosenKey ?? '', this._drawing.newest?.key ?? ''].find(one => keys.has(one)) ?? this._scene.nodes[0]?.spot.key;
    this._layers.markNodes({ chosen: chosenKey, tab, found: this._search.keysIn(this._drawing) });
  }

  private _draw(): void {
    if (!this._view) return;
    this._layers.draw(this._scene);
    this._camera.drawNow();
    this._markNodes();
  }

  /** Places what stands beside the part of the drawing that is in sight. */
  private _followCamera(): void {
    for (const button of [...this._beyond, ...this._outside]) button.paint(this._drawing.spots);
    const [{ left, right, top, bottom }, { box }] = [this._camera.inSight(), this._drawing];
    const isCut = { above: top > box.top + EDGE, below: bottom < box.bottom - EDGE, left: left > box.left + EDGE, right: right < box.right - EDGE };
    for (const [side, isOut] of Object.entries(isCut)) this._svg.classList.toggle(`cut-${side}`, isOut);
    if (!this._overview.element.hidden) this._frameOverview();
  }
}
