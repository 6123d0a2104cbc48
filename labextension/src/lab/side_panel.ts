/**
 * The side panel: the newest session of the notebook in front, or that of a cell that the
 * person chose, beside it. It reads the notebook's outputs, and keeps nothing of them.
 */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { Panel, Widget } from '@lumino/widgets';
import { h } from '../view/dom';
import type { ExtensionContext } from './context';
import type { AllSessions, LiveSession } from './live_sessions';
import type { ViewOptions } from './live_view';
import { type CellSession, newestIn, sessionAt, sessionsIn, sessionTitle, watchOutputs } from './outputs';
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
  private _watching: IDisposable | null = null;
  /** The id of the cell that the person chose; "" for the newest session. */
  private _chosen = '';

  constructor(
    open: AllSessions,
    viewOptions: ViewOptions,
    private readonly _trans: TranslationBundle,
    ways: SidePanelActions
  ) {
    super();
    this.addClass('jtc-side');
    // Set here because the shell measures a panel before the style sheet is loaded.
    this.node.style.minWidth = '320px';
    this._pane = new SessionPane(open, viewOptions);
    this._bar = new SessionBar(_trans, ways, id => this.choose(id));
    this.addWidget(this._bar);
    this.addWidget(this._pane);
  }

  /** Shows the newest session of this notebook. */
  follow(notebook: NotebookPanel | null): void {
    if (notebook !== this._notebook) this._chosen = '';
    this._notebook = notebook;
    this._watching?.dispose();
    this._watching = notebook ? watchOutputs(notebook, () => this._refresh()) : null;
    this._refresh();
  }

  /** Shows the session of this cell; with "" the newest one. */
  choose(cell: string): void {
    this._chosen = cell;
    this._refresh();
  }

  /** Moves the keyboard focus into the panel. */
  focus(): void {
    const stop = this._pane.node.querySelector<HTMLElement>('.tc-card') ?? this.node.querySelector('select');
    stop?.focus();
  }

  dispose(): void {
    this._watching?.dispose();
    super.dispose();
  }

  protected onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._refresh();
  }

  /** Draws the current session of the notebook. */
  private _refresh(): void {
    if (!this.isVisible) return;
    const notebook = this._notebook?.isDisposed ? null : this._notebook;
    const model = notebook?.content.model ?? null;
    const chosen = model && this._chosen ? sessionAt(model, this._chosen) : null;
    const session = chosen ?? (model ? newestIn(model) : null);
    this._bar.showSession(notebook, session, model ? sessionsIn(model) : [], chosen !== null);
    this._pane.showSession(notebook, session, emptyText(notebook, this._trans));
  }
}

/** The list of sessions, and the buttons to the cell and to a tab. */
class SessionBar extends Widget {
  private readonly _list: HTMLSelectElement;
  private _at: { notebook: NotebookPanel; found: CellSession } | null = null;

  constructor(
    private readonly _trans: TranslationBundle,
    ways: SidePanelActions,
    choose: (id: string) => void
  ) {
    super();
    this.addClass('jtc-sidebar');
    this._list = h('select', { 'aria-label': _trans.__('Session'), class: 'jp-mod-styled' });
    this._list.addEventListener('change', () => choose(this._list.value));
    const go = (way: SidePanelActions['openTab']) => (): void => void (this._at && way?.(this._at.notebook, this._at.found));
    const button = (text: string, way: SidePanelActions['openTab']): HTMLElement =>
      h('button', { type: 'button', class: 'jtc-way', onclick: go(way) }, text);
    this.node.append(this._list, button(_trans.__('Show cell'), ways.showCell));
    if (ways.openTab) this.node.append(button(_trans.__('Open in tab'), ways.openTab));
  }

  showSession(notebook: NotebookPanel | null, session: CellSession | null, all: readonly CellSession[], chosen: boolean): void {
    this._at = notebook && session ? { notebook, found: session } : null;
    this.setHidden(!this._at);
    this._fill([['', this._trans.__('Newest session')], ...all.map(one => [one.cell.id, sessionTitle(one.cell)] as const)]);
    this._list.value = chosen && session ? session.cell.id : '';
  }

  /** An unchanged list is not replaced: it may be open. */
  private _fill(options: readonly (readonly [string, string])[]): void {
    const stamp = JSON.stringify(options);
    if (this._list.dataset.stamp === stamp) return;
    this._list.dataset.stamp = stamp;
    this._list.replaceChildren(...options.map(([value, text]) => h('option', { value }, text)));
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
