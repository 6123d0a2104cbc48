/** One session, live or saved, as the side panel and a tab show it. */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Panel, Widget } from '@lumino/widgets';
import { SavedView, SESSION_TYPE } from '../saved_view';
import { h } from '../view/dom';
import type { AllSessions } from './live_sessions';
import { LivePanelSlot, type ViewOptions } from './live_view';
import type { CellSession } from './outputs';

export class SessionPane extends Panel {
  private _shown: { readonly notebook: NotebookPanel | null; readonly panel: string; readonly saved: unknown } | null = null;

  constructor(private readonly _open: AllSessions, private readonly _viewOptions: ViewOptions) {
    super();
    this.addClass('jtc-pair');
  }

  /** Shows the session of a cell, or a message if it has none; an unchanged session is not redrawn. */
  showSession(notebook: NotebookPanel | null, session: CellSession | null, nothing: string): void {
    const [panel, saved] = [session?.live?.panel ?? '', session?.saved?.[SESSION_TYPE]];
    const before = this._shown;
    this._shown = { notebook, panel, saved };
    const stays = before?.notebook === notebook && before.panel === panel;
    if (!stays || !session) this._clear();
    if (notebook && session) {
      if (!stays && session.live) this._addLive(notebook, session);
      if (!stays || before.saved !== saved) this._addSaved(saved, session.trusted);
    } else this.addWidget(new Widget({ node: h('div', 'jtc-says', nothing) }));
  }

  private _clear(): void {
    for (const old of [...this.widgets]) old.dispose();
  }

  private _addLive(notebook: NotebookPanel, { live }: CellSession): void {
    const slot = new LivePanelSlot(notebook, this._open, this._viewOptions, true);
    this.addWidget(slot);
    if (live) slot.showPanel(live);
  }

  private _addSaved(saved: unknown, trusted: boolean): void {
    for (const old of this.widgets.filter(widget => widget instanceof SavedView)) old.dispose();
    if (saved === undefined) return;
    const view = new SavedView(true);
    this.addWidget(view);
    view.showData(saved, false, trusted);
  }
}

/** The message for a notebook without a session. */
export const emptyText = (notebook: NotebookPanel | null, trans: TranslationBundle): string =>
  notebook
    ? trans.__('This notebook has no tool-calling session yet. To start one, run a cell that begins with %1.', '%%toolchat')
    : trans.__('Open a notebook to see its tool-calling session.');
