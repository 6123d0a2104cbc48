/**
 * The side panel: the newest session of the notebook in front, or that of a cell that the
 * person chose, beside it; also one that goes on after its output was deleted.
 */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Message } from '@lumino/messaging';
import { Panel, Widget } from '@lumino/widgets';
import { h, setChildren, whenChanged } from '../view/dom';
import type { ExtensionContext } from './context';
import type { AllSessions, LiveSession, NotebookSessions } from './live_sessions';
import { openViews, type ViewOptions } from './live_view';
import type { CellSession } from './outputs';
import { emptyText, SessionPane } from './session_pane';

/** What the buttons above the session do. */
interface SidePanelActions {
  showCell(notebook: NotebookPanel, session: CellSession): void;
  /** Absent in front ends without tabs. */
  openTab?(notebook: NotebookPanel, session: CellSession): void;
}

export class SidePanel extends Panel {
  private readonly _pane: SessionPane;
  private readonly _bar: SessionBar;
  private _notebook: NotebookPanel | null = null;
  private _sessions: NotebookSessions | null = null;
  /** The id of the cell that the person chose; "" for the newest session. */
  private _chosen = '';
  /** The session whose waiting call gets the focus once the panel is shown: JupyterLab may show it later than asked. */
  private _toFocus: LiveSession | null = null;

  constructor(private readonly _open: AllSessions, viewOptions: ViewOptions, private readonly _trans: TranslationBundle, ways: SidePanelActions) {
    super();
    this.addClass('jtc-side');
    // Set here because the shell measures a panel before the style sheet is loaded.
    this.node.style.minWidth = '320px';
    this._pane = new SessionPane(_open, viewOptions);
    this._bar = new SessionBar(_trans, ways, id => this.choose(id));
    this.addWidget(this._bar);
    this.addWidget(this._pane);
  }

  /** Shows the newest session of this notebook. */
  follow(notebook: NotebookPanel | null): void {
    if (notebook !== this._notebook) this._chosen = '';
    this._notebook = notebook;
    this._sessions?.listChanged.disconnect(this._refresh, this);
    this._sessions = notebook && this._open.of(notebook);
    this._sessions?.listChanged.connect(this._refresh, this);
    this._refresh();
  }

  /** Shows the session of this cell; with "" the newest one. */
  choose(cell: string): void {
    this._chosen = cell;
    this._refresh();
  }

  /** Shows the session of this cell; its waiting call gets the focus as soon as it is drawn. */
  focusCall(live: LiveSession, cell: string): void {
    this._toFocus = live;
    this.choose(cell);
  }

  /** Moves the keyboard focus into the panel. */
  focus(): void {
    const stop = this._pane.node.querySelector<HTMLElement>('.tc-card') ?? this.node.querySelector('select');
    stop?.focus();
  }

  protected onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._refresh();
  }

  /** Draws the current session of the notebook. */
  private _refresh(): void {
    if (!this.isVisible) return;
    const notebook = this._notebook?.isDisposed ? null : this._notebook;
    const sessions = notebook && this._sessions;
    const chosen = sessions?.ofCell(this._chosen) ?? null;
    const session = chosen ?? sessions?.newest() ?? null;
    this._bar.showSession(notebook, session, sessions?.list() ?? [], chosen !== null);
    this._pane.showSession(notebook, session, emptyText(notebook, this._trans));
    const toFocus = this._toFocus && openViews().find(view => view.live === this._toFocus && this.node.contains(view.node));
    if (toFocus) this._toFocus = null;
    toFocus?.act('focus');
  }
}

/** The list of sessions, and the buttons to the cell and to a tab. */
class SessionBar extends Widget {
  private readonly _list: HTMLSelectElement;
  private readonly _showCell: HTMLElement;
  private readonly _note: HTMLElement;
  private _at: { notebook: NotebookPanel; found: CellSession } | null = null;
  private _options: readonly (readonly [cell: string, text: string])[] = [];
  /** An unchanged list is not replaced: it may be open. */
  private readonly _fill = whenChanged(() => setChildren(this._list, this._options.map(([value, text]) => h('option', { value }, text))));

  constructor(private readonly _trans: TranslationBundle, ways: SidePanelActions, choose: (id: string) => void) {
    super();
    this.addClass('jtc-sidebar');
    this._list = h('select', { 'aria-label': _trans.__('Session'), class: 'jp-mod-styled' });
    this._list.addEventListener('change', () => choose(this._list.value));
    const go = (way: SidePanelActions['openTab']) => (): void => void (this._at && way?.(this._at.notebook, this._at.found));
    const button = (text: string, way: SidePanelActions['openTab']): HTMLElement =>
      h('button', { type: 'button', class: 'jtc-way', onclick: go(way) }, text);
    this._showCell = button(_trans.__('Show cell'), ways.showCell);
    this.node.append(this._list, this._showCell);
    if (ways.openTab) this.node.append(button(_trans.__('Open in tab'), ways.openTab));
    this._note = h(
      'p', { class: 'jtc-deleted' },
      _trans.__('The output of this session was deleted from the notebook. The session stays here while its kernel runs.')
    );
    this.node.append(this._note);
  }

  showSession(notebook: NotebookPanel | null, session: CellSession | null, all: readonly CellSession[], chosen: boolean): void {
    this._at = notebook && session ? { notebook, found: session } : null;
    this.setHidden(!this._at);
    this._showCell.hidden = !notebook?.content.widgets.some(({ model }) => model.id === session?.cell);
    this._note.hidden = !session?.isDeleted;
    this._options = [
      ['', this._trans.__('Newest session')],
      ...all.map(one => [one.cell, one.isDeleted ? this._trans.__('%1 (output deleted)', one.title) : one.title] as const)
    ];
    this._fill(...this._options.flat());
    this._list.value = chosen && session ? session.cell : '';
  }

}

export async function openBySettings({ app, sessions, settings, side }: ExtensionContext): Promise<void> {
  const opened = new WeakSet<LiveSession>();
  // Each session opens the side panel once: a person who closes it is not disturbed.
  sessions.changed.connect((_, live) => {
    if (opened.has(live) || live.state !== 'alive') return;
    opened.add(live);
    if (settings.now.openSidePanel === 'session') app.shell.activateById(side.id);
  });
  await Promise.all([app.restored, settings.ready]);
  if (settings.now.openSidePanel === 'start') app.shell.activateById(side.id);
}
