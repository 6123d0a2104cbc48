/** Layout of the graph: which nodes it has and where, and when they are placed again. */
import { incrementalMap } from '../incremental';
import { hasNoResult } from '../labels';
import { mainUse, nearObjects } from '../lineage';
import { drawnId, type Model } from '../model';
import type { FullCall, FullObject } from '../rows';
import type { ViewState } from '../view_state';
import { type Grid, LANE, NARROW, WIDE } from './edge_routes';
import { type Folds, foldsOf, groupFolds, isCallDrawn, stackLanes } from './folding';

/** The distance of parked nodes, in a wide and in a narrow panel. */
const ROOMY = 104;
const TIGHT = 96;

export interface Size {
  readonly width: number;
  readonly narrow: boolean;
}

export interface Spot {
  readonly key: string;
  readonly x: number;
  readonly y: number;
  /** The object; null for a call without a result and for a stack. */
  readonly object: FullObject | null;
  /** The call without a result; null for others. */
  readonly failedCall: FullCall | null;
  /** The objects of a folded run, in order. */
  readonly folded: readonly FullObject[];
  readonly stack: Stack | null;
  readonly parked: boolean;
}

/** Summary of a stack. */
interface Stack {
  /** The name of a group; empty for a run. */
  readonly name: string;
  /** How many calls made it. */
  readonly calls: number;
  /** How many more have no result. */
  readonly withoutResult: number;
  /** For each parent outside of the stack, an object that was made from it. */
  readonly first: readonly FullObject[];
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Layout {
  readonly spots: readonly Spot[];
  /** The spot of an object or of its stack; or of a call without a result. */
  readonly spotOf: (id: string) => Spot | undefined;
  readonly divider: number | null;
  readonly box: Box;
}

export const gridOf = ({ narrow }: Size): Grid => (narrow ? NARROW : WIDE);

const isParked = (view: ViewState, object: FullObject, used: () => ReadonlySet<string>): boolean =>
  object.role === 'output' ||
  (object.role === 'input' && (!object.used || (view.isPast && !used().has(object.id))));

/** Objects in the lineage, and unused inputs and open outputs parked at the right. */
interface PlacedAndParked {
  readonly placed: readonly FullObject[];
  readonly parked: readonly FullObject[];
}

function placedAndParked(view: ViewState): PlacedAndParked {
  let cache: ReadonlySet<string> | null = null;
  const used = (): ReadonlySet<string> =>
    (cache ??= new Set(view.calls.flatMap(call => call.uses.map(use => use.object))));
  const parked = view.objects.filter(object => isParked(view, object, used));
  if (parked.length === 0) return { placed: view.objects, parked };
  const apart = new Set(parked);
  return { placed: view.objects.filter(object => !apart.has(object)), parked };
}

/** Objects that appear inside a closed gap: each takes the next free place below. */
interface MovedSpots {
  readonly taken: Set<string>;
  /** Cells that belong to other objects. */
  readonly lent: Set<string>;
  readonly at: Map<string, Pick<Spot, 'x' | 'y'>>;
}

/** Positions that stay until something folds or unfolds. */
interface LayoutBase {
  readonly folds: Folds;
  readonly size: Size;
  readonly column: Axis;
  readonly lane: Axis;
  readonly spots: WeakMap<FullObject | FullCall, Spot>;
  readonly late: MovedSpots;
  readonly stacks: ReadonlyMap<string, Stack>;
  /** The lane of each stack. */
  readonly seats: ReadonlyMap<string, number>;
  /** The spots of objects that have a place. */
  readonly standing: (placed: readonly FullObject[]) => readonly Spot[];
}

/** Whether an object is drawn: in no stack, or as the first of one. */
const isDrawn = ({ stackOf, stacks }: Folds, { id }: FullObject): boolean => {
  const stack = stackOf.get(id);
  return stack === undefined || stacks.get(stack)?.[0]?.id === id;
};

function stacksOf(view: ViewState, folds: Folds, nothing: readonly FullCall[]): Map<string, Stack> {
  const lost = new Map<string, number>();
  for (const call of nothing) {
    const stack = folds.stackOf.get(mainUse(call)?.object ?? '');
    if (stack !== undefined) lost.set(stack, (lost.get(stack) ?? 0) + 1);
  }
  const stacks = new Map<string, Stack>();
  for (const [key, run] of folds.stacks) {
    const calls = new Set<string>();
    const first = new Map<string, FullObject>();
    for (const object of run) {
      if (object.call === '') continue;
      calls.add(object.call);
      const main = mainUse(view.model.calls.get(object.call))?.object ?? '';
      const from = folds.stackOf.get(main) ?? main;
      if (from !== key) first.set(from, object);
    }
    stacks.set(key, { name: folds.groupNames.get(key) ?? '', calls: calls.size, withoutResult: lost.get(key) ?? 0, first: [...first.values()] });
  }
  return stacks;
}

/** The base of the layout for the current objects. */
function* layoutBase(view: ViewState, placed: readonly FullObject[], folds: Folds, size: Size): Generator<void, LayoutBase> {
  const spots: LayoutBase['spots'] = new WeakMap();
  const standing = incrementalMap((object: FullObject) => objectSpot(base, object));
  const late: MovedSpots = { taken: new Set(), lent: new Set(), at: new Map() };
  const base: LayoutBase = { folds, size, spots, late, standing, ...(yield* axesOf(view, placed, folds)) };
  return base;
}

/** The axes without the folded gaps, and the stacks. */
function* axesOf(view: ViewState, placed: readonly FullObject[], folds: Folds): Generator<void, Pick<LayoutBase, 'column' | 'lane' | 'stacks' | 'seats'>> {
  if (folds.stackOf.size === 0) return { column: plainAxis(), lane: plainAxis(), stacks: new Map(), seats: new Map() };
  const drawn = placed.filter(object => isDrawn(folds, object));
  const nothing = view.calls.filter(hasNoResult);
  const lost = nothing.filter(call => isCallDrawn(call, folds));
  yield;
  const taken = stackLanes(view, folds, drawn, lost);
  const laneOf = (object: FullObject): number => taken.get(folds.stackOf.get(object.id) ?? '') ?? object.lane;
  yield;
  const column = compactAxis([...drawn, ...lost].map(cell => cell.column));
  const lane = compactAxis([...drawn.map(laneOf), ...lost.map(call => call.lane)]);
  yield;
  return { column, lane, stacks: stacksOf(view, folds, nothing), seats: taken };
}

/** The position of a cell; if it is in a gap or taken, the next free one below. */
function positionOf(base: LayoutBase, key: string, column: number, lane: number): Pick<Spot, 'x' | 'y'> {
  const known = base.late.at.get(key);
  if (known) return known;
  const { left, pitch } = gridOf(base.size);
  const own = { x: left + base.column.at(column) * pitch, y: base.lane.at(lane) * LANE };
  if (base.folds.stackOf.size === 0) return own;
  const { taken, lent, at } = base.late;
  const cell = (y: number): string => `${Math.round(own.x / pitch)} ${Math.round(y / LANE)}`;
  const isLate = base.column.inGap(column) || base.lane.inGap(lane) || lent.has(cell(own.y));
  let { y } = own;
  while (isLate && taken.has(cell(y))) y += LANE;
  taken.add(cell(y));
  if (!isLate) return own;
  lent.add(cell(y));
  at.set(key, { x: own.x, y });
  return { x: own.x, y };
}

function spotFor(base: LayoutBase, cell: FullObject | FullCall, what: Pick<Spot, 'key' | 'object' | 'failedCall' | 'folded' | 'stack'>): Spot {
  const known = base.spots.get(cell);
  if (known) return known;
  const spot = {
    ...what,
    ...positionOf(base, what.key, cell.column, base.seats.get(what.key) ?? cell.lane),
    parked: false
  };
  base.spots.set(cell, spot);
  return spot;
}

function objectSpot(base: LayoutBase, object: FullObject): Spot | null {
  if (!isDrawn(base.folds, object)) return null;
  const key = base.folds.stackOf.get(object.id);
  return key === undefined
    ? spotFor(base, object, { key: object.id, object, failedCall: null, folded: [], stack: null })
    : spotFor(base, object, {
        key,
        object: null,
        failedCall: null,
        folded: base.folds.stacks.get(key) ?? [],
        stack: base.stacks.get(key) ?? null
      });
}

const callSpot = (base: LayoutBase, call: FullCall): Spot =>
  spotFor(base, call, { key: `call:${call.id}`, object: null, failedCall: call, folded: [], stack: null });

const parkedSpot = (object: FullObject, x: number, y: number): Spot => ({
  key: object.id,
  x,
  y,
  object,
  failedCall: null,
  folded: [],
  stack: null,
  parked: true
});

/** The parked objects: in free places above the first lane if narrow, else at the right. */
function parkedSpots(view: ViewState, parked: readonly FullObject[], cells: readonly Spot[], size: Size) {
  if (parked.length === 0) return { spots: [], divider: null };
  const row = cells.filter(cell => Math.abs(cell.y) < LANE - 10);
  const end = Math.max(...row.map(cell => cell.x), -40) + (cells.some(cell => cell.object?.branch) ? 56 : 0) + (view.toGuess ? WIDE.pitch : 0);
  const above = new Set(cells.filter(cell => cell.y === -LANE).map(cell => cell.x));
  const free = [...new Set(cells.map(cell => cell.x))].sort((a, b) => a - b).filter(x => !above.has(x));
  const inputs = parked.filter(object => object.role === 'input');
  if (size.narrow && above.size > 0 && inputs.length <= free.length) {
    const seats = free.slice(-inputs.length);
    return { spots: inputs.map((object, index) => parkedSpot(object, seats[index] ?? 0, -LANE)), divider: null };
  }
  // Each has a fixed place, so that none moves when another one goes.
  const all = view.objects.filter(object => object.role === 'output' || object.role === 'input');
  const first = all.findIndex(object => parked.includes(object));
  const seats = all.slice(first);
  const steps = seats.length - 1;
  const roomy = end + 206 + steps * ROOMY <= size.width;
  const [gap, lead, step] = roomy ? [112, 52, ROOMY] : [76, 52, TIGHT];
  const divider = Math.max(end + gap, size.width - lead - step * steps - 50);
  const spots = parked.map(object => parkedSpot(object, divider + lead + seats.indexOf(object) * step, 0));
  return { spots, divider };
}

/** The box of all cells, with the channels around them. */
function boxOf(spots: readonly Spot[], { left: before }: Grid): Box {
  let [left, top, right, bottom] = [before, 0, 0, 0];
  for (const { x, y } of spots) {
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < top) top = y;
    if (y > bottom) bottom = y;
  }
  return { left: left - before, top: top - 68, right: right + 60, bottom: bottom + 68 };
}

