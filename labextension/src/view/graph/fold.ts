/**
 * What folds, so that a thousand objects stay readable. Only pure functions live here.
 *
 * A run of objects with one line through them becomes a stack; where that is not enough, so
 * does all that hangs together and is not worth a look by itself. Nothing that comes later
 * folds by itself: what stands keeps its place.
 */
import type { Look } from '../look';
import type { FullCall, FullObject } from '../rows';
import { around, childrenOf, mainParents, mainUse, parentsOf, reach } from './lineage';
import { cameToNothing } from './status';

/** So many nodes are shown as they are. */
export const MANY = 60;
/** More than so many are too many, though their runs are folded. */
const LOTS = 100;
const LEAST = 3;
const TAIL = 6;
const TROUBLES = 12;

export interface Folds {
  /** For each folded object, the key of the stack that stands for it. */
  readonly stackOf: ReadonlyMap<string, string>;
  readonly stacks: ReadonlyMap<string, readonly FullObject[]>;
  /** The only objects that are drawn, besides the stacks; null for all. */
  readonly only: ReadonlySet<string> | null;
}

export const UNFOLDED: Folds = { stackOf: new Map(), stacks: new Map(), only: null };

/** What a person, or a step that went wrong, keeps from folding. */
export interface Kept {
  readonly settled: number;
  readonly unfolded: ReadonlySet<string>;
  readonly pinned: ReadonlySet<string>;
}

const key = (run: readonly FullObject[]): string => `fold:${run[0]?.id ?? ''}`;

function foldsOf(runs: Iterable<readonly FullObject[]>, only: ReadonlySet<string> | null = null): Folds {
  const stacks = new Map<string, readonly FullObject[]>();
  const stackOf = new Map<string, string>();
  for (const run of runs) {
    stacks.set(key(run), run);
    for (const object of run) stackOf.set(object.id, key(run));
  }
  return { stackOf, stacks, only };
}

/** An object and what it came from along the main line, so many in all. */
function line(parents: ReadonlyMap<string, string>, from: string, length: number): string[] {
  const found: string[] = [];
  for (let id: string | undefined = from; id && found.length < length; id = parents.get(id)) found.push(id);
  return found;
}

/** The objects beside which something went otherwise than the model asked: the newest few, with what led there. */
function troubles(view: Look, parents: ReadonlyMap<string, string>): string[] {
  const found = view.calls.filter(call => cameToNothing(call) || call.status === 'answered' || call.edited);
  return found.slice(-TROUBLES).flatMap(call => [call.object, ...line(parents, mainUse(call)?.object ?? '', 3)]);
}

function keptBack(
  view: Look,
  placed: readonly FullObject[],
  parents: ReadonlyMap<string, string>,
  kept: Kept
): (object: FullObject) => boolean {
  const newest = placed.findLast(object => object.role === 'made' && object.branch === '');
  const end = line(parents, newest?.id ?? '', TAIL);
  const named = new Set([...end, ...troubles(view, parents), ...kept.pinned, ...kept.unfolded]);
  return object =>
    named.has(object.id) || object.saved !== '' || object.role === 'pending' || object.step > kept.settled;
}

/** The runs of objects that have a parent and at most one child, each in order. */
function runs(
  placed: readonly FullObject[],
  parents: ReadonlyMap<string, string>,
  stays: (object: FullObject) => boolean
): FullObject[][] {
  const children = new Map<string, number>();
  for (const parent of parents.values()) children.set(parent, (children.get(parent) ?? 0) + 1);
  const open = new Map<string, FullObject[]>();
  const found: FullObject[][] = [];
  for (const object of placed) {
    const parent = parents.get(object.id);
    if (parent === undefined || stays(object) || (children.get(object.id) ?? 0) > 1) continue;
    const run = open.get(parent) ?? [];
    if (run.length === 0) found.push(run);
    run.push(object);
    open.delete(parent);
    open.set(object.id, run);
  }
  return found;
}

/** What hangs together of all that does not stay; neighbours below one parent go together. */
function regions(
  placed: readonly FullObject[],
  parents: ReadonlyMap<string, string>,
  stays: (object: FullObject) => boolean
): FullObject[][] {
  const regionOf = new Map<string, FullObject[]>();
  const under = new Map<string, FullObject[]>();
  const found: FullObject[][] = [];
  for (const object of placed) {
    if (object.role === 'input' && object.lane < 0) continue;
    const parent = parents.get(object.id) ?? '';
    const seat = `${object.branch} ${parent}`;
    if (stays(object)) {
      under.delete(seat);
      continue;
    }
    let region = regionOf.get(parent) ?? under.get(seat);
    if (!region || region[0]?.branch !== object.branch) found.push((region = []));
    if (!regionOf.has(parent)) under.set(seat, region);
    region.push(object);
    regionOf.set(object.id, region);
  }
  return found;
}

/** Inputs that only folded calls use go into the stack of the first of them. */
function withInputs(view: Look, placed: readonly FullObject[], folds: Folds): Folds {
  if (folds.stackOf.size === 0) return folds;
  const first = new Map<string, string>();
  const shown = new Set<string>();
  for (const call of view.calls) {
    const stack = folds.stackOf.get(call.object);
    for (const use of call.uses) {
      if (stack === undefined) shown.add(use.object);
      else if (!first.has(use.object)) first.set(use.object, stack);
    }
  }
  const stackOf = new Map(folds.stackOf);
  for (const object of placed) {
    const stack = first.get(object.id);
    if (object.role === 'input' && object.lane < 0 && stack !== undefined && !shown.has(object.id))
      stackOf.set(object.id, stack);
  }
  return { ...folds, stackOf };
}

/** What folds of all that has a place. */
export function fold(view: Look, placed: readonly FullObject[], kept: Kept): Folds {
  if (placed.length <= MANY) return UNFOLDED;
  const parents = mainParents(view, placed);
  const stays = keptBack(view, placed, parents, kept);
  const long = (run: readonly FullObject[]): boolean => run.length >= LEAST;
  const lines = runs(placed, parents, stays).filter(long);
  const left = placed.length - lines.reduce((sum, run) => sum + run.length - 1, 0);
  const all = left <= LOTS ? lines : regions(placed, parents, stays).filter(long);
  return withInputs(view, placed, foldsOf(all));
}

/** Two levels before and behind one object, and what lies beyond as two stacks. */
export function focused(view: Look, placed: readonly FullObject[], id: string): Folds {
  const children = childrenOf(view);
  const near = around(view, id);
  const before = reach(id, of => parentsOf(view, of));
  const behind = reach(id, of => children.get(of) ?? []);
  const beyond = (side: ReadonlySet<string>): FullObject[] =>
    placed.filter(object => side.has(object.id) && !near.has(object.id));
  const sides = [beyond(before), beyond(behind)];
  const alone = sides.flatMap(side => (side.length === 1 ? side.map(object => object.id) : []));
  return foldsOf(sides.filter(side => side.length > 1), new Set([...near, ...alone]));
}

/** Whether a call that came to nothing is drawn, and not in a stack. */
export function standsAlone(call: FullCall, folds: Folds): boolean {
  const source = mainUse(call)?.object ?? '';
  return !folds.stackOf.has(source) && (folds.only === null || folds.only.has(source));
}
