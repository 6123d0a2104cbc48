/** A session large, in a tab of the main area: it stays with its cell, and comes back with the layout. */
import type { ILayoutRestorer } from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { PathExt } from '@jupyterlab/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { OPEN_TAB, type Core } from './core';
import { sessionAt, type Found } from './found';
import { callsIcon } from './icon';
import { Pane } from './pane';
import { titleOf } from './title';
import { watch } from './watch';

/** Where a session stands. */
export interface At {
  readonly path: string;
  /** The id of its cell. */
  readonly cell: string;
}

class SessionTab extends MainAreaWidget<Pane> {
  private notebook: NotebookPanel | null = null;
  private watching: IDisposable | null = null;

  constructor(
    private readonly core: Core,
    readonly at: At
  ) {
    super({ content: new Pane(core.open, core.manners) });
    this.id = idOf(at);
    this.title.icon = callsIcon;
    this.title.closable = true;
    this.addClass('jtc-tab');
    this.toolbar.hide();
    this.name();
    this.find();
    core.notebooks.widgetAdded.connect(this.find, this);
  }

  dispose(): void {
    if (this.isDisposed) return;
    this.core.notebooks.widgetAdded.disconnect(this.find, this);
    this.watching?.dispose();
    super.dispose();
  }

  protected onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.refresh();
  }

  private find(): void {
    const found = this.core.notebooks.find(notebook => notebook.context.path === this.at.path);
    if (!found || found === this.notebook) return;
    this.notebook = found;
    this.watching?.dispose();
    this.watching = watch(found, () => this.refresh());
    found.disposed.connect(() => this.lose(found));
  }

  private lose(notebook: NotebookPanel): void {
    if (this.notebook !== notebook || this.isDisposed) return;
    this.notebook = null;
    this.refresh();
  }

  private refresh(): void {
    if (!this.isVisible || this.isDisposed) return;
    const model = this.notebook?.content.model;
    const found = model ? sessionAt(model, this.at.cell) : null;
    if (found) this.name(found);
    this.content.showFound(this.notebook, found, this.nothing());
  }

  private nothing(): string {
    const { trans } = this.core;
    return this.notebook
      ? trans.__('This cell has no tool-calling session now: run it to see one.')
      : trans.__('Open %1 to see its tool-calling session.', this.at.path);
  }

  private name(found?: Found): void {
    const file = PathExt.basename(this.at.path);
    this.title.label = found ? `${file} ${titleOf(found.cell)}` : file;
    this.title.caption = this.core.trans.__('Tool calls of a cell of %1', this.at.path);
  }
}

const idOf = ({ path, cell }: At): string => `jupyter-toolcall-tab-${path}-${cell}`;

/** The tabs of the main area; `open` makes one, or goes to the one that is there. */
export function addTabs(core: Core, restorer: ILayoutRestorer | null): { open(at: At): void } {
  const tracker = new WidgetTracker<SessionTab>({ namespace: 'jupyter-toolcall' });
  void restorer?.restore(tracker, { command: OPEN_TAB, args: tab => ({ ...tab.at }), name: tab => tab.id });
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