/** The layout of everything that is drawn. */
function layoutOf(view: ViewState, base: LayoutBase, { placed, parked }: PlacedAndParked, size: Size): Layout {
  const spots: Spot[] = [...base.standing(placed)];
  const few = new Map<string, Spot>();
  const put = (one: Spot): void => {
    spots.push(one);
    few.set(one.key, one);
  };
  for (const call of view.calls) if (hasNoResult(call) && isCallDrawn(call, base.folds)) put(callSpot(base, call));
  const parkedLayout = parkedSpots(view, parked, spots, size);
  for (const one of parkedLayout.spots) put(one);
  const spotOf = (id: string): Spot | undefined => few.get(id) ?? spotOfObject(view, base, drawnId(view.model, id));
  return { spots, spotOf, divider: parkedLayout.divider, box: boxOf(spots, gridOf(size)) };
}

/** The spot of a placed object or of its stack. */
function spotOfObject(view: ViewState, base: LayoutBase, id: string): Spot | undefined {
  const [first] = base.folds.stacks.get(base.folds.stackOf.get(id) ?? '') ?? [];
  const object = first ?? view.model.objects.get(id);
  if (!object || object.role === 'output' || (view.isPast && object.step > view.step)) return undefined;
  return objectSpot(base, object) ?? undefined;
}

