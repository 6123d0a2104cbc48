/**
 * A session as a notebook keeps it, read and shown. No kernel is needed, and nothing runs:
 * what is read here may come from anywhere, and is checked before it is shown.
 */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import { VERSION, type Rows, type Saved } from './generated/contract';
import { isTold, told } from './told';
import { EMPTY, fold, mount } from './view';
import { h } from './view/dom';
import { block } from './view/text';
import { trans } from './view/words';

export const SESSION = 'application/vnd.jupyter-toolcall.session+json';
const TABLES = ['session', 'calls', 'objects', 'tools', 'messages', 'branches'];

type View = ReturnType<typeof mount>;

/** Shows one saved session, drawn when it is first seen: a hidden one costs nothing. */
export class SavedView extends Widget implements IRenderMime.IRenderer {
  private readonly seen = new ResizeObserver(() => this.draw());
  private data: unknown;
  private view: View | null = null;
  private quiet = false;
  /** Nobody vouches for what is on show. */
  private unchecked = false;

  constructor(private readonly side = false) {
    super();
    this.addClass('jtc-saved');
    this.seen.observe(this.node);
    told.connect(this.recheck, this);
  }

  /** Resolves when the session of an output is on show, or waits to be seen. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const about = model.metadata[SESSION];
    this.showData(model.data[SESSION], isRecord(about) && about.quiet === true);
  }

  /** With `quiet` the result is shown alone, and the session where it is asked for. */
  showData(data: unknown, quiet = false): void {
    [this.data, this.quiet] = [data, quiet];
    this.clear();
    this.draw();
  }

  dispose(): void {
    if (this.isDisposed) return;
    told.disconnect(this.recheck, this);
    this.seen.disconnect();
    this.clear();
    super.dispose();
  }

  private clear(): void {
    this.view?.dispose();
    this.view = null;
    this.node.replaceChildren();
  }

  private draw(): void {
    if (this.node.hasChildNodes() || this.data === undefined || !this.node.clientWidth) return;
    const saved = readSaved(this.data);
    if (typeof saved === 'string') this.say(saved);
    else if (this.quiet) this.answer(saved);
    else this.mount(saved);
  }

  /** A kernel tells what it saves after the output is there. */
  private recheck(): void {
    if (!this.view || !this.unchecked || !isTold(this.data)) return;
    this.clear();
    this.draw();
  }

  private answer({ rows }: Saved): void {
    const { text, says } = fold(EMPTY, { type: 'whole', rows, live: false, version: VERSION }).session;
    const show = (): void => this.showData(this.data);
    const more = h('button', { type: 'button', class: 'jtc-way', onclick: show }, trans.__('Show the session'));
    this.node.append(h('p', { class: 'jtc-answer' }, block(text || says)), more);
  }

  private mount({ rows, version }: Saved): void {
    try {
      this.unchecked = !isTold(this.data);
      this.view = mount(this.node, { live: false, side: this.side, unchecked: this.unchecked });
      this.view.update({ type: 'whole', rows, live: false, version });
    } catch (error) {
      console.error(error);
      this.clear();
      this.say(damaged('its rows do not fit together'));
    }
  }

  private say(line: string): void {
    const says = document.createElement('p');
    says.className = 'jtc-says';
    says.textContent = line;
    this.node.append(says);
  }
}

/** What the data says, or one line on why it cannot be shown. */
export function readSaved(data: unknown): Saved | string {
  if (!isRecord(data)) return damaged('it is no object');
  const { version, rows } = data;
  if (version !== VERSION)
    return typeof version === 'number'
      ? `This session was saved in format ${version}, and this jupyter-toolcall reads format ${VERSION}: install the version that wrote it.`
      : damaged('it has no version');
  if (!isRecord(rows)) return damaged('it has no rows');
  const wrong = TABLES.find(table => !isTable(rows[table]));
  if (wrong !== undefined) return damaged(`its ${wrong} are no list of rows`);
  return { version, rows: rows as Rows, journal: isRecord(data.journal) ? data.journal : {} };
}

function damaged(why: string): string {
  return `This saved tool-calling session cannot be shown: ${why}. Run its cell again to make it anew.`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A table that has no rows may be left out. */
function isTable(value: unknown): boolean {
  const isRow = (row: unknown): boolean => isRecord(row) && typeof row.id === 'string';
  return value === undefined || (Array.isArray(value) && value.every(isRow));
}
