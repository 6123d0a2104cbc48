/** What stands in a tile: a drawing, a picture, the head of a table, the first words of a text. */
import { h, picture, s } from '../dom';
import { glyph, sign } from '../icons';
import type { FullPreview } from '../rows';
import { clip, line } from '../text';
import type { Node } from './words';

const HALF = 21;
const LINES = 4;
const SIGNS = 10;

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

function words(lines: readonly string[]): SVGElement {
  const top = -((lines.length - 1) * 9) / 2 + 2.5;
  return s('g', {}, ...lines.map((text, row) => small(text, -HALF, top + row * 9)));
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
    const box = { x: -22, y: -22, width: 44, height: 44, preserveAspectRatio: 'xMidYMid meet' };
    return s('image', { href, class: 'thumb', ...box });
  }
  if (preview.columns.length > 0) return table(preview);
  const fields = preview.fields.map(([name, value]) => `${name} ${value}`);
  if (!preview.html && fields.length > 0)
    return words(fields.slice(0, LINES).map(text => clip(line(text, 60), SIGNS)));
  return tells(preview.text) ? words(short(preview.text, LINES, SIGNS)) : drawn(sign('object'));
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
