/** A session large, in a tab of the main area: it stays with its cell, and comes back with the layout. */
import type { ILayoutRestorer } from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { callsIcon, type ExtensionContext, OPEN_TAB_COMMAND } from './context';
import { type CellSession, sessionAt, sessionTitle, watchOutputs } from './outputs';
import { SessionPane } from './session_pane';

/** Where a session stands. */
export interface SessionPlace {
  readonly path: string;
  /** The id of its cell. */
  readonly cell: string;
}

class SessionTab extends MainAreaWidget<SessionPane> {
  private notebook: NotebookPanel | null = null;
  private watching: IDisposable | null = null;

  constructor(
    private readonly core: ExtensionContext,
    readonly at: SessionPlace
  ) {
    super({ content: new SessionPane(core.open, core.manners) });
    this.id = idOf(at);
    this.title.icon = callsIcon;
    this.title.closable = true;
    this.addClass('jtc-tab');
    this.toolbar.hide();
    this.setTitle();
    this.findNotebook();
    core.notebooks.widgetAdded.connect(this.findNotebook, this);
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.core.notebooks.widgetAdded.disconnect(this.findNotebook, this);
    this.watching?.dispose();
    super.dispose();
  }

  protected onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.refresh();
  }

  private findNotebook(): void {
    const found = this.core.notebooks.find(notebook => notebook.context.path === this.at.path);
    if (!found || found === this.notebook) return;
    this.notebook = found;
    this.watching?.dispose();
    this.watching = watchOutputs(found, () => this.refresh());
    found.disposed.connect(() => this.forgetNotebook(found));
  }

  private forgetNotebook(notebook: NotebookPanel): void {
    if (this.notebook !== notebook || this.isDisposed) return;
    this.notebook = null;
    this.refresh();
  }

  private refresh(): void {
    if (!this.isVisible || this.isDisposed) return;
    const model = this.notebook?.content.model;
    const found = model ? sessionAt(model, this.at.cell) : null;
    if (found) this.setTitle(found);
    this.content.showSession(this.notebook, found, this.emptyText());
  }

  private emptyText(): string {
    const { trans } = this.core;
    return this.notebook
      ? trans.__('This cell has no tool-calling session. Run the cell to start one.')
      : trans.__('Open %1 to see its tool-calling session.', this.at.path);
  }

  private setTitle(found?: CellSession): void {
    const file = PathExt.basename(this.at.path);
    this.title.label = found ? `${file} ${sessionTitle(found.cell)}` : file;
    this.title.caption = this.core.trans.__('Tool calls of a cell in %1', this.at.path);
  }
}

const idOf = ({ path, cell }: SessionPlace): string => `jupyter-toolcall-tab-${path}-${cell}`;

/** The tabs of the main area; `open` makes one, or goes to the one that is there. */
export function addTabs(core: ExtensionContext, restorer: ILayoutRestorer | null): { open(at: SessionPlace): void } {
  const tracker = new WidgetTracker<SessionTab>({ namespace: 'jupyter-toolcall' });
  void restorer?.restore(tracker, { command: OPEN_TAB_COMMAND, args: tab => ({ ...tab.at }), name: tab => tab.id });
  return {
    open(at) {
      const there = tracker.find(tab => tab.id === idOf(at));
      const tab = there ?? new SessionTab(core, at);
      if (!there) {
        void tracker.add(tab);
        core.app.shell.add(tab, 'main', { mode: 'tab-after' });
      }
      core.app.shell.activateById(tab.id);
    }
  };
}
