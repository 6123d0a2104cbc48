/**
 * Which nodes a graph has, and where: folding of long runs, columns, what waits at the right.
 * Only pure functions live here; the kernel's columns and lanes are never changed, only closed up.
 */
import type { Look } from './look';
import type { FullCall, FullObject } from './rows';
import { stacks } from './runs';

export const TILE = 24;
const ROW = 122;
/** How far what is parked stands apart, where there is room and where there is little. */
const ROOMY = 89;
const TIGHT = 80;

export interface Size {
  readonly width: number;
  readonly narrow: boolean;
}

export interface Spot {
  readonly key: string;
  readonly x: number;
  readonly y: number;
  /** The object, or none for a failed call and for a folded run. */
  readonly object: FullObject | null;
  /** The failed call that this stands for. */
  readonly failed: FullCall | null;
  /** The objects of a folded run, in order. */
  readonly folded: readonly FullObject[];
  readonly parked: boolean;
}

export interface Places {
  readonly spots: readonly Spot[];
  /** The key of the spot that stands for an object: its own, or its stack's. */
  readonly spotOf: (object: string) => string;
  readonly stackOf: ReadonlyMap<string, string>;
  readonly divider: number | null;
  readonly width: number;
  readonly bottom: number;
}

export const pitch = (size: Size): number => (size.narrow ? 128 : 150);

const rowOf = (lane: number): number => lane * ROW + Math.min(0, lane) * 2;

/** The inputs that a known call uses. */
function usedAt(view: Look): Set<string> {
  return new Set(view.calls.flatMap(call => call.uses.map(use => use.object)));
}

function isParked(view: Look, used: () => Set<string>, object: FullObject): boolean {
  if (object.role === 'output') return true;
  if (object.role !== 'input') return false;
  return !object.used || (view.past && !used().has(object.id));
}

/** Inputs that only folded calls use go into the stack of the first of them. */
function foldInputs(view: Look, placed: readonly FullObject[], stackOf: Map<string, string>): void {
  if (stackOf.size === 0) return;
  const first = new Map<string, string>();
  for (const call of view.calls) {
    for (const use of call.uses) if (!first.has(use.object)) first.set(use.object, call.object);
  }
  for (const object of placed) {
    const stack = object.role === 'input' && object.lane < 0 ? stackOf.get(first.get(object.id) ?? '') : undefined;
    if (stack !== undefined) stackOf.set(object.id, stack);
  }
}

interface Cell {
  readonly key: string;
  readonly column: number;
  readonly lane: number;
  readonly object: FullObject | null;
  readonly failed: FullCall | null;
  readonly folded: readonly FullObject[];
}

const at = (column: number, lane: number): string => `${column} ${lane}`;

/** A failed call that made nothing stands beside its first object, under the main line. */
function failures(view: Look, objects: readonly FullObject[], stackOf: ReadonlyMap<string, string>): Cell[] {
  const failed = view.calls.filter(call => call.status === 'failed' && !view.model.objects.has(call.object));
  if (failed.length === 0) return [];
  const placed = new Map(objects.map(object => [object.id, object]));
  const taken = new Set(objects.map(object => at(object.column, object.lane)));
  const cells: Cell[] = [];
  for (const call of failed) {
    const source = (call.uses.find(use => use.receiver) ?? call.uses.find(use => placed.has(use.object)))?.object ?? '';
    const from = placed.get(source);
    if (!from || stackOf.has(source)) continue;
    const column = from.column + 1;
    let lane = Math.max(0, from.lane) + 1;
    while (taken.has(at(column, lane))) lane += 1;
    taken.add(at(column, lane));
    cells.push({ key: `call:${call.id}`, column, lane, object: null, failed: call, folded: [] });
  }
  return cells;
}

