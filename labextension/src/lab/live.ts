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
import { VERSION, type Notice } from '../generated/contract';
import { mount, type Act, type Host } from '../view';
import type { Everywhere, Live } from './sessions';
import { LIVE, panelIn, WIDGET_VIEW, type PanelName } from './wire';

/** Before the rank of widgets, which is -10. */
const RANK = -20;

/** What all views of a page have in common: whether they ask, and who speaks. */
export type Manners = Pick<Host, 'confirm' | 'speaks'>;

/** One view of a live session. */
export class LiveView extends Widget {
  private readonly view: ReturnType<typeof mount>;

  constructor(
    readonly live: Live,
    manners: Manners,
    side = false
  ) {
    super();
    this.addClass('jtc-view');
    this.view = mount(this.node, { ...manners, live: true, side, send: command => live.send(command) }, live.model);
    live.heard.connect(this.hear, this);
    this.node.addEventListener('focusin', () => live.met.emit());
    VIEWS.add(this);
  }

  act(what: Act): void {
    this.view.act(what);
  }

  dispose(): void {
    if (this.isDisposed) return;
    VIEWS.delete(this);
    this.live.heard.disconnect(this.hear, this);
    this.view.dispose();
    super.dispose();
  }

  private hear(live: Live, notice: Notice): void {
    this.view.update(notice, live.model);
  }
}

const VIEWS = new Set<LiveView>();

/** The views of this page, the oldest first. */
export const views = (): readonly LiveView[] => [...VIEWS];

/** The place of a live panel: empty where no kernel has it, and marked as lost when its kernel ends. */
export class Slot extends Panel implements IRenderMime.IRenderer {
  private live: Live | null = null;
  private version = VERSION;

  constructor(
    private readonly notebook: NotebookPanel,
    private readonly open: Everywhere,
    private readonly manners: Manners,
    private readonly side = false
  ) {
    super();
    this.addClass('jtc-live');
  }

  /** As a renderer of outputs: only what is trusted is shown. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const named = model.trusted ? panelIn(model.data) : null;
    if (named) this.follow(named);
  }

  /** From now on it shows this panel, as soon as its kernel tells of it. */
  follow(named: PanelName): void {
    this.clear();
    this.live = this.open.of(this.notebook).live(named.panel);
    this.live.heard.connect(this.settle, this);
    this.version = named.version;
    this.settle();
  }

  dispose(): void {
    this.clear();
    super.dispose();
  }

  private clear(): void {
    this.live?.heard.disconnect(this.settle, this);
    for (const old of [...this.widgets]) old.dispose();
    this.removeClass('jtc-lost');
  }

  private settle(): void {
    const { live } = this;
    if (!live || this.isDisposed) return;
    this.toggleClass('jtc-lost', live.state === 'lost');
    if (live.state !== 'alive' || this.widgets.length) return;
    if (this.version === VERSION) this.addWidget(new LiveView(live, this.manners, this.side));
    else this.addOther(live.panel);
  }

  /** A kernel with another version of us brings a panel of its own, which ipywidgets shows. */
  private addOther(panel: string): void {
    const { rendermime } = this.notebook.content;
    if (!rendermime.getFactory(WIDGET_VIEW)) return;
    const other = rendermime.createRenderer(WIDGET_VIEW);
    const data = { [WIDGET_VIEW]: { version_major: 2, version_minor: 0, model_id: panel } };
    this.addWidget(other);
    void other.renderModel(new MimeModel({ trusted: true, data }));
  }
}

/** From now on this notebook draws live panels in slots. */
export function addLiveSlots(notebook: NotebookPanel, open: Everywhere, manners: Manners): void {
  const createRenderer = (): IRenderMime.IRenderer => new Slot(notebook, open, manners);
  notebook.content.rendermime.addFactory({ safe: true, mimeTypes: [LIVE], createRenderer }, RANK);
}