/** The spot of a call's object, of the call without a result, or of its input. */
export const spotOfCall = (layout: Layout, call: FullCall): Spot | undefined =>
  layout.spotOf(call.object) ?? layout.spotOf(`call:${call.id}`) ?? layout.spotOf(mainUse(call)?.object ?? '');

interface Axis {
  /** The position of a column or of a lane. */
  at(value: number): number;
  /** Whether it lies in a closed gap. */
  inGap(value: number): boolean;
}

const PLAIN_AXIS: Axis = { at: value => value, inGap: () => false };

/** The index in `known` of the last value up to `value`. */
function indexBelow(known: readonly number[], value: number): number {
  let [low, high] = [0, known.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((known[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** An axis on which gaps between these values are at most one wide; its first non-negative value is at 0. */
function compactAxis(values: Iterable<number>): Axis {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  const places: number[] = [];
  for (const [index, value] of sorted.entries()) {
    const before = sorted[index - 1];
    places.push(before === undefined ? 0 : (places[index - 1] ?? 0) + Math.min(1, value - before));
  }
  const origin = places[sorted.findIndex(value => value >= 0)] ?? (places.at(-1) ?? 0) + 1;
  return {
    at(value) {
      const index = indexBelow(sorted, value);
      const first = sorted[0] ?? 0;
      if (index < 0) return value - Math.min(0, first) - origin;
      const past = value - (sorted[index] ?? 0);
      const next = sorted[index + 1];
      return (places[index] ?? 0) - origin + (next === undefined ? past : Math.min(past, 1));
    },
    inGap(value) {
      const index = indexBelow(sorted, value);
      const [before, next] = [sorted[index], sorted[index + 1]];
      if (next === undefined || value === before) return false;
      return before === undefined ? value >= 0 : next - before > 1;
    }
  };
}

const plainAxis = (): Axis => PLAIN_AXIS;

/** The chosen object, if it is folded. */
function foldedChoice(view: ViewState, folds: Folds): string {
  const call = view.model.calls.get(view.chosen.call);
  const about = call && !view.model.objects.has(call.object) ? mainUse(call)?.object : view.chosen.object;
  return about && folds.stackOf.has(about) ? about : '';
}

/** A function that lays out the states of a panel in slices; what was placed stays where it is. */
export function graphLayout(): (view: ViewState, size: Size) => Generator<void, Layout> {
  let base: LayoutBase | null = null;
  let lastStamp: readonly unknown[] = [];
  let calls: Model['calls'] | null = null;
  let settled = 0;
  let pinned: ReadonlySet<string> = new Set();

  function* newBase(view: ViewState, placed: readonly FullObject[], size: Size): Generator<void, LayoutBase> {
    const { grouping, unfolded } = view.ui;
    settled = view.lastStep;
    const folds = yield* grouping ? groupFolds(view, placed, grouping, unfolded) : foldsOf(view, placed, { settled, pinned, unfolded });
    yield;
    return yield* layoutBase(view, placed, folds, size);
  }

  return function* (view, size) {
    const parts = placedAndParked(view);
    const whole = view.model.calls !== calls && view.model.lastUpdate === null;
    const stamp = [view.ui.unfolded, view.ui.grouping, view.isPast ? view.step : -1, size.narrow];
    const changed = stamp.some((part, index) => part !== lastStamp[index]);
    if (whole) pinned = new Set();
    if (whole || changed || !base) {
      // If this work is given up, the next one does it.
      base = null;
      base = yield* newBase(view, parts.placed, size);
    }
    [calls, lastStamp] = [view.model.calls, stamp];
    const away = view.followsNewest || view.ui.grouping ? '' : foldedChoice(view, base.folds);
    if (away) {
      pinned = nearObjects(view, away);
      base = yield* newBase(view, parts.placed, size);
    }
    yield;
    return layoutOf(view, base, parts, size);
  };
}
