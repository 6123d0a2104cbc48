/**
 * Paths of edges. A path depends only on its two ends, so later nodes never change it.
 *
 * In the gap between two columns, edges run up and down at its left; the rest is for the
 * name of the tool. In the gap between two lanes, long edges run, and arguments
 * come down to their tile.
 */
import { pitch, ROW, type Size, type Spot } from './layout';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface EdgePath {
  readonly path: string;
  /** The arrow's head. */
  readonly head: string;
  /** The position of the label's last line. */
  readonly label: Point;
  readonly anchor: 'start' | 'middle' | 'end';
  /** The icon is on the horizontal part of the line. */
  readonly icon: Point | null;
}

const ROUND = 7;
/** Distance from a tile's centre to the ends of its edges, and to their turns. */
const TILE_EDGE = 32;
export const TURN = 42;
/** Above a tile's centre: where edges from far away begin. */
export const PORT = 46;
/** Above a tile's centre: the channel of long edges, below the texts of the lane above. */
const CHANNEL = 58;

const rightArrow = ({ x, y }: Point): string => `M${x} ${y}l-7 -3.5v7z`;
const downArrow = ({ x, y }: Point): string => `M${x} ${y}l-3.5 -7h7z`;

const toward = (from: Point, to: Point, by: number): Point => {
  const far = Math.hypot(to.x - from.x, to.y - from.y);
  const share = far === 0 ? 0 : Math.min(by, far / 2) / far;
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
};

const pointText = ({ x, y }: Point): string => `${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`;

/** A line through points, with rounded corners. */
function rounded(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let path = `M${pointText(first)}`;
  for (const [index, point] of rest.entries()) {
    const next = rest[index + 1];
    if (!next) path += `L${pointText(point)}`;
    else path += `L${pointText(toward(point, points[index] ?? first, ROUND))}Q${pointText(point)} ${pointText(toward(point, next, ROUND))}`;
  }
  return path;
}

const isSaved = (spot: Spot): boolean => (spot.object?.saved ?? '') !== '' && spot.object?.branch === '';

/** The path of a main edge between two tiles. */
export function mainPath(from: Spot, to: Spot, size: Size): EdgePath {
  const step = pitch(size);
  const end = to.x - TILE_EDGE - (isSaved(to) ? 4 : 0);
  const begin = from.x + TILE_EDGE + (from.folded.length ? 8 : 0);
  const tip = { x: end, y: to.y };
  const aside: Pick<EdgePath, 'label' | 'anchor' | 'icon'> = {
    label: { x: end + 2, y: to.y - 8 },
    anchor: 'end',
    icon: { x: end - 38, y: to.y }
  };
  if (from.x === to.x && from.y < to.y) {
    const head = { x: to.x, y: to.y - TILE_EDGE };
    const path = rounded([
      { x: to.x, y: from.y + 63 },
      { x: to.x, y: head.y - 6 }
    ]);
    return { path, head: downArrow(head), label: { x: to.x + 8, y: to.y - 40 }, anchor: 'start', icon: null };
  }
  const far = to.x - from.x > step * 1.5 || to.x <= from.x;
  const points: Point[] = [{ x: begin, y: from.y }];
  if (far) {
    const channel = to.y - CHANNEL;
    points.push({ x: from.x + TURN, y: from.y }, { x: from.x + TURN, y: channel });
    points.push({ x: to.x - step + TURN, y: channel }, { x: to.x - step + TURN, y: to.y });
  } else if (from.y !== to.y) points.push({ x: from.x + TURN, y: from.y }, { x: from.x + TURN, y: to.y });
  const path = rounded([...points, { x: end - 6, y: to.y }]);
  if (points.length > 1) return { path, head: rightArrow(tip), ...aside };
  const middle = { x: (begin + end) / 2, y: to.y };
  return { path, head: rightArrow(tip), label: { x: middle.x, y: to.y - 8 }, anchor: 'middle', icon: middle };
}

interface ArgumentPath {
  readonly path: string;
  readonly head: string;
}

/** How an argument's edge reaches its tile. */
export type ArgumentEntry = 'above' | 'corner' | 'aside' | 'far';

export function entryOf(from: Spot, to: Spot, size: Size): ArgumentEntry {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const near = Math.abs(Math.abs(dy) - ROW) < ROW / 4;
  if (dx === 0 && dy > 0 && near) return 'above';
  if (dx > 0 && dx <= pitch(size) * 1.1) {
    if (dy > 0 && near) return 'corner';
    if (dy < 0 && near) return 'aside';
  }
  return 'far';
}

/** The path of an argument's edge; one from far away is only its last part, with a port name. */
export function argumentPath(from: Spot, to: Spot, how: ArgumentEntry, shift = 0): ArgumentPath {
  const tip = { x: to.x + (how === 'corner' ? -14 : shift), y: to.y - TILE_EDGE };
  const low = { x: tip.x, y: tip.y - 6 };
  switch (how) {
    case 'above':
      return { path: rounded([{ x: to.x, y: from.y + 63 }, low]), head: downArrow(tip) };
    case 'corner': {
      const begin = { x: from.x + TILE_EDGE - 4, y: from.y };
      const path = `M${pointText(begin)}C${pointText({ x: from.x + 62, y: from.y })} ${pointText({ x: tip.x, y: from.y + 48 })} ${pointText(low)}`;
      return { path, head: downArrow(tip) };
    }
    case 'aside': {
      const end = { x: to.x - TILE_EDGE, y: to.y + 12 };
      const turn = to.x - TILE_EDGE - 12;
      const points = [
        { x: from.x + TILE_EDGE, y: from.y },
        { x: turn, y: from.y },
        { x: turn, y: end.y },
        { x: end.x - 6, y: end.y }
      ];
      return { path: rounded(points), head: rightArrow(end) };
    }
    case 'far':
      return { path: rounded([{ x: tip.x, y: to.y - PORT }, low]), head: downArrow(tip) };
  }
}
