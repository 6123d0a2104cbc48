/** What stands in a tile: a drawing, a picture, the head of a table, the first words of a text. */
import { h, picture, s } from '../dom';
import { glyph, sign } from '../icons';
import type { FullPreview } from '../rows';
import { clip, line } from '../text';
import type { Node } from './words';

const HALF = 21;
const LINES = 4;
/** A type size, and how many signs and lines of it a tile holds. */
interface Type {
  readonly size: number;
  readonly signs: number;
  readonly lines: number;
}
/** The largest first: few words are written large. */
const TYPES: readonly Type[] = [
  { size: 11, signs: 6, lines: 3 },
  { size: 9, signs: 7, lines: 3 },
  { size: 8, signs: 8, lines: 4 },
  { size: 7, signs: 10, lines: LINES }
];

const drawn = (inside: SVGElement): SVGElement => s('g', { transform: 'translate(-17 -17) scale(1.4167)' }, inside);

/** Words on short lines; a word that is too long is cut. */
export function short(text: string, lines: number, signs: number): readonly string[] {
  const found: string[] = [];
  for (const word of line(text, 200).split(/\s+|(?<=[,;:=(])/)) {
    const last = found.at(-1);
    if (last !== undefined && last.length + word.length < signs) found[found.length - 1] = `${last} ${word}`;
    else if (found.length < lines) found.push(clip(word, signs));
    else return [...found.slice(0, -1), clip(`${last ?? ''}…`, signs)];
  }
  return found;
}

const small = (text: string, x: number, y: number, look = 'small'): SVGElement => s('text', { class: look, x, y }, text);

const isWhole = (lines: readonly string[]): boolean => !lines.some(text => text.includes('…'));

/** Words as large as they fit whole, else as many as there is room for. */
function words(lay: (type: Type) => readonly string[]): SVGElement {
  const laid = TYPES.map(type => ({ type, lines: lay(type) }));
  const fits = laid.find(({ type, lines }) => lines.length <= type.lines && isWhole(lines)) ?? laid.at(-1);
  const { size = 0, lines = [] } = fits ? { size: fits.type.size, lines: fits.lines } : {};
  const high = size * 1.25;
  const top = -((lines.length - 1) * high) / 2 + size * 0.35;
  return s('g', {}, ...lines.map((text, row) => small(text, -HALF, top + row * high, `small s${size}`)));
}

/** The head of a table: two columns of names, and as many rows as there is room for. */
function table({ columns, cells }: FullPreview): SVGElement {
  const rows = [columns, ...cells].slice(0, LINES);
  const texts = rows.flatMap((row, number) =>
    row.slice(0, 2).map((cell, column) =>
      small(clip(line(cell, 40), 5), -HALF + column * 22.5, -12.5 + number * 10.5, number ? 'small' : 'small strong')
    )
  );
  return s('g', {}, s('path', { class: 'rule', d: `M${-HALF - 3} -9.500h48M0.500 -24v48` }), ...texts);
}

/** A text that only says where something lies in memory says nothing. */
const tells = (text: string): boolean => text !== '' && !/^<[\w.]+ object at 0x/.test(text);

function ofObject(preview: FullPreview): SVGElement {
  const href = picture(preview.image);
  if (preview.glyph.length > 0) return drawn(glyph(preview));
  if (href) {
    const box = { x: -20, y: -20, width: 40, height: 40, preserveAspectRatio: 'xMidYMid meet' };
    // A picture may have a ground of its own, or none: on a card both look meant.
    const card = s('rect', { class: 'card', x: -22, y: -22, width: 44, height: 44, rx: 6 });
    return s('g', {}, card, s('image', { href, class: 'thumb', ...box }));
  }
  if (preview.columns.length > 0) return table(preview);
  const fields = preview.fields.map(([name, value]) => line(`${name} ${value}`, 60)).slice(0, LINES);
  const [only] = fields;
  if (!preview.html && only !== undefined)
    return words(type => (fields.length > 1 ? fields.map(text => clip(text, type.signs)) : short(only, type.lines, type.signs)));
  return tells(preview.text) ? words(type => short(preview.text, type.lines, type.signs)) : drawn(sign('object'));
}

/** An object's tile in text, as it stands in the graph. */
export function tileOf(preview: FullPreview): HTMLElement {
  const drawing = s('svg', { class: 'g', viewBox: '-24 -24 48 48', 'aria-hidden': 'true' }, ofObject(preview));
  return h('span', { class: 'tc-thumb whole' }, drawing);
}

const SIGNS_OF: Readonly<Record<string, Parameters<typeof sign>[0]>> = {
  rejected: 'rejected',
  interrupted: 'interrupted',
  failed: 'failed'
};

/** What stands in a node's tile. */
export function inside(node: Node): SVGElement {
  const { object, nothing, folded } = node.spot;
  if (folded.length > 0) return s('text', { class: 'name', y: 4 }, node.name.split(' ')[0] ?? '');
  if (nothing) return drawn(sign(SIGNS_OF[nothing.status] ?? 'failed'));
  if (!object || object.role === 'output') return drawn(sign('flag'));
  if (object.role !== 'pending') return ofObject(object.preview);
  return drawn(sign(node.look === 'running' ? 'running' : 'next'));
}
