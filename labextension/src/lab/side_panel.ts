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
export interface SidePanelActions {
  showCell(notebook: NotebookPanel, found: CellSession): void;
  /** Absent where there is no room for tabs. */
  openTab?(notebook: NotebookPanel, found: CellSession): void;
}

export class SidePanel extends Panel {
  private readonly pane: SessionPane;
  private readonly bar: SessionBar;
  private notebook: NotebookPanel | null = null;
  private watching: IDisposable | null = null;
  /** The id of the cell that the person chose; "" for the newest session. */
  private chosen = '';

  constructor(
    open: AllSessions,
    manners: ViewOptions,
    private readonly trans: TranslationBundle,
    ways: SidePanelActions
  ) {
    super();
    this.addClass('jtc-side');
    // Asked for before the style sheet has come: the shell measures a panel when it is added.
    this.node.style.minWidth = '320px';
    this.pane = new SessionPane(open, manners);
    this.bar = new SessionBar(trans, ways, id => this.choose(id));
    this.addWidget(this.bar);
    this.addWidget(this.pane);
  }

  /** From now on the newest session of this notebook is shown. */
  follow(notebook: NotebookPanel | null): void {
    if (notebook !== this.notebook) this.chosen = '';
    this.notebook = notebook;
    this.watching?.dispose();
    this.watching = notebook ? watchOutputs(notebook, () => this.refresh()) : null;
    this.refresh();
  }

  /** The session of this cell is shown; with "" the newest one. */
  choose(cell: string): void {
    this.chosen = cell;
    this.refresh();
  }

  /** Puts the keyboard into it. */
  focus(): void {
    const stop = this.pane.node.querySelector<HTMLElement>('.tc-card') ?? this.node.querySelector('select');
    stop?.focus();
  }

  dispose(): void {
    this.watching?.dispose();
    super.dispose();
  }

  protected onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.refresh();
  }

  /** Draws what the notebook says now. */
  private refresh(): void {
    if (!this.isVisible) return;
    const notebook = this.notebook?.isDisposed ? null : this.notebook;
    const model = notebook?.content.model ?? null;
    const chosen = model && this.chosen ? sessionAt(model, this.chosen) : null;
    const found = chosen ?? (model ? newestIn(model) : null);
    this.bar.showSession(notebook, found, model ? sessionsIn(model) : [], chosen !== null);
    this.pane.showSession(notebook, found, emptyText(notebook, this.trans));
  }
}

/** Which session it is, and the ways from it. */
class SessionBar extends Widget {
  private readonly list: HTMLSelectElement;
  private at: { notebook: NotebookPanel; found: CellSession } | null = null;

  constructor(
    private readonly trans: TranslationBundle,
    ways: SidePanelActions,
    choose: (id: string) => void
  ) {
    super();
    this.addClass('jtc-sidebar');
    this.list = h('select', { 'aria-label': trans.__('Session'), class: 'jp-mod-styled' });
    this.list.addEventListener('change', () => choose(this.list.value));
    const go = (way: SidePanelActions['openTab']) => (): void => void (this.at && way?.(this.at.notebook, this.at.found));
    const button = (text: string, way: SidePanelActions['openTab']): HTMLElement =>
      h('button', { type: 'button', class: 'jtc-way', onclick: go(way) }, text);
    this.node.append(this.list, button(trans.__('Show cell'), ways.showCell));
    if (ways.openTab) this.node.append(button(trans.__('Open in tab'), ways.openTab));
  }

  showSession(notebook: NotebookPanel | null, found: CellSession | null, all: readonly CellSession[], chosen: boolean): void {
    this.at = notebook && found ? { notebook, found } : null;
    this.setHidden(!this.at);
    this.fill([['', this.trans.__('Newest session')], ...all.map(one => [one.cell.id, sessionTitle(one.cell)] as const)]);
    this.list.value = chosen && found ? found.cell.id : '';
  }

  /** A list that is open under the pointer is left alone where nothing changed. */
  private fill(options: readonly (readonly [string, string])[]): void {
    const stamp = JSON.stringify(options);
    if (this.list.dataset.stamp === stamp) return;
    this.list.dataset.stamp = stamp;
    this.list.replaceChildren(...options.map(([value, text]) => h('option', { value }, text)));
  }
}

export async function openBySettings({ app, open, settings, side }: ExtensionContext): Promise<void> {
  const met = new WeakSet<LiveSession>();
  // A session that begins, or is found again, opens it once: who closes it is left in peace.
  open.changed.connect((_, live) => {
    if (met.has(live) || live.state !== 'alive') return;
    met.add(live);
    if (settings.now.openSidePanel === 'session') app.shell.activateById(side.id);
  });
  await Promise.all([app.restored, settings.ready]);
  if (settings.now.openSidePanel === 'start') app.shell.activateById(side.id);
}
