/** Folding of a large graph: which objects become a stack, and in which lane a stack stands. */
import { branchName, currentBranch, hasNoResult } from '../labels';
import { mainParents, mainUse } from '../lineage';
import type { FullCall, FullObject } from '../rows';
import type { Grouping, ViewState } from '../view_state';

/** Up to this many nodes nothing folds. */
const MOST_UNFOLDED = 60;
/** Above this many nodes, whole regions fold too. */
const MOST_NODES = 100;
const LEAST_RUN = 3;
const NEWEST_KEPT = 6;
const MOST_TROUBLES = 12;

export interface Folds {
  /** For each folded object, the key of the stack that stands for it. */
  readonly stackOf: ReadonlyMap<string, string>;
  readonly stacks: ReadonlyMap<string, readonly FullObject[]>;
  /** The names of stacks that stand for a group, by their keys. */
  readonly groupNames: ReadonlyMap<string, string>;
}

const UNFOLDED: Folds = { stackOf: new Map(), stacks: new Map(), groupNames: new Map() };

/** What stays unfolded. */
interface KeptOpen {
  readonly settled: number;
  readonly unfolded: ReadonlySet<string>;
  readonly pinned: ReadonlySet<string>;
}

const key = (run: readonly FullObject[]): string => `fold:${run[0]?.id ?? ''}`;

function foldsOfRuns(runs: Iterable<readonly FullObject[]>): Folds {
  const stacks = new Map<string, readonly FullObject[]>();
  const stackOf = new Map<string, string>();
  for (const run of runs) {
    const stack = key(run);
    stacks.set(stack, run);
    for (const object of run) stackOf.set(object.id, stack);
  }
  return { stackOf, stacks, groupNames: new Map() };
}

/** An object and its ancestors along the main line, `length` in all. */
function mainLine(parents: ReadonlyMap<string, string>, from: string, length: number): string[] {
  const ids: string[] = [];
  for (let id: string | undefined = from; id && ids.length < length; id = parents.get(id)) ids.push(id);
  return ids;
}

/** The newest objects at failed, answered and edited calls, with their last ancestors. */
function troubledObjects(view: ViewState, parents: ReadonlyMap<string, string>): string[] {
  const calls = view.calls.filter(call => hasNoResult(call) || call.status === 'answered' || call.edited);
  return calls.slice(-MOST_TROUBLES).flatMap(call => [call.object, ...mainLine(parents, mainUse(call)?.object ?? '', 3)]);
}

function staysOpen(
  view: ViewState,
  placed: readonly FullObject[],
  parents: ReadonlyMap<string, string>,
  kept: KeptOpen
): (object: FullObject) => boolean {
  const newest = placed.findLast(object => object.role === 'made' && object.branch === '');
  const end = mainLine(parents, newest?.id ?? '', NEWEST_KEPT);
  const named = new Set([...end, ...troubledObjects(view, parents), ...kept.pinned, ...kept.unfolded]);
  return object =>
    named.has(object.id) || object.saved !== '' || object.role === 'pending' || object.step > kept.settled;
}

/** Runs of objects with a parent and at most one child, in order. */
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

/** Connected objects that may fold; siblings fold together. */
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

/** Inputs that only folded calls use join the first of their stacks. */
function withInputs(view: ViewState, placed: readonly FullObject[], folds: Folds): Folds {
  const inputs = placed.filter(object => object.role === 'input' && object.lane < 0).map(object => object.id);
  if (folds.stackOf.size === 0 || inputs.length === 0) return folds;
  const apart = new Set(inputs);
  const first = new Map<string, string>();
  const shown = new Set<string>();
  for (const call of view.calls) {
    const stack = folds.stackOf.get(call.object);
    for (const use of call.uses) {
      if (!apart.has(use.object)) continue;
      if (stack === undefined) shown.add(use.object);
      else if (!first.has(use.object)) first.set(use.object, stack);
    }
  }
  const stackOf = new Map(folds.stackOf);
  for (const id of inputs) {
    const stack = first.get(id);
    if (stack !== undefined && !shown.has(id)) stackOf.set(id, stack);
  }
  return { ...folds, stackOf };
}

