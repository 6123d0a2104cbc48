/** Objects and values of two branches side by side, with the differences marked. */
import type { ObjectRow, PartRow, Preview } from '../../generated/contract';
import { cellText, type Child, h, joined, marked, mutedText, scrollingTable, strongText } from '../dom';
import { table } from '../full_preview';
import { glyph, icon, picture, thumb } from '../icons';
import { clip, oneLine, t, visibleText } from '../text';
import type { ObjectPair, SideName } from './comparison';

const LINES = 60;

/** The lines of a text; differing lines are marked. */
export function textLines(text: string, differs: (number: number) => boolean): HTMLElement {
  const all = visibleText(text).split('\n').slice(0, LINES);
  return h('pre', 'tc-lines', ...all.flatMap((one, index) => lineOf(one, differs(index + 1))));
}

function lineOf(text: string, differs: boolean): Child[] {
  const shown = clip(text, 300) || ' ';
  return [h('span', 'ln', differs ? marked(shown) : shown)];
}

const wordsOf = (text: string): string[] => visibleText(text).match(/[\p{L}\p{N}.]+|[^\p{L}\p{N}.]/gu) ?? [];

/** How many words two lists begin with alike. */
function alike(one: readonly string[], other: readonly string[]): number {
  const differing = one.findIndex((word, index) => word !== other[index]);
  return differing < 0 ? one.length : differing;
}

/** A text with what differs from another one marked: all between the words with which both begin, and those with which both end. */
export function textBeside(text: string, other: string): HTMLElement {
  const [words, others] = [wordsOf(text), wordsOf(other)];
  const start = alike(words, others);
  const end = words.length - alike(words.slice(start).reverse(), others.slice(start).reverse());
  const parts = [words.slice(0, start), words.slice(start, end), words.slice(end)].map(part => part.join(''));
  return h('pre', 'tc-lines', h('span', 'ln', parts[0], parts[1] ? marked(parts[1]) : null, parts[2]));
}

const nameLabel = (name: string): Child => (name ? h('span', 'k', oneLine(name, 60)) : null);

/** Of the differences that a person opened or closed, which are open. */
const opened = new Map<string, boolean>();

/** The rows behind a summary; both sides open together. */
function openable(key: string, says: string, rows: Child, isOpen = false): HTMLElement {
  const toggle = (): void => {
    opened.set(key, element.open);
    for (const other of element.closest('[role=row]')?.querySelectorAll('details') ?? []) other.open = element.open;
  };
  const summary = h('summary', { key: key }, icon('down'), oneLine(says, 160));
  const element = h('details', { class: 'tc-more', open: opened.get(key) ?? isOpen, ontoggle: toggle }, summary, rows);
  return element;
}

/** Opens the differences of the first row that has any, and of saved results, unless a person has closed them. */
export function openFirst(rows: readonly HTMLElement[]): void {
  const first = rows.find(row => row.querySelector('details'));
  for (const element of rows.flatMap(row => [...row.querySelectorAll<HTMLDetailsElement>(row === first ? 'details' : '.saved details')]))
    element.open = opened.get(element.querySelector('summary')?.dataset.k ?? '') ?? true;
}

/** One side of a differing part: text, picture, lines, cells; what is of both sides stands on the last one. */
function partElement(one: PartRow, where: SideName, isLast: boolean, { id, name, preview }: ObjectRow, other: string): Child {
  if (one.cells.some(cell => !cell.left_at !== !cell.right_at)) return loneRows(one, where, id);
  const words = one[where];
  const hasText = one.left !== null || one.right !== null;
  const hasRows = one.cells.length > 0;
  const [cell, second] = one.cells;
  // The value of a single cell is seen without a click.
  const says = cell && !second ? `${cell.column}: ${cell[where] || t('empty')}` : t('%1, compared with %2', one.says, other);
  const [left = '', right = '', differing = ''] = one.images;
  const images = [where === 'left' ? left : right, isLast ? differing : ''];
  return h(
    'div', 'tc-partof', nameLabel(one.name),
    hasText ? (words === null ? h('span', 'muted', t('not there')) : words && marked(oneLine(words, 200))) : null,
    one.says && !hasRows && isLast ? mutedText(oneLine(one.says, 160)) : null,
    ...images.map((image, index) => picture(image, index ? t('Difference') : t('%1, a picture', name))),
    one.lines.length ? changedLines(one, where) : null,
    hasRows
      ? openable(
        `${where} ${id} ${one.name}`, says,
        showsAll(preview, one.cells, where) ? previewTable(preview, one.cells, where) : changedCells(one.cells, where)
      )
      : null
  );
}

function changedLines(one: PartRow, where: SideName): HTMLElement {
  const lines: Child[] = [];
  let before = 0;
  for (const { sign, left, right, left_at, right_at } of one.lines) {
    const at = where === 'left' ? left_at : right_at;
    const text = sign === 'same' ? left : where === 'left' ? left : right;
    if (at === 0) lines.push(h('span', 'ln muted', ' '));
    else {
      if (at > before + 1) lines.push(h('span', 'ln muted', '…'));
      lines.push(...lineOf(visibleText(text), sign !== 'same'));
      before = at;
    }
  }
  return h('pre', 'tc-lines', ...lines);
}

