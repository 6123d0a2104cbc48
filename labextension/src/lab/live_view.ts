/**
 * The live panel, wherever JupyterLab shows it: in a cell, at the side, in a tab. The kernel
 * publishes it twice in one bundle: as a widget, for every front end, and under LIVE, for ours.
 * Of panel and saved session one is on show: the panel while its kernel lives, the saved session
 * otherwise (see style/one-view.css, which goes by the class names that are given here).
 */
import type { NotebookPanel } from '@jupyterlab/notebook';
import { MimeModel } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Panel, Widget } from '@lumino/widgets';
import { type Notice, VERSION } from '../generated/contract';
import { type ShortcutAction, type Host, PanelView } from '../view';
import { LIVE_TYPE, panelIn, type PanelName, WIDGET_VIEW_TYPE } from './comm';
import type { AllSessions, LiveSession } from './live_sessions';

/** Preferred over ipywidgets, whose rank is -10. */
const RENDERER_RANK = -20;

/** Options that all views of a page share. */
export type ViewOptions = Pick<Host, 'confirm' | 'speaks'>;

/** One view of a live session. */
export class LiveView extends Widget {
  private readonly _view: PanelView;

  constructor(readonly live: LiveSession, viewOptions: ViewOptions, side = false) {
    super();
    this.addClass('jtc-view');
    this._view = new PanelView(this.node, { ...viewOptions, live: true, side, send: command => live.send(command) }, live.model);
    live.updated.connect(this._redraw, this);
    this.node.addEventListener('focusin', () => live.focused.emit());
    OPEN_VIEWS.add(this);
  }

  act(what: ShortcutAction): void {
    this._view.act(what);
  }

  dispose(): void {
    if (this.isDisposed) return;
    OPEN_VIEWS.delete(this);
    this.live.updated.disconnect(this._redraw, this);
    this._view.dispose();
    super.dispose();
  }

  private _redraw(live: LiveSession, notice: Notice): void {
    this._view.update(notice, live.model);
  }
}

const OPEN_VIEWS = new Set<LiveView>();

/** The views of this page, oldest first. */
export const openViews = (): readonly LiveView[] => [...OPEN_VIEWS];

/** What a person does in a notebook: after it, nothing scrolls by itself. */
const PERSON_EVENTS = ['keydown', 'pointerdown', 'wheel'] as const;

/**
 * Keeps the first decision of a cell that has just run on the screen, until the person does
 * something. JupyterLab scrolls to the next cell while the panel is still small, and leaves the
 * decision outside the window when the panel grows.
 */
function showFirstDecision(view: LiveView, { content }: NotebookPanel): void {
  const ended = new AbortController();
  const { signal } = ended;
  const show = (): void => {
    if (view.isDisposed) return ended.abort();
    const after = content.activeCellIndex - content.widgets.findIndex(cell => cell.node.contains(view.node));
    if (!view.node.querySelector('.tc-card.asks') || (after !== 0 && after !== 1)) return;
    const [head, card] = ['.tc-head', '.tc-card'].map(part => view.node.querySelector(part)?.getBoundingClientRect());
    const frame = content.outerNode.getBoundingClientRect();
    const isOnScreen = head && card && head.top >= frame.top && card.bottom <= frame.bottom;
    // The head goes to the top: the next decision may be taller.
    if (!isOnScreen) view.node.querySelector('.tc-head')?.scrollIntoView({ block: 'start' });
  };
  const sizes = new ResizeObserver(show);
  sizes.observe(view.node);
  content.outerNode.addEventListener('scroll', show, { signal });
  for (const type of PERSON_EVENTS) content.node.addEventListener(type, () => ended.abort(), { signal, capture: true, passive: true });
  signal.addEventListener('abort', () => sizes.disconnect());
}

/** The place of a live panel in an output: empty while no kernel has it, marked as lost when its kernel ends. */
export class LivePanelSlot extends Panel implements IRenderMime.IRenderer {
  private _live: LiveSession | null = null;
  private _version = VERSION;

  constructor(
    private readonly _notebook: NotebookPanel,
    private readonly _open: AllSessions,
    private readonly _viewOptions: ViewOptions,
    private readonly _side = false
  ) {
    super();
    this.addClass('jtc-live');
  }

  /** Renders an output, trusted or not: what is shown comes from the kernel, which has a panel of this name or has none. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const named = panelIn(model.data);
    if (named) this.showPanel(named);
  }

  /** Shows this panel as soon as its kernel answers. */
  showPanel(named: PanelName): void {
    const live = this._open.of(this._notebook).session(named.panel);
    // An output that is rendered again, as when its notebook is trusted, keeps its panel with what the person does there.
    if (live !== this._live || named.version !== this._version) {
      this._clear();
      live.updated.connect(this._refresh, this);
    }
    [this._live, this._version] = [live, named.version];
    this._refresh();
  }

  dispose(): void {
    this._clear();
    super.dispose();
  }

  private _clear(): void {
    this._live?.updated.disconnect(this._refresh, this);
    for (const old of [...this.widgets]) old.dispose();
    this.removeClass('jtc-lost');
  }

  private _refresh(): void {
    const { _live: live } = this;
    if (!live || this.isDisposed) return;
    this.toggleClass('jtc-lost', live.state === 'lost');
    if (live.state !== 'alive' || this.widgets.length) return;
    if (this._version === VERSION) {
      const view = new LiveView(live, this._viewOptions, this._side);
      this.addWidget(view);
      if (!this._side) showFirstDecision(view, this._notebook);
    }
    else this._addOther(live.panel);
  }

  /** A kernel with another version of the contract has its own panel code, which ipywidgets shows. */
  private _addOther(panel: string): void {
    const { rendermime } = this._notebook.content;
    if (!rendermime.getFactory(WIDGET_VIEW_TYPE)) return;
    const other = rendermime.createRenderer(WIDGET_VIEW_TYPE);
    const data = { [WIDGET_VIEW_TYPE]: { version_major: 2, version_minor: 0, model_id: panel } };
    this.addWidget(other);
    void other.renderModel(new MimeModel({ trusted: true, data }));
  }
}

/** Registers the renderer of live panels for a notebook. */
export function addLiveSlots(notebook: NotebookPanel, sessions: AllSessions, viewOptions: ViewOptions): void {
  const createRenderer = (): IRenderMime.IRenderer => new LivePanelSlot(notebook, sessions, viewOptions);
  notebook.content.rendermime.addFactory({ safe: true, mimeTypes: [LIVE_TYPE], createRenderer }, RENDERER_RANK);
}
