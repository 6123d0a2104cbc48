/**
 * The side panel: the newest session of the notebook in front, beside it. It reads the
 * notebook's outputs, and keeps nothing of its own.
 */
import type { ICodeCellModel } from '@jupyterlab/cells';
import { ActivityMonitor } from '@jupyterlab/coreutils';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import { MimeModel } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { PartialJSONObject } from '@lumino/coreutils';
import type { Message } from '@lumino/messaging';
import { Panel, Widget } from '@lumino/widgets';
import { LIVE, liveSlot } from './live';
import { SavedView, SESSION } from './saved';

/** The two bundles of a cell in which a session ran; the saved one comes last. */
interface Newest {
  live?: PartialJSONObject;
  saved?: PartialJSONObject;
}

type Bundle = keyof Newest;

export class SidePanel extends Panel {
  private notebook: NotebookPanel | null = null;
  private monitor: ActivityMonitor<INotebookModel, void> | null = null;
  private shown: Newest | null = null;

  constructor(private readonly trans: TranslationBundle) {
    super();
    this.addClass('jtc-side');
    // Asked for before the style sheet has come: the shell measures a panel when it is added.
    this.node.style.minWidth = '320px';
  }

  /** From now on the newest session of this notebook is shown. */
  follow(notebook: NotebookPanel | null): void {
    this.notebook?.sessionContext.statusChanged.disconnect(this.refresh, this);
    this.notebook = notebook;
    notebook?.sessionContext.statusChanged.connect(this.refresh, this);
    this.watch();
    void notebook?.context.ready.then(() => this.watch());
  }

  dispose(): void {
    this.monitor?.dispose();
    super.dispose();
  }

  protected onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.refresh();
  }

  private watch(): void {
    this.monitor?.dispose();
    this.monitor = null;
    const model = this.notebook?.content.model;
    if (model) {
      this.monitor = new ActivityMonitor({ signal: model.contentChanged, timeout: 200 });
      this.monitor.activityStopped.connect(() => this.refresh());
    }
    this.refresh();
  }

  /** Draws what the notebook says now; what is already on show stays as it is. */
  private refresh(): void {
    if (!this.isVisible) return;
    const model = this.notebook?.isDisposed ? null : this.notebook?.content.model;
    const newest = model ? newestSession(model) : {};
    const sameLive = this.shown?.live === newest.live && !this.waits();
    if (this.shown && sameLive && this.shown.saved === newest.saved) return;
    if (sameLive && newest.live) this.saved(newest.saved);
    else this.rebuild(newest);
    this.shown = newest;
  }

  /** A slot that was made before ipywidgets knew the kernel stays empty: it is made anew. */
  private waits(): boolean {
    return this.widgets.some(slot => slot.hasClass('jtc-live') && !slot.node.querySelector('.lm-Widget'));
  }

  private rebuild({ live, saved }: Newest): void {
    this.removeClass('jtc-pair');
    for (const old of [...this.widgets]) old.dispose();
    if (!live && !saved) return this.say();
    this.addClass('jtc-pair');
    if (live && this.notebook) {
      const slot = liveSlot(this.notebook);
      this.addWidget(slot);
      void slot.renderModel(new MimeModel({ trusted: true, data: live }));
    }
    this.saved(saved);
  }

  private saved(data: PartialJSONObject | undefined): void {
    for (const old of this.widgets.filter(widget => widget instanceof SavedView)) old.dispose();
    if (!data) return;
    const view = new SavedView(true);
    this.addWidget(view);
    view.showData(data[SESSION]);
  }

  private say(): void {
    const says = new Widget();
    says.addClass('jtc-says');
    says.node.textContent = this.notebook
      ? this.trans.__('No tool-calling session in this notebook yet: run a cell that begins with %1.', '%%toolchat')
      : this.trans.__('Open a notebook to see its tool-calling session.');
    this.addWidget(says);
  }
}

/** The session of the cell that runs, or else of the one that ran last. */
function newestSession(model: INotebookModel): Newest {
  let newest: Newest = {};
  let last = -1;
  for (const cell of model.cells) {
    if (cell.type !== 'code') continue;
    const code = cell as ICodeCellModel;
    const found = sessionOf(code);
    const when = code.executionState === 'running' ? Infinity : (code.executionCount ?? 0);
    if ((!found.live && !found.saved) || when < last) continue;
    [newest, last] = [found, when];
  }
  return newest;
}

/** The same objects as long as the cell's outputs stay the same. Only trusted panels count. */
function sessionOf({ outputs }: ICodeCellModel): Newest {
  const found: Newest = {};
  for (let i = 0; i < outputs.length; i++) {
    const output = outputs.get(i);
    const data = output.toJSON().data as PartialJSONObject | undefined;
    const bundle: Bundle | null =
      data?.[SESSION] !== undefined ? 'saved' : data?.[LIVE] !== undefined && output.trusted ? 'live' : null;
    if (bundle) found[bundle] = data;
  }
  return found;
}
