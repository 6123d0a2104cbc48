/** The full preview of an object: picture, table, HTML or text. */
import type { CallRow, ObjectRow, Preview, ToolRow } from '../generated/contract';
import { cellText, type Child, h, joined, marked, mutedText, scrollingTable, scrollingText } from './dom';
import { button, picture } from './icons';
import { cleanMarkup } from './safe_markup';
import { definitionsOf } from './schema';
import { oneLine, t, textBlock, tn } from './text';
import type { PanelActions, ViewState } from './view_state';

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; form-action 'none'; base-uri 'none'; frame-src 'none'";

/** The document of a preview frame; it loads nothing but inline images and sounds. */
function framePage(html: string, ink: string, ground: string): string {
  const look = `html{color:${ink};background:${ground};font:13px/20px system-ui,sans-serif}body{margin:8px 12px;overflow-wrap:anywhere}table{border-collapse:collapse;font-size:12px}:is(th,td){padding:2px 8px;text-align:right}img,svg{max-width:100%}`;
  return `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><style>${look}</style><body>${cleanMarkup(html)}`;
}

const COLOUR = /^[#\w(), .%/-]{1,80}$/;

const colour = (value: string, standard: string): string => (COLOUR.test(value.trim()) ? value.trim() : standard);

/** HTML in a sandboxed frame: no scripts, no origin, no loading. */
function frame(name: string, html: string, place: Element): HTMLElement {
  const style = getComputedStyle(place);
  const [ink, ground] = [colour(style.color, '#000'), colour(style.getPropertyValue('--tc-bg'), '#fff')];
  const title = oneLine(t('%1, HTML view', name), 120);
  const srcdoc = framePage(html, ink, ground);
  const element = h('iframe', { class: 'tc-frame', sandbox: '', referrerpolicy: 'no-referrer', title, srcdoc });
  // The sandbox hides the height of the page, so it is estimated.
  element.style.height = `${heightOf(html)}px`;
  return element;
}

/** The estimated height of a page, in pixels. */
function heightOf(html: string): number {
  if (/<(img|svg|table|details)\b/i.test(html)) return 240;
  const blocks = html.match(/<(p|li|tr|br|h[1-6]|div|dt|dd|pre|hr)\b|\n/gi)?.length ?? 0;
  return Math.min(240, 48 + 26 * Math.max(blocks, html.length / 160));
}

/** Columns and rows of a table that are drawn. */
const [MOST_COLUMNS, MOST_ROWS] = [20, 500];

/** A cell that a kernel has written as a number, and a number or an empty cell of a column of numbers. */
const NUMBER = /^-?[\d.]+(e[-+]?\d+)?$/;
const NUMERIC = /^(-?[\d.]*(e[-+]?\d+)?…?|-?inf|nan|None|<NA>)$/;

/** Part of a table: the numbers of its rows and columns, and which of the columns a call names. */
interface Part {
  readonly rows: readonly number[];
  readonly columns: readonly number[];
  readonly named: readonly number[];
}

const numbered = (list: readonly unknown[], most: number): number[] => [...list.slice(0, most).keys()];

/** The rows of a table under their names: labels of pandas, or else places from 0. */
export function table(preview: Preview, part?: Part, isMarked: (row: number, column: number) => boolean = () => false): HTMLElement {
  const { rows, columns, named } = part ?? { rows: numbered(preview.cells, MOST_ROWS), columns: numbered(preview.columns, MOST_COLUMNS), named: [] };
  const look = columns.map(
    column => joined(' ', preview.cells.every(cells => NUMERIC.test(cells[column] ?? '')) && 'num', named.includes(column) && 'named')
  );
  const cell = (row: number, column: number, place: number): HTMLElement => {
    const text = preview.cells[row]?.[column] ?? '';
    const shown = text === '' ? mutedText(t('empty')) : cellText(text, 60);
    return h('td', look[place], isMarked(row, column) ? marked(shown) : shown);
  };
  const rowHead = (row: number): HTMLElement => {
    const name = preview.rows[row] ?? String(row);
    return h('th', { scope: 'row', class: NUMERIC.test(name) ? 'num' : undefined }, mutedText(oneLine(name, 24)));
  };
  const head = columns.map((column, place) => h('th', { scope: 'col', class: look[place] }, oneLine(preview.columns[column] ?? '', 60)));
  const body = rows.map(row => h('tr', {}, rowHead(row), ...columns.map((column, place) => cell(row, column, place))));
  return scrollingTable(t('Table'), h('tr', {}, h('td'), ...head), body);
}

/** All texts in a value, and the words in them. */
function wordsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value, ...value.slice(0, 500).split(/[^\p{L}\p{N}_]+/u)];
  return typeof value === 'object' && value !== null ? Object.entries(value).flatMap(([key, part]) => [key, ...wordsIn(part)]) : [];
}

