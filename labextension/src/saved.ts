/**
 * A session as a notebook keeps it, read and shown. No kernel is needed, and nothing runs:
 * what is read here may come from anywhere, and is checked before it is shown.
 */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';
import type { Rows, Saved } from './generated/contract';
import { mount } from './view';

export const SESSION = 'application/vnd.jupyter-toolcall.session+json';
const VERSION = 1;
const TABLES = ['session', 'calls', 'objects', 'tools', 'messages', 'branches'];

type View = ReturnType<typeof mount>;

/** Shows one saved session, drawn when it is first seen: a hidden one costs nothing. */
export class SavedView extends Widget implements IRenderMime.IRenderer {
  private readonly seen = new ResizeObserver(() => this.draw());
  private data: unknown;
  private view: View | null = null;

  constructor(private readonly side = false) {
    super();
    this.addClass('jtc-saved');
    this.seen.observe(this.node);
  }

  /** Resolves when the session of an output is on show, or waits to be seen. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this.showData(model.data[SESSION]);
  }

  showData(data: unknown): void {
    this.data = data;
    this.clear();
    this.draw();
  }

  dispose(): void {
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
    else this.mount(saved);
  }

  private mount({ rows, version }: Saved): void {
    try {
      this.view = mount(this.node, { live: false, side: this.side });
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