/** The folds of all placed objects, in slices. */
export function* foldsOf(view: ViewState, placed: readonly FullObject[], kept: KeptOpen): Generator<void, Folds> {
  if (placed.length <= MOST_UNFOLDED) return UNFOLDED;
  const parents = mainParents(view, placed);
  yield;
  const stays = staysOpen(view, placed, parents, kept);
  yield;
  const long = (run: readonly FullObject[]): boolean => run.length >= LEAST_RUN;
  const lines = runs(placed, parents, stays).filter(long);
  yield;
  const left = placed.length - lines.reduce((sum, run) => sum + run.length - 1, 0);
  const all = left <= MOST_NODES ? lines : regions(placed, parents, stays).filter(long);
  yield;
  const folds = foldsOfRuns(all);
  yield;
  return withInputs(view, placed, folds);
}

const GROUPS: Readonly<Record<Grouping, (view: ViewState, object: FullObject) => string>> = {
  branch: (_, { branch }) => branch,
  tool: ({ model }, { call }) => model.calls.get(call)?.tool ?? '',
  type: (_, { kind }) => kind
};

const groupName = ({ model }: ViewState, by: Grouping, group: string): string =>
  by !== 'branch' ? group : group ? branchName(model, group) : (currentBranch(model)?.name ?? 'main');

/** The made objects of each branch, of each tool, or of each type as one stack, in slices. */
export function* groupFolds(view: ViewState, placed: readonly FullObject[], by: Grouping, unfolded: ReadonlySet<string>): Generator<void, Folds> {
  const groups = new Map<string, FullObject[]>();
  for (const object of placed) {
    if (object.role !== 'made' || unfolded.has(object.id)) continue;
    const name = GROUPS[by](view, object);
    const group = groups.get(name);
    if (group) group.push(object);
    else groups.set(name, [object]);
  }
  yield;
  const large = [...groups].filter(([, group]) => group.length > 1);
  const folds = foldsOfRuns(large.map(([, group]) => group));
  yield;
  return { ...withInputs(view, placed, folds), groupNames: new Map(large.map(([name, group]) => [key(group), groupName(view, by, name)])) };
}

/** Whether a call without a result is drawn outside of stacks. */
export const isCallDrawn = (call: FullCall, folds: Folds): boolean => !folds.stackOf.has(mainUse(call)?.object ?? '');

type Cell = Pick<FullObject | FullCall, 'column' | 'lane'>;

const cellKey = ({ column, lane }: Cell): string => `${column} ${lane}`;

/** The lane of each stack: that of its successor, or of its first object if taken. */
export function stackLanes(view: ViewState, folds: Folds, drawn: readonly FullObject[], lost: readonly FullCall[]): ReadonlyMap<string, number> {
  const next = new Map<string, FullObject>();
  for (const object of drawn) {
    const stack = folds.stackOf.get(mainUse(view.model.calls.get(object.call))?.object ?? '');
    if (stack !== undefined && stack !== folds.stackOf.get(object.id)) next.set(stack, object);
  }
  const taken = new Set([...drawn.filter(object => !folds.stackOf.has(object.id)), ...lost].map(cellKey));
  const lanes = new Map<string, number>();
  for (const [key, [first]] of folds.stacks) {
    const after = next.get(key);
    const seat = first && after?.branch === first.branch ? { column: first.column, lane: after.lane } : first;
    const lane = first && seat && taken.has(cellKey(seat)) ? first.lane : (seat?.lane ?? 0);
    if (first) taken.add(cellKey({ column: first.column, lane }));
    lanes.set(key, lane);
  }
  return lanes;
}
