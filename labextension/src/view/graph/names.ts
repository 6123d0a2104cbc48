/** Names of boxes that are too small to hold them: as many as there is room for, the most important first. */
import { s, setChildren, whenChanged } from '../dom';
import { clip } from '../text';
import { type Box, boxOf, type Drawing, type Spot, stepOf } from './drawing';

/** On the screen, in pixels: the width of a letter, the height of a name, and its distance from a box. */
const [LETTER, HEIGHT, GAP] = [7, 14, 3];
/** Half the height of an object's box, in the measure of the drawing: a call's name stands clear of the boxes beside the call, too. */
const UP = 42;
const MOST_LETTERS = 20;

const meet = (a: Box, b: Box): boolean => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** How important a spot is, the lowest first: what is chosen, waits or failed, the newest, the ends of the drawing, then calls before objects. */
const rankOf = ({ key, node }: Spot, chosen: string, newest?: Spot): number =>
  [
    key === chosen, ['waits', 'running', 'failed'].includes(node.state) && node.kind === 'call', key === newest?.key,
    Boolean(node.flag || node.input || node.kind === 'earlier'), node.kind === 'call' && !node.muted, !node.muted, true
  ].indexOf(true);

const wholeName = ({ node: { label } }: Spot): string => clip(label, MOST_LETTERS);
/** The number of a call or an object, where there is little room. */
const numberOf = (spot: Spot): string => /^\d+(?= )|#\d+$/.exec(spot.node.label)?.[0] ?? wholeName(spot);

/** Which names are placed one after the other, and up to which rank: those of many nodes, if only as numbers, before all of a few. */
const ROUNDS = [[wholeName, 3], [numberOf, 6], [wholeName, 6]] as const;

interface Name {
  readonly text: string;
  readonly box: Box;
  readonly isInside: boolean;
}

/** Names at a scale, in the measure of the drawing: above or below a node, over nothing but lines; a number inside of its own node. */
export function namePlaces(drawing: Drawing, chosen: string, scale: number): ReadonlyMap<Spot, Name> {
  const { spots, newest, box: { left: first, right: last } } = drawing;
  const [tiles, names, high] = [spots.map(boxOf), new Map<Spot, Name>(), HEIGHT / scale];
  const ranked = spots.map(spot => ({ spot, rank: rankOf(spot, chosen, newest) })).sort((a, b) => a.rank - b.rank || stepOf(b.spot) - stepOf(a.spot));
  for (const [textOf, most] of ROUNDS) for (const { spot, rank } of ranked) {
    const [tile, text] = [boxOf(spot), textOf(spot)];
    const before = names.get(spot);
    if (rank > most || (before && (textOf === numberOf || (before.isInside && spot.node.kind === 'object')))) continue;
    const width = (text.length * LETTER + GAP) / scale;
    const inside = { left: spot.x - width / 2, right: spot.x + width / 2, top: spot.y - high / 2, bottom: spot.y + high / 2 };
    const isInside = textOf === numberOf && width <= tile.right - tile.left && high <= 1.25 * (tile.bottom - tile.top);
    const lefts = [spot.x - width / 2, tile.left, tile.right - width].map(left => Math.max(first, Math.min(last - width, left)));
    const others = [...tiles, ...[...names].flatMap(([of, { box }]) => (of === spot ? [] : [box]))];
    const tops = [tile.top, spot.y - UP].flatMap(top => [top - GAP / scale - high, 2 * spot.y - top + GAP / scale]);
    const box = isInside ? inside : tops
      .flatMap(top => lefts.map((left): Box => ({ left, top, right: left + width, bottom: top + high })))
      .find(one => !others.some(other => meet(one, other)));
    if (box) names.set(spot, { text, box, isInside });
  }
  return names;
}

export class Names {
  readonly element = s('g', { class: 'names', silent: 'true' });

  /** Shows the names for a scale; none where the boxes hold them, at 0. */
  readonly draw = whenChanged((drawing: Drawing, chosen: string, scale: number) => {
    const texts = [...(scale ? namePlaces(drawing, chosen, scale) : [])].map(([{ key, node }, { text, box: { left, right, top, bottom } }]) =>
      s(
        'text', { class: node.muted ? 'pale' : key === chosen ? 'chosen' : node.kind, x: (left + right) / 2, y: (top + bottom) / 2, dy: '0.35em' }, text
      )
    );
    setChildren(this.element, texts);
  });
}
