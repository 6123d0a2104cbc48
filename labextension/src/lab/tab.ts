/** A session in a tab of the main area; JupyterLab restores the tab with its layout. */
import type { ILayoutRestorer } from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { Message } from '@lumino/messaging';
import { callsIcon, type ExtensionContext, OPEN_TAB_COMMAND } from './context';
import type { CellSession } from './outputs';
import { SessionPane } from './session_pane';

/** The notebook and the cell of a session. */
export interface SessionPlace {
  readonly path: string;
  /** The id of its cell. */
  readonly cell: string;
}

class SessionTab extends MainAreaWidget<SessionPane> {
  private _notebook: NotebookPanel | null = null;

  constructor(private readonly _context: ExtensionContext, readonly at: SessionPlace) {
    super({ content: new SessionPane(_context.sessions, _context.viewOptions) });
    this.id = idOf(at);
    this.title.icon = callsIcon;
    this.title.closable = true;
    this.addClass('jtc-tab');
    this.toolbar.hide();
    this._setTitle();
    this._findNotebook();
    _context.notebooks.widgetAdded.connect(this._findNotebook, this);
  }

  dispose(): void {
    if (this.isDisposed) return;
    this._context.notebooks.widgetAdded.disconnect(this._findNotebook, this);
    super.dispose();
  }

  protected onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._refresh();
  }

  private _findNotebook(): void {
    const notebook = this._context.notebooks.find(notebook => notebook.context.path === this.at.path);
    if (!notebook || notebook === this._notebook) return;
    this._notebook = notebook;
    this._context.sessions.of(notebook).listChanged.connect(this._refresh, this);
    void notebook.context.ready.then(() => this._refresh());
    notebook.disposed.connect(() => this._forgetNotebook(notebook));
  }

  private _forgetNotebook(notebook: NotebookPanel): void {
    if (this._notebook !== notebook || this.isDisposed) return;
    this._notebook = null;
    this._refresh();
  }

  private _refresh(): void {
    if (!this.isVisible || this.isDisposed) return;
    const session = this._notebook && this._context.sessions.of(this._notebook).ofCell(this.at.cell);
    if (session) this._setTitle(session);
    this.content.showSession(this._notebook, session, this._emptyText());
  }

  private _emptyText(): string {
    const { trans } = this._context;
    return this._notebook
      ? trans.__('This cell has no tool-calling session. Run the cell to start one.')
      : trans.__('Open %1 to see its tool-calling session.', this.at.path);
  }

  private _setTitle(found?: CellSession): void {
    const file = PathExt.basename(this.at.path);
    this.title.label = found ? `${file} ${found.title}` : file;
    this.title.caption = this._context.trans.__('Tool calls of a cell in %1', this.at.path);
  }
}

const idOf = ({ path, cell }: SessionPlace): string => `jupyter-toolcall-tab-${path}-${cell}`;

/** The session tabs; `open` adds a tab or activates the open one. */
export function addTabs(context: ExtensionContext, restorer: ILayoutRestorer | null): { open(at: SessionPlace): void } {
  const tracker = new WidgetTracker<SessionTab>({ namespace: 'jupyter-toolcall' });
  void restorer?.restore(tracker, { command: OPEN_TAB_COMMAND, args: tab => ({ ...tab.at }), name: tab => tab.id });
  return {
    open(at) {
      const there = tracker.find(tab => tab.id === idOf(at));
      const tab = there ?? new SessionTab(context, at);
      if (!there) {
        void tracker.add(tab);
        context.app.shell.add(tab, 'main', { mode: 'tab-after' });
      }
      context.app.shell.activateById(tab.id);
    }
  };
}
