/**
 * The ways of edges. A way goes by its two ends alone: what comes later changes none.
 *
 * Between two columns there is a gap: at its left edges go up and down, the rest is for the
 * name of the tool. Between two lanes there is a gap too: there ways go far, and arguments
 * come down to their tile. Only pure functions live here.
 */
import { pitch, ROW, type Size, type Spot } from './place';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Way {
  readonly path: string;
  /** The arrow's head. */
  readonly head: string;
  /** Where the last line of a label stands. */
  readonly label: Point;
  readonly anchor: 'start' | 'middle' | 'end';
  /** The icon stands on the line, where it goes across. */
  readonly icon: Point | null;
}

const ROUND = 7;
/** From a tile's middle to where its edges begin and end, and to where they turn. */
const OUT = 32;
export const TURN = 42;
/** Above a tile's middle: where what comes from far away begins. */
export const PORT = 46;
/** Above a tile's middle: where ways go far, free of what is written under the lane above. */
const FAR = 58;

export const right = ({ x, y }: Point): string => `M${x} ${y}l-7 -3.5v7z`;
export const down = ({ x, y }: Point): string => `M${x} ${y}l-3.5 -7h7z`;

const toward = (from: Point, to: Point, by: number): Point => {
  const far = Math.hypot(to.x - from.x, to.y - from.y);
  const share = far === 0 ? 0 : Math.min(by, far / 2) / far;
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
};

const at = ({ x, y }: Point): string => `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;

/** A line through points, with rounded corners. */
export function rounded(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let path = `M${at(first)}`;
  for (const [index, point] of rest.entries()) {
    const next = rest[index + 1];
    if (!next) path += `L${at(point)}`;
    else path += `L${at(toward(point, points[index] ?? first, ROUND))}Q${at(point)} ${at(toward(point, next, ROUND))}`;
  }
  return path;
}

const isSaved = (spot: Spot): boolean => (spot.object?.saved ?? '') !== '' && spot.object?.branch === '';

/** The way of the main line, from one tile to the next. */
export function mainWay(from: Spot, to: Spot, size: Size): Way {
  const step = pitch(size);
  const end = to.x - OUT - (isSaved(to) ? 4 : 0);
  const begin = from.x + OUT + (from.folded.length ? 8 : 0);
  const tip = { x: end, y: to.y };
  const aside: Pick<Way, 'label' | 'anchor' | 'icon'> = {
    label: { x: end + 2, y: to.y - 8 },
    anchor: 'end',
    icon: { x: end - 38, y: to.y }
  };
  if (from.x === to.x && from.y < to.y) {
    const head = { x: to.x, y: to.y - OUT };
    const path = rounded([
      { x: to.x, y: from.y + 63 },
      { x: to.x, y: head.y - 6 }
    ]);
    return { path, head: down(head), label: { x: to.x + 8, y: to.y - 40 }, anchor: 'start', icon: null };
  }
  const far = to.x - from.x > step * 1.5 || to.x <= from.x;
  const points: Point[] = [{ x: begin, y: from.y }];
  if (far) {
    const channel = to.y - FAR;
    points.push({ x: from.x + TURN, y: from.y }, { x: from.x + TURN, y: channel });
    points.push({ x: to.x - step + TURN, y: channel }, { x: to.x - step + TURN, y: to.y });
  } else if (from.y !== to.y) points.push({ x: from.x + TURN, y: from.y }, { x: from.x + TURN, y: to.y });
  const path = rounded([...points, { x: end - 6, y: to.y }]);
  if (points.length > 1) return { path, head: right(tip), ...aside };
  const middle = { x: (begin + end) / 2, y: to.y };
  return { path, head: right(tip), label: { x: middle.x, y: to.y - 8 }, anchor: 'middle', icon: middle };
}

export interface Thin {
  readonly path: string;
  readonly head: string;
}

/** How an argument comes to its tile: straight from above, round a corner, or from far away. */
export type Comes = 'above' | 'corner' | 'aside' | 'far';

export function comes(from: Spot, to: Spot, size: Size): Comes {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const near = Math.abs(Math.abs(dy) - ROW) < ROW / 4;
  if (dx === 0 && dy > 0 && near) return 'above';
  if (dx > 0 && dx <= pitch(size) * 1.1) {
    if (dy > 0 && near) return 'corner';
    if (dy < 0 && near) return 'aside';
  }
  return 'far';
}

/** The thin line of an argument; one from far away is the end of a line that is named. */
export function thinWay(from: Spot, to: Spot, how: Comes, shift = 0): Thin {
  const tip = { x: to.x + (how === 'corner' ? -14 : shift), y: to.y - OUT };
  const low = { x: tip.x, y: tip.y - 6 };
  switch (how) {
    case 'above':
      return { path: rounded([{ x: to.x, y: from.y + 63 }, low]), head: down(tip) };
    case 'corner': {
      const begin = { x: from.x + OUT - 4, y: from.y };
      const path = `M${at(begin)}C${at({ x: from.x + 62, y: from.y })} ${at({ x: tip.x, y: from.y + 48 })} ${at(low)}`;
      return { path, head: down(tip) };
    }
    case 'aside': {
      const end = { x: to.x - OUT, y: to.y + 12 };
      const turn = to.x - OUT - 12;
      const points = [
        { x: from.x + OUT, y: from.y },
        { x: turn, y: from.y },
        { x: turn, y: end.y },
        { x: end.x - 6, y: end.y }
      ];
      return { path: rounded(points), head: right(end) };
    }
    case 'far':
      return { path: rounded([{ x: tip.x, y: to.y - PORT }, low]), head: down(tip) };
  }
}