/** A text as a kernel writes it in a table: in quotes if it has blanks that are not seen. */
const written = (text: string): string => (text === '' || /^[\s"]|\s$|\s\s|[^\S ]/.test(text) ? JSON.stringify(text) : text);

/** The columns of a table that a call names, or that its tool names as the defaults of what is left out. */
export function namedColumns({ arguments: passed }: CallRow, columns: readonly string[], tool?: ToolRow): number[] {
  const defaults = Object.entries(definitionsOf(tool?.parameters ?? {})).filter(([name]) => !(name in passed)).map(([, { default: value }]) => value);
  const words = new Set([...Object.values(passed), ...defaults].flatMap(wordsIn).map(written));
  return [...columns.keys()].filter(column => words.has(columns[column] ?? ''));
}

/** The columns of a table that have empty cells, and how many: those that the call names and those with the most, in order. */
export function emptyCells(call: CallRow, { empty_cells, empty_columns }: Preview, tool?: ToolRow): string {
  const named = namedColumns(call, empty_cells.map(([name]) => name), tool);
  const count = (column: number): number => Number(empty_cells[column]?.[1].replaceAll(',', ''));
  const most = [...empty_cells.keys()].sort((a, b) => count(b) - count(a));
  const first = [...new Set([...named, ...most])].slice(0, Math.max(4, named.length)).sort((a, b) => a - b);
  const others = empty_columns - first.length;
  const texts = first.map(column => oneLine(empty_cells[column]?.join(' ') ?? '', 40));
  return joined(', ', ...texts, others > 0 && tn('%1 more column', '%1 more columns', others));
}

/** The columns that a kernel sends of a table at most. */
export const MOST_SENT = 60;

/** A preview of a table with as many columns as there is one of. */
const largest = ({ model }: ViewState, { id, preview }: ObjectRow): Preview => model.fullPreviews.get(id) ?? preview;

/** The names of the columns of some tables. */
export const columnsOf = (view: ViewState, tables: readonly ObjectRow[]): string[] => [
  ...new Set(tables.flatMap(table => largest(view, table).columns).map(name => (/^".*"$/.test(name) ? String(JSON.parse(name)) : name)))
];

/** Whether the name of a parameter says that its value is a column. */
export const isColumnParameter = (name: string): boolean => /(^|_)col(umn)?s?$/i.test(name) && !/^(new|out|output|result|target)_/i.test(name);

/** A tool that adds a column gets the name of one that its table does not have yet. */
const ADDS = /(?<![a-z])(adds?|new|derives?|creates?|assigns?|renames?)(?![a-z])/i;

/** A sentence about a value that should be a column, where none of these tables has it; empty where one has it, or not all columns are here. */
export function missingColumn(view: ViewState, tool: ToolRow | undefined, parameter: string, value: unknown, tables: readonly ObjectRow[]): string {
  const [table, second] = tables;
  if (!table || !isColumnParameter(parameter) || ADDS.test(`${tool?.id} ${tool?.description}`)) return '';
  const isWhole = (one: ObjectRow): boolean => {
    const { columns, more } = largest(view, one);
    const all = !more || (view.model.fullPreviews.has(one.id) && columns.length < MOST_SENT);
    return all && columns.length > 0 && !columns.some(name => name.endsWith('…'));
  };
  const known = columnsOf(view, tables);
  const missing = (Array.isArray(value) ? value : [value]).find(name => typeof name === 'string' && name !== '' && !known.includes(name)) as unknown;
  if (missing === undefined || !tables.every(isWhole)) return '';
  const name = oneLine(String(missing), 60);
  return second ? t('No table of this call has a column %1', name) : t('%1 has no column %2', oneLine(table.name, 60), name);
}

/** How a text is written: letters, digits and signs, each run once. */
export const shapeOf = (text: string): string =>
  text.replace(/\p{L}+\.?/gu, 'a').replace(/\d+/g, '9').replace(/\s+/g, ' ').replace(/a(?: a)+/g, 'a');

/** Tells which values are rare: what most of the values have in common is shared by all but a few. */
export function rarity<T>(values: readonly T[]): (value: T) => boolean {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const isShared = Math.max(...counts.values()) * 3 >= values.length * 2;
  return value => isShared && (counts.get(value) ?? 0) * 4 <= values.length;
}

/**
 * The rows of a column that stand out, kind by kind: its largest and its smallest number, first the one that is farther from
 * the middle; one empty cell; texts with blanks that are not seen; cells of another type than most, or written in another way.
 */
function oddities(column: readonly string[]): number[][] {
  const rowsWith = (fits: (cell: string) => boolean): number[] => [...column.keys()].filter(row => fits(column[row] ?? ''));
  const numberAt = (row: number | undefined): number => Number(column[row ?? 0]);
  const numbers = rowsWith(cell => NUMBER.test(cell)).sort((a, b) => numberAt(a) - numberAt(b));
  const isNumeric = 2 * numbers.length > column.length;
  const middle = numberAt(numbers[numbers.length >> 1]);
  const ends = [...numbers.slice(0, 1), ...numbers.slice(-1)].sort((a, b) => Math.abs(numberAt(b) - middle) - Math.abs(numberAt(a) - middle));
  const isRareShape = rarity(column.filter(cell => cell !== '').map(shapeOf));
  return [
    isNumeric && numberAt(ends[0]) !== numberAt(ends[1]) ? ends : [],
    rowsWith(cell => cell === '').slice(0, 1),
    rowsWith(cell => cell.startsWith('"')),
    rowsWith(cell => cell !== '' && (isNumeric ? !NUMBER.test(cell) : isRareShape(shapeOf(cell))))
  ];
}

/** The first rows of a table that stand out in some columns, of each kind and column in turn. */
export function oddRows(cells: Preview['cells'], columns: readonly number[]): number[] {
  const lists = columns.flatMap(column => oddities(cells.map(row => row[column] ?? '')));
  const longest = Math.max(0, ...lists.map(list => list.length));
  return [...new Set(Array.from({ length: longest }, (_, place) => lists.flatMap(list => list[place] ?? [])).flat())];
}

/** Rows that are shown to who decides, and how many of them at most are the first ones of the table. */
const [SHOWN_ROWS, FIRST_ROWS] = [6, 2];
/** A table of more columns is wide. */
const FEW_COLUMNS = 5;

/** What a call is about in a table: the columns that it names, first in a wide table, and the rows that are odd in them, or all. */
function partFor(call: CallRow, { columns, cells }: Preview, isWhole: boolean, tool?: ToolRow): Part {
  const named = namedColumns(call, columns, tool);
  const others = numbered(columns, columns.length).filter(column => !named.includes(column));
  if (isWhole) return { rows: numbered(cells, MOST_ROWS), columns: [...named, ...others].slice(0, Math.max(MOST_SENT, named.length)), named };
  const odd = oddRows(cells, named);
  const first = numbered(cells, odd.length && cells.length > SHOWN_ROWS ? FIRST_ROWS : SHOWN_ROWS);
  const rows = [...new Set([...first, ...odd])].slice(0, SHOWN_ROWS).sort((a, b) => a - b);
  const shown = [...named, ...others].slice(0, Math.max(MOST_COLUMNS, named.length));
  // Columns that are all in sight keep their order.
  return { rows, columns: shown.length > FEW_COLUMNS ? shown : shown.sort((a, b) => a - b), named };
}

/** A value as a picture, a table or a text; markup is shown in a frame of its own. */
export function pictureOf(preview: Preview, name: string, place?: Element): Child {
  const image = preview.glyph.length === 0 && picture(preview.image, t('%1, a picture', name));
  if (image) return image;
  if (preview.columns.length > 0) return h('div', 'tc-tablepart', table(preview), mutedText(oneLine(preview.text)));
  if (preview.html && place) return frame(name, preview.html, place);
  return preview.text && (preview.fields.length === 0 || preview.text.length > 80)
    ? scrollingText(textBlock(preview.text, 20_000))
    : null;
}

/** The previews for which the full one was requested: a small image is not sharp in a card, a small table has not all that a call names. */
const requested = new WeakSet<Preview>();

/** Requests the full preview of an object, once. */
export function requestPreview({ live, model }: ViewState, { id, preview }: ObjectRow, acts: PanelActions): void {
  if (!live || !preview.more || model.fullPreviews.has(id) || requested.has(preview)) return;
  requested.add(preview);
  acts.request({ type: 'show_object', object: id });
}

/** The preview of an object, with a button for the full one. */
export function fullPreview(view: ViewState, object: ObjectRow, acts: PanelActions, place: Element): Child[] {
  const shown = view.model.fullPreviews.get(object.id);
  const isImage = object.preview.image !== '';
  if (isImage) requestPreview(view, object, acts);
  return [
    pictureOf(shown ?? object.preview, object.name, place),
    view.live && !shown && object.preview.more && !isImage
      ? button(t('Show all'), {
        look: 'small first', disabled: view.ui.commandSent, onclick: () => acts.send({ type: 'show_object', object: object.id })
      })
      : null
  ];
}

/** What a waiting call is about in a table, or all of it, with a button for the other. A value on a cluster (with a note) is not fetched unasked. */
export function previewForCall(
  view: ViewState, call: CallRow, object: ObjectRow, acts: PanelActions, isWhole: boolean, showOther: () => void
): Child[] {
  if (!object.note) requestPreview(view, object, acts);
  const preview = view.model.fullPreviews.get(object.id) ?? object.preview;
  const part = partFor(call, preview, isWhole, view.model.tools.get(call.tool));
  const isPart = isWhole || part.rows.length < preview.cells.length || preview.more;
  const names = part.named.map(column => oneLine(preview.columns[column] ?? '', 40));
  const isOdd = part.rows.some((row, place) => row !== place);
  return [
    h('div', isWhole ? 'tc-tablepart whole' : 'tc-tablepart', table(preview, part), isOdd ? mutedText(t('The first rows, and rows that stand out in %1', names.join(', '))) : null),
    isPart ? button(isWhole ? t('Show less') : t('Show all'), { look: 'small first', disabled: !view.live, onclick: showOther }) : null
  ];
}