type Cells = PartRow['cells'];

/** Cells of a table, each in its row and its column. */
export function cellTable(cells: Cells, valueOf: (cell: Cells[number]) => Child[]): HTMLElement {
  const columns = [...new Set(cells.map(cell => cell.column))];
  // Two rows of a table may have one name.
  const rows = new Map<string, Cells[number][]>();
  for (const cell of cells) {
    const place = `${cell.left_at} ${cell.right_at} ${cell.row}`;
    rows.set(place, [...(rows.get(place) ?? []), cell]);
  }
  const heads = columns.map(name => h('th', { scope: 'col' }, oneLine(name, 24)));
  const body = [...rows.values()].map(row => {
    const values = columns.map(name => h('td', {}, ...row.filter(cell => cell.column === name).flatMap(valueOf)));
    return h('tr', {}, h('th', { scope: 'row' }, mutedText(oneLine(row[0]?.row ?? '', 24))), ...values);
  });
  return scrollingTable(t('Changed cells'), h('tr', {}, h('td'), ...heads), body);
}

const changedCells = (cells: Cells, where: SideName): HTMLElement =>
  cellTable(cells, ({ left, right }) => [marked(where === 'left' ? cellText(left, 60, right) : cellText(right, 60, left))]);

/** Rows that one of two tables alone has, or its first ones, on its side. */
function loneRows({ name, says, cells, unfolded }: PartRow, where: SideName, id: string): Child {
  if (!cells.some(cell => rowOf(cell, where))) return null;
  const rows = h('div', {}, cellTable(cells, cell => [cellText(cell[where], 24)]), says && mutedText(says));
  return openable(`${where} ${id} ${name}`, name, rows, unfolded);
}

/** A small table of an object with these cells marked; null for other objects. */
function previewTable(preview: Preview, changed: Cells, where: SideName): Child {
  if (preview.columns.length === 0) return null;
  const marks = new Set(changed.map(cell => `${rowOf(cell, where)} ${cell.column}`));
  const shown = table(preview, undefined, (row, column) => marks.has(`${row + 1} ${preview.columns[column] ?? ''}`));
  return h('div', {}, shown, mutedText(oneLine(preview.text)));
}

const rowOf = (cell: Cells[number], where: SideName): number => (where === 'left' ? cell.left_at : cell.right_at);

/** Whether the small table shows all these cells. */
const showsAll = (preview: Preview, cells: Cells, where: SideName): boolean =>
  cells.every(cell => {
    const row = rowOf(cell, where);
    return row > 0 && row <= preview.cells.length && preview.columns.includes(cell.column);
  });

/** The preview of an object whose values were not compared. */
function objectPreview(object: ObjectRow): Child[] {
  const { preview } = object;
  const fields = preview.fields.map(([name, value]) => h('div', 'tc-partof', nameLabel(name), oneLine(value, 80)));
  return [image(object), ...fields, previewTable(preview, [], 'left') ?? (preview.text && textLines(preview.text, () => false))];
}

const image = ({ name, preview }: ObjectRow): Child => picture(preview.image, t('%1, a picture', name));

/** The difference of an object on one side: its picture and its differing values. */
function body(pair: ObjectPair, where: SideName, isLast: boolean, isSaved: boolean, other: string): Child[] {
  const mine = pair[where];
  if (!mine || pair.same) return [];
  const { repeated, values } = pair;
  if (repeated && !isSaved) return [mutedText(t('the same difference as above'))];
  if (!pair.left || !pair.right) return objectPreview(mine);
  if (!values || values.unknown) return [
    ...objectPreview(mine), h('p', 'muted small', oneLine(values?.unknown || t('Only the first objects that differ are compared.'), 200))
  ];
  const { parts } = values;
  const told = parts.map(one => partElement(one, where, isLast, mine, other));
  const pictured = parts.some(one => one.images.some(Boolean)) || pair.left.preview.image === pair.right.preview.image;
  return [pictured ? null : image(mine), ...told];
}

/** An object on its side: tile, name, and its differences from the object of the other branch. */
export function objectElement(
  pair: ObjectPair, where: SideName, isLast: boolean, isSaved: boolean, chosen: boolean, names: Readonly<Record<SideName, string>>,
  choose: (object: ObjectRow) => void
): Child {
  const object = pair[where];
  if (!object) return pair.left || pair.right ? h('div', 'muted small', t('no object')) : null;
  // Two objects of one name are told apart by their branches.
  const isTwin = !pair.same && pair.left?.name === pair.right?.name;
  const otherSide = where === 'left' ? 'right' : 'left';
  const other = oneLine(isTwin ? names[otherSide] : pair[otherSide]?.name ?? '', 60);
  const caption = mutedText(oneLine(joined(' · ', isTwin && oneLine(names[where], 60), object.preview.caption || object.kind), 120));
  const mini = h(
    'button', { class: 'tc-mini', 'aria-pressed': String(chosen), key: `${where} object ${object.id}`, onclick: () => choose(object) },
    thumb(glyph(object.preview), true), strongText(oneLine(object.name, 80)), caption
  );
  return h('div', isSaved ? 'tc-madeof saved' : 'tc-madeof', mini, ...body(pair, where, isLast, isSaved, other));
}