function cellsOf(view: Look, placed: readonly FullObject[]): { cells: Cell[]; stackOf: Map<string, string> } {
  const runs = stacks(view, placed);
  const stackOf = new Map<string, string>();
  for (const [key, run] of runs) for (const object of run) stackOf.set(object.id, key);
  foldInputs(view, placed, stackOf);
  const cells: Cell[] = [];
  for (const object of placed) {
    const stack = stackOf.get(object.id);
    const run = stack === undefined ? undefined : runs.get(stack);
    const { column, lane } = object;
    if (!stack) cells.push({ key: object.id, column, lane, object, failed: null, folded: [] });
    else if (run?.[0] === object) cells.push({ key: stack, column, lane, object: null, failed: null, folded: run });
  }
  cells.push(...failures(view, placed, stackOf));
  return { cells, stackOf };
}

/** Columns to places: as they are, or closed up where runs are folded. */
function columns(cells: readonly Cell[], closeUp: boolean): (column: number) => number {
  const known = [...new Set(cells.map(cell => cell.column))].sort((a, b) => a - b);
  if (!closeUp) {
    const first = known[0] ?? 0;
    return column => column - first;
  }
  const rank = new Map(known.map((column, index) => [column, index]));
  return column => rank.get(column) ?? 0;
}

/** Where what is parked stands: in free places above the line where it is narrow, else at the right. */
function park(
  parked: readonly FullObject[],
  cells: readonly Spot[],
  size: Size,
  y: (lane: number) => number
): { spots: Spot[]; divider: number | null } {
  if (parked.length === 0) return { spots: [], divider: null };
  const spot = (object: FullObject, x: number, row: number): Spot => ({
    key: object.id,
    x,
    y: row,
    object,
    failed: null,
    folded: [],
    parked: true
  });
  const row = cells.filter(cell => cell.y === y(0));
  const named = row.length < cells.length && cells.some(cell => cell.object?.branch) ? 40 : 0;
  const end = Math.max(...row.map(cell => cell.x), -40) + named;
  const above = new Set(cells.filter(cell => cell.y === y(-1)).map(cell => cell.x));
  const free = [...new Set(cells.map(cell => cell.x))].sort((a, b) => a - b).filter(x => !above.has(x));
  const inputs = parked.filter(object => object.role === 'input');
  if (size.narrow && above.size > 0 && inputs.length <= free.length) {
    const seats = free.slice(-inputs.length);
    return { spots: inputs.map((object, index) => spot(object, seats[index] ?? 0, y(-1))), divider: null };
  }
  const steps = parked.length - 1;
  const roomy = end + 206 + steps * ROOMY <= size.width;
  const [gap, first, step] = roomy ? [112, 44, ROOMY] : [72, 42, TIGHT];
  const divider = Math.max(end + gap, size.width - first - step * steps - 50);
  return { spots: parked.map((object, index) => spot(object, divider + first + index * step, y(0))), divider };
}

/** The place of everything there is to draw. */
export function places(view: Look, size: Size): Places {
  let cache: Set<string> | null = null;
  const used = (): Set<string> => (cache ??= usedAt(view));
  const parked = view.objects.filter(object => isParked(view, used, object));
  const placed = parked.length ? view.objects.filter(object => !isParked(view, used, object)) : view.objects;
  const { cells, stackOf } = cellsOf(view, placed);
  const top = Math.min(0, ...cells.map(cell => cell.lane));
  const column = columns(cells, stackOf.size > 0);
  const head = top < 0 ? 64 : 84;
  const y = (lane: number): number => head + rowOf(lane) - rowOf(top);
  const left = size.narrow ? 56 : 64;
  const spots = cells.map(cell => ({
    ...cell,
    x: left + column(cell.column) * pitch(size),
    y: y(cell.lane),
    parked: false
  }));
  const rest = park(parked, spots, size, y);
  const all = [...spots, ...rest.spots];
  const spotOf = (object: string): string => stackOf.get(object) ?? object;
  const right = Math.max(...all.map(spot => spot.x), 0) + 50;
  const bottom = Math.max(...all.map(spot => spot.y), y(0)) + 76;
  return { spots: all, spotOf, stackOf, divider: rest.divider, width: right, bottom };
}
