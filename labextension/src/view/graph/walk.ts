/** Where an arrow key leads: along the lineage, and where that ends to the nearest node. Only pure functions live here. */
import type { Look } from '../look';
import { mainUse } from './lineage';
import type { Places, Spot } from './place';

const DIRECTIONS = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1]
} as const;

export type Arrow = keyof typeof DIRECTIONS;

export const isArrow = (key: string): key is Arrow => key in DIRECTIONS;

/** The nearest spot in a direction; what stands aside counts as farther. */
export function nearest(spots: readonly Spot[], from: Spot, arrow: Arrow): Spot | undefined {
  const [dx, dy] = DIRECTIONS[arrow];
  let best: Spot | undefined;
  let least = Infinity;
  for (const spot of spots) {
    const [x, y] = [spot.x - from.x, spot.y - from.y];
    const along = x * dx + y * dy;
    const far = along > 0 ? along + 3 * Math.abs(x * dy - y * dx) : Infinity;
    if (far < least) [best, least] = [spot, far];
  }
  return best;
}

/** The spot of what this one continues. */
function before(view: Look, found: Places, from: Spot): Spot | undefined {
  const first = from.object ?? from.folded[0];
  const call = from.nothing ?? (first && view.model.calls.get(first.call));
  const use = mainUse(call);
  const spot = use && found.spotOf(use.object);
  return spot === from || spot?.parked ? undefined : spot;
}

/** The spot of what continues this one: on its own line before others. */
function behind(view: Look, found: Places, from: Spot): Spot | undefined {
  const own = new Set(from.object ? [from.object.id] : from.folded.map(object => object.id));
  const spots = found.spots.filter(({ object, folded }) => {
    const first = object ?? folded[0];
    const use = first && mainUse(view.model.calls.get(first.call));
    return use !== undefined && own.has(use.object) && !(object && own.has(object.id));
  });
  return spots.find(spot => spot.y === from.y && spot !== from) ?? spots.find(spot => spot !== from);
}

/** Where an arrow leads from here. */
export function walk(view: Look, found: Places, from: Spot, arrow: Arrow): Spot | undefined {
  const line =
    arrow === 'ArrowLeft' ? before(view, found, from) : arrow === 'ArrowRight' ? behind(view, found, from) : undefined;
  return line ?? nearest(found.spots, from, arrow);
}
