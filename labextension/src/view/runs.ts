/** Long runs fold to stacks, so that a thousand objects stay readable. Only pure functions live here. */
import type { Look } from './look';
import type { FullObject } from './rows';

const MANY = 60;
const KEEP = 3;
const CHUNK = 16;

/** For each object, the object whose edge of the main line leads to it. */
function mainParents(view: Look, placed: readonly FullObject[]): Map<string, string> {
  const parents = new Map<string, string>();
  for (const object of placed) {
    const uses = view.model.calls.get(object.call)?.uses ?? [];
    const main = uses.find(use => use.receiver) ?? uses[0];
    if (main && main.object !== object.id) parents.set(object.id, main.object);
  }
  return parents;
}

/** The runs of objects with one parent and at most one child, each in order. */
function runs(
  placed: readonly FullObject[],
  parents: ReadonlyMap<string, string>,
  keep: ReadonlySet<string>
): FullObject[][] {
  const children = new Map<string, number>();
  for (const parent of parents.values()) children.set(parent, (children.get(parent) ?? 0) + 1);
  const single = (object: FullObject): boolean =>
    object.role === 'made' &&
    !object.saved &&
    !keep.has(object.id) &&
    parents.has(object.id) &&
    (children.get(object.id) ?? 0) <= 1;
  const open = new Map<string, FullObject[]>();
  const found: FullObject[][] = [];
  for (const object of placed) {
    if (!single(object)) continue;
    const parent = parents.get(object.id) ?? '';
    const run = open.get(parent) ?? [];
    if (run.length === 0) found.push(run);
    run.push(object);
    open.delete(parent);
    open.set(object.id, run);
  }
  return found;
}

/** The chosen object and those up to two steps from it along the main line. */
function around(id: string, parents: ReadonlyMap<string, string>): Set<string> {
  let near = new Set([id]);
  for (let round = 0; round < 2; round++) {
    const wider = new Set(near);
    for (const pair of parents) if (pair.some(one => near.has(one))) pair.forEach(one => wider.add(one));
    near = wider;
  }
  return near;
}

/** The part of a run that folds: its newest objects stay, and the end of the fold moves in chunks. */
function foldable(run: readonly FullObject[], newest: FullObject | undefined): readonly FullObject[] {
  const growing = newest !== undefined && newest.step - (run.at(-1)?.step ?? 0) <= KEEP;
  return growing ? run.slice(0, Math.floor(Math.max(0, run.length - KEEP) / CHUNK) * CHUNK) : run;
}

/** The runs that fold, by the key of the stack that stands for them. */
export function stacks(view: Look, placed: readonly FullObject[]): Map<string, readonly FullObject[]> {
  if (placed.length <= MANY) return new Map();
  const parents = mainParents(view, placed);
  const keep = view.follow ? new Set<string>() : around(view.chosen.object, parents);
  const newest = placed.filter(object => object.branch === '').at(-1);
  const long = runs(placed, parents, keep).map(run => foldable(run, newest));
  const folded = long.filter(run => run.length >= KEEP && !view.ui.unfolded.has(`fold:${run[0]?.id ?? ''}`));
  return new Map(folded.map(run => [`fold:${run[0]?.id ?? ''}`, run]));
}
