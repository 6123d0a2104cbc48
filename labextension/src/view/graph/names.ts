/** Names beside boxes that are too small to hold them: as many as there is room for, the most important first. */
import { s, setChildren, whenChanged } from '../dom';
import { clip } from '../text';
import { type Box, boxOf, type Drawing, type Spot, stepOf } from './drawing';

/** On the screen, in pixels: the width of a letter, the height of a name, and its distance from a box. */
const [LETTER, HEIGHT, GAP] = [7, 14, 3];
/** Half the height of an object's box, in the measure of the drawing: a call's name stands clear of the boxes beside the call, too. */
const UP = 42;
const MOST_LETTERS = 20;

const meet = (a: Box, b: Box): boolean => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** The spots by importance: what is chosen, waits or failed, the newest, the ends of the drawing, then calls before objects. */
function byImportance({ spots, newest }: Drawing, chosen: string): readonly Spot[] {
  const rank = ({ key, node }: Spot): number =>
    [
      key === chosen, ['waits', 'running', 'failed'].includes(node.state) && node.kind === 'call', key === newest?.key,
      Boolean(node.flag || node.input || node.kind === 'earlier'), node.kind === 'call' && !node.muted, !node.muted, true
    ].indexOf(true);
  return [...spots].sort((a, b) => rank(a) - rank(b) || stepOf(b) - stepOf(a));
}

/** The boxes of names at a scale, in the measure of the drawing: above or below a node, over nothing but lines. */
export function namePlaces(drawing: Drawing, chosen: string, scale: number): readonly (readonly [Spot, Box])[] {
  const taken = drawing.spots.map(boxOf);
  return byImportance(drawing, chosen).flatMap((spot): [Spot, Box][] => {
    const [tile, high] = [boxOf(spot), HEIGHT / scale];
    const width = (clip(spot.node.label, MOST_LETTERS).length * LETTER) / scale;
    const lefts = [spot.x - width / 2, tile.left, tile.right - width].map(
      left => Math.max(drawing.box.left, Math.min(drawing.box.right - width, left))
    );
    const place = [spot.y - UP - GAP / scale - high, spot.y + UP + GAP / scale]
      .flatMap(top => lefts.map((left): Box => ({ left, top, right: left + width, bottom: top + high })))
      .find(box => !taken.some(other => meet(box, other)));
    if (place) taken.push(place);
    return place ? [[spot, place]] : [];
  });
}

export class Names {
  readonly element = s('g', { class: 'names', silent: 'true' });

  /** Shows the names for a scale; none where the boxes hold them, at 0. */
  readonly draw = whenChanged((drawing: Drawing, chosen: string, scale: number) => {
    const texts = (scale ? namePlaces(drawing, chosen, scale) : []).map(([{ key, node }, { left, right, top, bottom }]) =>
      s(
        'text', { class: node.muted ? 'pale' : key === chosen ? 'chosen' : node.kind, x: (left + right) / 2, y: (top + bottom) / 2, dy: '0.35em' },
        clip(node.label, MOST_LETTERS)
      )
    );
    setChildren(this.element, texts);
  });
}
