/** Lineage: which objects an object was made from and went into, and where an arrow key leads. */
import type { Layout, Spot } from './graph/layout';
import { cached, rowsOf } from './incremental';
import { drawnId, type Model } from './model';
import type { FullCall, FullObject, FullUse } from './rows';
import type { ViewState } from './view_state';

type Tables = Pick<Model, 'objects' | 'calls'>;

/** The use with the main edge; undefined if the call used nothing. */
export const mainUse = (call: FullCall | undefined): FullUse | undefined =>
  call?.uses.find(use => use.receiver) ?? call?.uses[0];

/** For each object, its parent on the main line. */
export function mainParents(view: ViewState, objects: readonly FullObject[]): Map<string, string> {
  const parents = new Map<string, string>();
  for (const object of objects) {
    const main = object.call === '' ? undefined : mainUse(view.model.calls.get(object.call));
    if (main && main.object !== object.id) parents.set(object.id, drawnId(view.model, main.object));
  }
  return parents;
}

/** The objects that an object was made from directly. */
export function parentsOf(model: Tables, id: string): string[] {
  const object = model.objects.get(id);
  const call = object && model.calls.get(object.call);
  return call ? [...new Set(call.uses.map(use => drawnId(model, use.object)))].filter(other => other !== id) : [];
}

/** For each object of a session, the objects made from it directly. */
const childrenOf = cached(({ objects, calls }: Tables): ReadonlyMap<string, readonly string[]> => {
  const children = new Map<string, string[]>();
  for (const { id, call } of rowsOf(objects)) {
    if (call === '' || drawnId({ objects }, id) !== id) continue;
    for (const parent of parentsOf({ objects, calls }, id)) {
      const known = children.get(parent);
      if (known) known.push(id);
      else children.set(parent, [id]);
    }
  }
  return children;
});

/** The ids reachable from one, without itself, nearest first, up to a number of steps, and about `most` of them. */
export function reachable(from: string, step: (id: string) => readonly string[], steps = Infinity, most = Infinity): Set<string> {
  const ids = new Set<string>([from]);
  let front = [from];
  for (let taken = 0; taken < steps && front.length > 0 && ids.size <= most; taken++) {
    front = front.flatMap(step).filter(id => !ids.has(id) && ids.add(id));
  }
  ids.delete(from);
  return ids;
}

const objectsOf = (view: ViewState, ids: Iterable<string>): FullObject[] =>
  [...ids].flatMap(id => view.model.objects.get(id) ?? []);

/** Objects that a card names. */
export const MOST_NAMED = 1000;

/** The objects that an object was made from, nearest first; of very many about a thousand. */
export const ancestors = (view: ViewState, id: string): FullObject[] =>
  objectsOf(view, reachable(id, of => parentsOf(view.model, of), Infinity, MOST_NAMED));

/** The objects of the same branch that were made from an object, nearest first; of very many about a thousand. */
export const descendants = (view: ViewState, id: string): FullObject[] =>
  objectsOf(view, reachable(id, of => childrenOf(view.model).get(of) ?? [], Infinity, MOST_NAMED)).filter(
    ({ step, branch, role }) => step <= view.step && branch === view.model.objects.get(id)?.branch && role !== 'pending'
  );

/** The calls of the shown branch that use a result of a call, directly or through other calls; in order. */
export function dependentCalls({ model, calls }: ViewState, { id: from }: FullCall): FullCall[] {
  const makers = new Set([from]);
  return calls.filter(({ id, uses }) => uses.some(use => makers.has(model.objects.get(use.object)?.call ?? '')) && makers.add(id));
}

/** An object with everything that it was made from, and everything that was made from it. */
export function lineageOf({ model }: ViewState, id: string): ReadonlySet<string> {
  const [own, children] = [drawnId(model, id), childrenOf(model)];
  return new Set([own, ...reachable(own, of => parentsOf(model, of)), ...reachable(own, of => children.get(of) ?? [])]);
}

/** An object with the objects up to two steps before and after it. */
export function nearObjects({ model }: ViewState, id: string): Set<string> {
  return new Set([id, ...reachable(id, of => parentsOf(model, of), 2), ...reachable(id, of => childrenOf(model).get(of) ?? [], 2)]);
}

const DIRECTIONS = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1]
} as const;

type Arrow = keyof typeof DIRECTIONS;

export const isArrow = (key: string): key is Arrow => key in DIRECTIONS;

/** The nearest spot in a direction; sideways distance counts three times. */
function nearest(spots: readonly Spot[], from: Spot, arrow: Arrow): Spot | undefined {
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

/** The spot before this one on the main line. */
function spotBefore(view: ViewState, layout: Layout, from: Spot): Spot | undefined {
  const first = from.object ?? from.folded[0];
  const call = from.failedCall ?? (first && view.model.calls.get(first.call));
  const use = mainUse(call);
  const spot = use && layout.spotOf(use.object);
  return spot === from || spot?.parked ? undefined : spot;
}

/** The spot after this one, preferably on the same lane. */
function spotAfter(view: ViewState, layout: Layout, from: Spot): Spot | undefined {
  const own = new Set(from.object ? [from.object.id] : from.folded.map(object => object.id));
  const spots = layout.spots.filter(({ object, folded }) => {
    const first = object ?? folded[0];
    const use = first && mainUse(view.model.calls.get(first.call));
    return use !== undefined && own.has(use.object) && !(object && own.has(object.id));
  });
  return spots.find(spot => spot.y === from.y && spot !== from) ?? spots.find(spot => spot !== from);
}

/** The spot that an arrow key leads to. */
export function arrowTarget(view: ViewState, layout: Layout, from: Spot, arrow: Arrow): Spot | undefined {
  const line =
    arrow === 'ArrowLeft' ? spotBefore(view, layout, from) : arrow === 'ArrowRight' ? spotAfter(view, layout, from) : undefined;
  return line ?? nearest(layout.spots, from, arrow);
}
