/** Objects and values of two branches, side by side, with what differs marked. */
import { common } from './align';
import { h, picture, type Child } from '../dom';
import type { Objects } from './differ';
import { glyph, thumb } from '../icons';
import type { FullObject, FullPart, FullPreview } from '../rows';
import { clip, line, seen } from '../text';

export type Where = 'left' | 'right';

export const marked = (text: string): HTMLElement => h('mark', {}, text);

const LINES = 60;

/** The lines of one of two texts: those that the other has not are marked. */
export function lines(mine: string, other: string): HTMLElement {
  const [own, theirs] = [mine, other].map(text => seen(text).split('\n').slice(0, LINES)) as [string[], string[]];
  const same = new Set(common(own, theirs).map(([index]) => index));
  return h('pre', { class: 'tc-lines' }, ...own.flatMap((text, index) => lineOf(text, !same.has(index))));
}

function lineOf(text: string, differs: boolean): Child[] {
  const shown = clip(text, 300) || ' ';
  return [h('span', { class: 'ln' }, differs ? marked(shown) : shown)];
}

const named = (name: string): Child => (name ? h('span', { class: 'k' }, line(name, 60)) : null);

/** One side of a part: its words, its picture, its lines, its cells. */
function part(one: FullPart, where: Where, alt: string): HTMLElement {
  const words = one[where];
  const src = picture(one.images[where === 'left' ? 0 : 1] ?? '');
  const told = one.left !== null || one.right !== null;
  return h(
    'div',
    { class: 'tc-partof' },
    named(one.name),
    told ? (words === null ? h('span', { class: 'muted' }, 'not there') : marked(line(words, 200))) : null,
    one.says ? h('span', { class: 'muted small' }, line(one.says, 160)) : null,
    src ? h('img', { class: 'tc-picture', src, alt }) : null,
    one.lines.length ? linesOf(one, where) : null,
    one.cells.length ? cellsOf(one, where) : null
  );
}

function linesOf(one: FullPart, where: Where): HTMLElement {
  const made: Child[] = [];
  let before = 0;
  for (const { sign, left, right, left_at, right_at } of one.lines) {
    const at = where === 'left' ? left_at : right_at;
    const text = sign === 'same' ? left : where === 'left' ? left : right;
    if (at === 0) made.push(h('span', { class: 'ln muted' }, ' '));
    else {
      if (at > before + 1) made.push(h('span', { class: 'ln muted' }, '…'));
      made.push(...lineOf(seen(text), sign !== 'same'));
      before = at;
    }
  }
  return h('pre', { class: 'tc-lines' }, ...made);
}

function cellsOf(one: FullPart, where: Where): HTMLElement {
  const head = h('tr', {}, h('th', { scope: 'col' }, 'row'), h('th', { scope: 'col' }, 'column'), h('th', { scope: 'col' }, 'value'));
  const rows = one.cells.map(cell =>
    h('tr', {}, h('td', {}, line(cell.row, 40)), h('td', {}, line(cell.column, 40)), h('td', {}, marked(line(cell[where], 60))))
  );
  return h('div', { class: 'tc-scroll', tabindex: 0 }, h('table', { class: 'tc-table' }, h('thead', {}, head), h('tbody', {}, ...rows)));
}

/** What a small picture of an object shows that the other's does not; nothing where they look alike. */
function unlike(mine: FullPreview, other: FullPreview | undefined, name: string): Child[] {
  const src = picture(mine.image);
  const image = src && src !== other?.image ? h('img', { class: 'tc-picture', src, alt: `${name}, a picture` }) : null;
  const theirs = new Map(other?.fields ?? []);
  const fields = mine.fields
    .filter(([field, value]) => theirs.get(field) !== value)
    .map(([field, value]) => h('div', { class: 'tc-partof' }, named(field), marked(line(value, 80))));
  const text = mine.text && mine.text !== other?.text && other ? lines(mine.text, other.text) : null;
  return [image, ...fields, table(mine, other), text].filter(one => one !== null);
}

function table(mine: FullPreview, other: FullPreview | undefined): Child {
  const same = JSON.stringify([mine.columns, mine.cells]) === JSON.stringify([other?.columns, other?.cells]);
  if (mine.columns.length === 0 || same) return null;
  const places = mine.columns.map(name => other?.columns.indexOf(name) ?? -1);
  const head = mine.columns.map((name, index) => h('th', { scope: 'col' }, other && places[index] === -1 ? marked(line(name, 24)) : line(name, 24)));
  const body = mine.cells.slice(0, 8).map((row, at) => {
    const cells = row.map((cell, index) => {
      const differs = other !== undefined && other.cells[at]?.[places[index] ?? -1] !== cell;
      return h('td', {}, differs ? marked(line(cell, 24)) : line(cell, 24));
    });
    return h('tr', {}, ...cells);
  });
  return h('div', { class: 'tc-scroll', tabindex: 0 }, h('table', { class: 'tc-table' }, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...body)));
}

const BEYOND = 'It differs beyond what is kept here.';
const ASKED = 'It differs beyond what is shown; the kernel is asked where.';

/** What is seen of a difference on one side: its picture, and its values where they are told. */
function body(pair: Objects, where: Where, live: boolean): Child[] {
  const [mine, other] = where === 'left' ? [pair.left, pair.right] : [pair.right, pair.left];
  if (!mine || pair.same) return [];
  const seenAlready = unlike(mine.preview, other?.preview, mine.name);
  if (pair.values?.unknown) return [...seenAlready, h('p', { class: 'muted small' }, line(pair.values.unknown, 200))];
  if (!pair.values)
    return seenAlready.length || !other ? seenAlready : [h('p', { class: 'muted small' }, live ? ASKED : BEYOND)];
  const { parts } = pair.values;
  const cells = parts.reduce((sum, one) => sum + one.cells.length, 0);
  const covers = marks(seenAlready, 'table') >= cells;
  const told = parts.map(one => part(covers ? { ...one, cells: [] } : one, where, `${mine.name}, a picture`));
  const images = parts.some(one => one.images.some(Boolean));
  return [...seenAlready.filter(one => (isTable(one) ? covers : isImage(one) && !images)), ...told];
}

const isTable = (one: Child): boolean => one instanceof HTMLElement && one.querySelector('table') !== null;

const isImage = (one: Child): boolean => one instanceof HTMLElement && one.tagName === 'IMG';

/** How many marks there are in what is seen of a kind. */
const marks = (seenAlready: readonly Child[], within: string): number =>
  seenAlready.reduce<number>(
    (sum, one) => sum + (one instanceof HTMLElement ? one.querySelectorAll(`${within} mark`).length : 0),
    0
  );

/** An object on its side: its tile, its name, and what differs from the one beside it. */
export function objectOf(pair: Objects, where: Where, live: boolean, chosen: boolean, choose: (object: FullObject) => void): Child {
  const object = pair[where];
  if (!object) return pair.left || pair.right ? h('div', { class: 'muted small' }, 'no such object') : null;
  const caption = h('span', { class: 'muted small' }, line(object.preview.caption || object.kind, 80));
  const mini = h(
    'button',
    { type: 'button', class: 'tc-mini', 'aria-pressed': String(chosen), 'data-k': `${where} object ${object.id}`, onclick: () => choose(object) },
    thumb(glyph(object.preview), true),
    h('span', { class: 'strong' }, line(object.name, 80)),
    caption
  );
  return h('div', { class: 'tc-madeof' }, mini, ...body(pair, where, live));
}
