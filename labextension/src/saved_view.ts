/**
 * A session as a notebook keeps it, read and shown. No kernel is needed, and nothing runs:
 * what is read here may come from anywhere, and is checked before it is shown.
 */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { JSONExt, type ReadonlyPartialJSONValue } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { Rows, VERSION } from './generated/contract';
import { PanelView } from './view';
import { h } from './view/dom';
import { applyNotice, EMPTY_MODEL } from './view/model';
import { isRecord, record, text } from './view/reader';
import { t, textBlock } from './view/text';

export const SESSION_TYPE = 'application/vnd.jupyter-toolcall.session+json';
/** In version 1 the rows of a notebook were objects, later JSON texts; up to version 2 it had no drawing, in version 3 another one. */
const READABLE: readonly unknown[] = [1, 2, 3, VERSION];

/** Shows one saved session, drawn when it is first seen: a hidden one costs nothing. */
export class SavedView extends Widget implements IRenderMime.IRenderer {
  private readonly _resizeObserver = new ResizeObserver(() => this._draw());
  private _read: (() => unknown) | null = null;
  private _data: unknown;
  private _view: PanelView | null = null;
  private _quiet = false;
  /** The shown session was not published by a kernel of this page. */
  private _saved = false;
  /** Jupyter has checked the notebook's signature: it was saved on this computer. */
  private _trusted = false;

  constructor(private readonly _side = false) {
    super();
    this.addClass('jtc-saved');
    this._resizeObserver.observe(this.node);
    publishedChanged.connect(this._recheckPublished, this);
  }

  /** Shows the session of an output when it becomes visible. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this._trusted = model.trusted;
    const about = model.metadata[SESSION_TYPE];
    // JupyterLab copies all data each time it is read.
    this._show(() => model.data[SESSION_TYPE], isRecord(about) && about.quiet === true);
  }

  /** With `quiet` only the result is shown, with a button for the session. */
  showData(data: unknown, quiet = false, trusted = this._trusted): void {
    this._trusted = trusted;
    this._show(() => data, quiet);
  }

  /** Shows what `read` returns, which is called when the session is drawn. */
  private _show(read: () => unknown, quiet: boolean): void {
    [this._read, this._quiet] = [read, quiet];
    this._clear();
    this._draw();
  }

  dispose(): void {
    if (this.isDisposed) return;
    publishedChanged.disconnect(this._recheckPublished, this);
    this._resizeObserver.disconnect();
    this._clear();
    super.dispose();
  }

  private _clear(): void {
    this._view?.dispose();
    this._view = null;
    this.node.replaceChildren();
  }

  private _draw(): void {
    if (this.node.hasChildNodes() || !this._read || !this.node.clientWidth) return;
    this._data = this._read();
    if (this._data === undefined) return;
    const saved = readSaved(this._data);
    if (typeof saved === 'string') this.node.append(h('p', 'jtc-says', saved));
    else if (this._quiet) this._showResult(saved);
    else this._showSession(saved);
  }

  /** The kernel publishes a saved session after its output exists; when the kernel ends, a saved copy is what is left. */
  private _recheckPublished(): void {
    if (!this._view || this._saved !== isPublished(this._data)) return;
    this._clear();
    this._draw();
  }

  private _showResult(rows: Rows): void {
    const { text, says } = applyNotice(EMPTY_MODEL, { type: 'whole', rows, live: false, version: VERSION }).session;
    const show = (): void => this.showData(this._data);
    const more = h('button', { type: 'button', class: 'jtc-way', onclick: show }, t('Show the session'));
    this.node.append(h('p', 'jtc-answer', textBlock(text || says)), more);
  }

  private _showSession(rows: Rows): void {
    try {
      this._saved = !isPublished(this._data);
      this._view = new PanelView(this.node, {
        live: false, side: this._side, saved: this._saved, copyText: copyText(this._saved, this._saved && !this._trusted)
      });
      this._view.update({ type: 'whole', rows, live: false, version: VERSION });
    } catch (error) {
      console.error(error);
      this._clear();
      this.node.append(h('p', 'jtc-says', damagedText(t('its rows are inconsistent'))));
    }
  }
}

/** Where a shown copy can continue; the cell of one that was published has just run. */
function copyText(saved: boolean, unchecked: boolean): string {
  if (unchecked) return t('Saved copy, not verified on this computer. Run the cell to continue.');
  return saved ? t('Saved copy. Run the cell to continue.') : t('A copy. Continue in the panel of the cell that started the session.');
}

/** The rows of a saved session, or a sentence that says why it cannot be shown. */
function readSaved(data: unknown): Rows | string {
  if (!isRecord(data)) return damagedText(t('it is not a JSON object'));
  const { version, rows } = data;
  if (!READABLE.includes(version))
    return typeof version === 'number'
      ? t(
        'This session was saved in format %1, but this jupyter-toolcall reads format %2. Install the version that saved it, or run the cell again.',
        version, VERSION
      )
      : damagedText(t('it has no format version'));
  if (!isRecord(rows)) return damagedText(t('it has no rows'));
  const wrong = Object.keys(Rows.rows).find(table => !isTable(rows[table]));
  if (wrong !== undefined) return damagedText(t('its %1 are not a list of rows', wrong));
  return version === VERSION ? rows : { ...rows, graph: [] };
}

function damagedText(why: string): string {
  return t('This saved tool-calling session cannot be shown: %1. Run its cell again to create it.', why);
}

/** An empty table may be left out. A text is parsed when its row is read. */
function isTable(value: unknown): boolean {
  const isRow = (row: unknown): boolean => typeof row === 'string' || (isRecord(row) && typeof row.id === 'string');
  return value === undefined || (Array.isArray(value) && value.every(isRow));
}

const PUBLISHED = new Map<string, ReadonlyPartialJSONValue>();
const MOST_PUBLISHED = 50;

/** Emitted when a kernel has published a session, and when that kernel ends. */
const publishedChanged = new Signal<typeof PUBLISHED, void>(PUBLISHED);

const POSITION = record({ journal: record({ parent: text.or(''), head: text }) });

/** The parent and the head of a saved session's journal, as a key; empty for invalid data. */
function positionOf(data: unknown): string {
  const saved = POSITION.read(data);
  return saved ? `${saved.journal.parent} ${saved.journal.head}` : '';
}

/** Records a session that a kernel of this page has published; returns its key. */
export function recordPublished(data: ReadonlyPartialJSONValue): string {
  const position = positionOf(data);
  if (!position) return '';
  PUBLISHED.delete(position);
  PUBLISHED.set(position, data);
  for (const old of [...PUBLISHED.keys()].slice(0, -MOST_PUBLISHED)) PUBLISHED.delete(old);
  publishedChanged.emit();
  return position;
}

/** Forgets the sessions that a kernel had published when it ends. */
export function forgetPublished(positions: Iterable<string>): void {
  for (const position of positions) PUBLISHED.delete(position);
  publishedChanged.emit();
}

/** Whether a kernel of this page has published exactly this session. */
function isPublished(data: unknown): boolean {
  const known = PUBLISHED.get(positionOf(data));
  return known !== undefined && JSONExt.deepEqual(known, data as ReadonlyPartialJSONValue);
}
