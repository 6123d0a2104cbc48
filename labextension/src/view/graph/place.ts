/** Which nodes a graph has, and where. Only pure functions live here. */
import type { Look } from '../look';
import type { FullCall, FullObject } from '../rows';
import { standsAlone, type Folds } from './fold';
import { growing } from './growing';
import { closedUp, straight, type Axis } from './grid';
import { mainUse } from './lineage';
import { seats } from './seats';
import { cameToNothing } from './status';

export const TILE = 24;
export const ROW = 122;
/** How far what is parked stands apart, where there is room and where there is little. */
const ROOMY = 104;
const TIGHT = 88;

export interface Size {
  readonly width: number;
  readonly narrow: boolean;
}

export interface Spot {
  readonly key: string;
  readonly x: number;
  readonly y: number;
  /** The object, or none for a call that came to nothing and for a folded run. */
  readonly object: FullObject | null;
  /** The call that came to nothing, for which this stands. */
  readonly nothing: FullCall | null;
  /** The objects of a folded run, in order. */
  readonly folded: readonly FullObject[];
  readonly stack: Stack | null;
  readonly parked: boolean;
}

/** What is to be known of a folded run without looking through it. */
export interface Stack {
  /** How many calls made it. */
  readonly calls: number;
  /** How many more came to nothing. */
  readonly lost: number;
  /** The objects by which one comes into it: they continue what lies outside. */
  readonly enters: readonly FullObject[];
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Places {
  readonly spots: readonly Spot[];
  /** The spot that stands for an object: its own, or its stack's; for a call its own. */
  readonly spotOf: (id: string) => Spot | undefined;
  readonly divider: number | null;
  readonly box: Box;
}

export const pitch = (size: Size): number => (size.narrow ? 128 : 150);

const MARGIN = 72;

const isParked = (view: Look, object: FullObject, used: () => ReadonlySet<string>): boolean =>
  object.role === 'output' ||
  (object.role === 'input' && (!object.used || (view.past && !used().has(object.id))));

/** What has a place of its own, and what waits at the right. */
export interface Parted {
  readonly placed: readonly FullObject[];
  readonly parked: readonly FullObject[];
}

export function parted(view: Look): Parted {
  let cache: ReadonlySet<string> | null = null;
  const used = (): ReadonlySet<string> =>
    (cache ??= new Set(view.calls.flatMap(call => call.uses.map(use => use.object))));
  const parked = view.objects.filter(object => isParked(view, object, used));
  if (parked.length === 0) return { placed: view.objects, parked };
  const apart = new Set(parked);
  return { placed: view.objects.filter(object => !apart.has(object)), parked };
}

/** What came after something folded, to where the gap is closed: it stands in the next free place below. */
interface Late {
  readonly taken: Set<string>;
  /** Of these, the cells that belong by right to others. */
  readonly lent: Set<string>;
  readonly at: Map<string, Pick<Spot, 'x' | 'y'>>;
}

/** Where things stand that stand already: it holds until something folds or unfolds. */
export interface Ground {
  readonly folds: Folds;
  readonly size: Size;
  readonly column: Axis;
  readonly lane: Axis;
  readonly spots: WeakMap<FullObject | FullCall, Spot>;
  readonly late: Late;
  readonly stacks: ReadonlyMap<string, Stack>;
  /** The lane of each stack. */
  readonly seats: ReadonlyMap<string, number>;
  /** The spots of objects that have a place. */
  readonly standing: (placed: readonly FullObject[]) => readonly Spot[];
}

/** The first of a folded run has its place; before the one looked at, the last. */
const leads = (folds: Folds, object: FullObject): boolean => {
  const run = folds.stacks.get(folds.stackOf.get(object.id) ?? '');
  return run?.[0]?.id === object.id;
};

const isDrawn = (folds: Folds, object: FullObject): boolean =>
  folds.stackOf.has(object.id) ? leads(folds, object) : folds.only === null || folds.only.has(object.id);

function stacksOf(view: Look, folds: Folds, nothing: readonly FullCall[]): Map<string, Stack> {
  const lost = new Map<string, number>();
  for (const call of nothing) {
    const stack = folds.stackOf.get(mainUse(call)?.object ?? '');
    if (stack !== undefined) lost.set(stack, (lost.get(stack) ?? 0) + 1);
  }
  const found = new Map<string, Stack>();
  for (const [key, run] of folds.stacks) {
    const calls = new Set(run.filter(object => object.call !== '').map(object => object.call)).size;
    const main = (object: FullObject): string => mainUse(view.model.calls.get(object.call))?.object ?? '';
    const enters = run.filter(object => object.call !== '' && folds.stackOf.get(main(object)) !== key);
    found.set(key, { calls, lost: lost.get(key) ?? 0, enters });
  }
  return found;
}

/** The ground for what is there now. */
export function ground(view: Look, folds: Folds, size: Size): Ground {
  const spots: Ground['spots'] = new WeakMap();
  const standing = growing((object: FullObject) => objectSpot(on, object));
  const late: Late = { taken: new Set(), lent: new Set(), at: new Map() };
  const on: Ground = { folds, size, spots, late, standing, ...grid(view, folds) };
  return on;
}

/** The rows and columns that are taken, and what the stacks hold. */
function grid(view: Look, folds: Folds): Pick<Ground, 'column' | 'lane' | 'stacks' | 'seats'> {
  if (folds.stackOf.size === 0 && folds.only === null) return { column: straight(), lane: straight(), stacks: new Map(), seats: new Map() };
  const { placed } = parted(view);
  const drawn = placed.filter(object => isDrawn(folds, object));
  const nothing = view.calls.filter(cameToNothing);
  const lost = nothing.filter(call => standsAlone(call, folds));
  const taken = seats(view, folds, drawn, lost);
  const laneOf = (object: FullObject): number => taken.get(folds.stackOf.get(object.id) ?? '') ?? object.lane;
  const column = closedUp([...drawn, ...lost].map(cell => cell.column));
  const lane = closedUp([...drawn.map(laneOf), ...lost.map(call => call.lane)]);
  return { column, lane, stacks: stacksOf(view, folds, nothing), seats: taken };
}

/** The place of a cell: its own, or where that lies in a gap or is lent, the next free one below. */
function placeOf(on: Ground, key: string, column: number, lane: number): Pick<Spot, 'x' | 'y'> {
  const known = on.late.at.get(key);
  if (known) return known;
  const own = { x: MARGIN + on.column.at(column) * pitch(on.size), y: on.lane.at(lane) * ROW };
  if (on.folds.stackOf.size === 0) return own;
  const { taken, lent, at } = on.late;
  const cell = (y: number): string => `${Math.round(own.x / pitch(on.size))} ${Math.round(y / ROW)}`;
  const isLate = on.column.inGap(column) || on.lane.inGap(lane) || lent.has(cell(own.y));
  let { y } = own;
  while (isLate && taken.has(cell(y))) y += ROW;
  taken.add(cell(y));
  if (!isLate) return own;
  lent.add(cell(y));
  at.set(key, { x: own.x, y });
  return { x: own.x, y };
}

function spot(on: Ground, cell: FullObject | FullCall, what: Pick<Spot, 'key' | 'object' | 'nothing' | 'folded' | 'stack'>): Spot {
  const known = on.spots.get(cell);
  if (known) return known;
  const made = {
    ...what,
    ...placeOf(on, what.key, cell.column, on.seats.get(what.key) ?? cell.lane),
    parked: false
  };
  on.spots.set(cell, made);
  return made;
}

function objectSpot(on: Ground, object: FullObject): Spot | null {
  if (!isDrawn(on.folds, object)) return null;
  const key = on.folds.stackOf.get(object.id);
  return key === undefined
    ? spot(on, object, { key: object.id, object, nothing: null, folded: [], stack: null })
    : spot(on, object, {
        key,
        object: null,
        nothing: null,
        folded: on.folds.stacks.get(key) ?? [],
        stack: on.stacks.get(key) ?? null
      });
}

const nothingSpot = (on: Ground, call: FullCall): Spot =>
  spot(on, call, { key: `call:${call.id}`, object: null, nothing: call, folded: [], stack: null });

const parkedSpot = (object: FullObject, x: number, y: number): Spot => ({
  key: object.id,
  x,
  y,
  object,
  nothing: null,
  folded: [],
  stack: null,
  parked: true
});

/** Where what is parked stands: in free places above the line where it is narrow, else at the right. */
function park(view: Look, parked: readonly FullObject[], cells: readonly Spot[], size: Size) {
  if (parked.length === 0) return { spots: [], divider: null };
  const row = cells.filter(cell => Math.abs(cell.y) < ROW - 10);
  const end = Math.max(...row.map(cell => cell.x), -40) + (cells.some(cell => cell.object?.branch) ? 56 : 0);
  const above = new Set(cells.filter(cell => cell.y === -ROW).map(cell => cell.x));
  const free = [...new Set(cells.map(cell => cell.x))].sort((a, b) => a - b).filter(x => !above.has(x));
  const inputs = parked.filter(object => object.role === 'input');
  if (size.narrow && above.size > 0 && inputs.length <= free.length) {
    const seats = free.slice(-inputs.length);
    return { spots: inputs.map((object, index) => parkedSpot(object, seats[index] ?? 0, -ROW)), divider: null };
  }
  // A seat for each that could wait, so that none moves up when another one goes.
  const all = view.objects.filter(object => object.role === 'output' || object.role === 'input');
  const first = all.findIndex(object => parked.includes(object));
  const seats = all.slice(first);
  const steps = seats.length - 1;
  const roomy = end + 206 + steps * ROOMY <= size.width;
  const [gap, lead, step] = roomy ? [112, 48, ROOMY] : [76, 46, TIGHT];
  const divider = Math.max(end + gap, size.width - lead - step * steps - 50);
  const spots = parked.map(object => parkedSpot(object, divider + lead + seats.indexOf(object) * step, 0));
  return { spots, divider };
}

function boxOf(spots: readonly Spot[]): Box {
  let [left, top, right, bottom] = [MARGIN, 0, 0, 0];
  for (const { x, y } of spots) {
    if (x < left) left = x;
    if (x > right) right = x;
    if (y < top) top = y;
    if (y > bottom) bottom = y;
  }
  // Where nothing stands above the line its labels need less room.
  return { left: left - MARGIN, top: top - (top < 0 ? 64 : 84), right: right + 50, bottom: bottom + 76 };
}

/** The place of everything there is to draw. */
export function places(view: Look, on: Ground, { placed, parked }: Parted): Places {
  const spots: Spot[] = [...on.standing(placed)];
  const few = new Map<string, Spot>();
  const put = (one: Spot): void => {
    spots.push(one);
    few.set(one.key, one);
  };
  for (const call of view.calls) if (cameToNothing(call) && standsAlone(call, on.folds)) put(nothingSpot(on, call));
  const rest = on.folds.only === null ? park(view, parked, spots, on.size) : { spots: [], divider: null };
  for (const one of rest.spots) put(one);
  const spotOf = (id: string): Spot | undefined => few.get(id) ?? spotOfObject(view, on, id);
  return { spots, spotOf, divider: rest.divider, box: boxOf(spots) };
}

/** The spot of an object that has a place, or of the stack that it is in. */
function spotOfObject(view: Look, on: Ground, id: string): Spot | undefined {
  const [first] = on.folds.stacks.get(on.folds.stackOf.get(id) ?? '') ?? [];
  const object = first ?? view.model.objects.get(id);
  if (!object || object.role === 'output' || (view.past && object.step > view.at)) return undefined;
  return objectSpot(on, object) ?? undefined;
}

/** The spot of what a call made, or of where it came to nothing. */
export const spotOfCall = (found: Places, call: FullCall): Spot | undefined =>
  found.spotOf(call.object) ?? found.spotOf(`call:${call.id}`) ?? found.spotOf(mainUse(call)?.object ?? '');
