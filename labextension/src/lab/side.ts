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
import { newestIn, sessionAt, sessionsIn, type Found } from './found';
import type { Manners } from './live';
import { nothingIn, Pane } from './pane';
import type { Everywhere } from './sessions';
import { titleOf } from './title';
import { watch } from './watch';

/** What the buttons above the session do. */
export interface Ways {
  showCell(notebook: NotebookPanel, found: Found): void;
  /** Absent where there is no room for tabs. */
  openTab?(notebook: NotebookPanel, found: Found): void;
}

export class SidePanel extends Panel {
  private readonly pane: Pane;
  private readonly bar: Bar;
  private notebook: NotebookPanel | null = null;
  private watching: IDisposable | null = null;
  /** The id of the cell that the person chose; "" for the newest session. */
  private chosen = '';

  constructor(
    open: Everywhere,
    manners: Manners,
    private readonly trans: TranslationBundle,
    ways: Ways
  ) {
    super();
    this.addClass('jtc-side');
    // Asked for before the style sheet has come: the shell measures a panel when it is added.
    this.node.style.minWidth = '320px';
    this.pane = new Pane(open, manners);
    this.bar = new Bar(trans, ways, id => this.choose(id));
    this.addWidget(this.bar);
    this.addWidget(this.pane);
  }

  /** From now on the newest session of this notebook is shown. */
  follow(notebook: NotebookPanel | null): void {
    if (notebook !== this.notebook) this.chosen = '';
    this.notebook = notebook;
    this.watching?.dispose();
    this.watching = notebook ? watch(notebook, () => this.refresh()) : null;
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
    this.bar.showFound(notebook, found, model ? sessionsIn(model) : [], chosen !== null);
    this.pane.showFound(notebook, found, nothingIn(notebook, this.trans));
  }
}

/** Which session it is, and the ways from it. */
class Bar extends Widget {
  private readonly list: HTMLSelectElement;
  private at: { notebook: NotebookPanel; found: Found } | null = null;

  constructor(
    private readonly trans: TranslationBundle,
    ways: Ways,
    choose: (id: string) => void
  ) {
    super();
    this.addClass('jtc-sidebar');
    this.list = h('select', { 'aria-label': trans.__('Session'), class: 'jp-mod-styled' });
    this.list.addEventListener('change', () => choose(this.list.value));
    const go = (way: Ways['openTab']) => (): void => void (this.at && way?.(this.at.notebook, this.at.found));
    const button = (text: string, way: Ways['openTab']): HTMLElement =>
      h('button', { type: 'button', class: 'jtc-way', onclick: go(way) }, text);
    this.node.append(this.list, button(trans.__('Show cell'), ways.showCell));
    if (ways.openTab) this.node.append(button(trans.__('Open in tab'), ways.openTab));
  }

  showFound(notebook: NotebookPanel | null, found: Found | null, all: readonly Found[], chosen: boolean): void {
    this.at = notebook && found ? { notebook, found } : null;
    this.setHidden(!this.at);
    this.fill([['', this.trans.__('Newest session')], ...all.map(one => [one.cell.id, titleOf(one.cell)] as const)]);
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
