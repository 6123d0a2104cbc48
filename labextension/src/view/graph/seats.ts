/** In which row a stack stands: in that of what goes on from it, so that the line goes straight on. Only pure functions live here. */
import type { Look } from '../look';
import type { FullCall, FullObject } from '../rows';
import type { Folds } from './fold';
import { mainUse } from './lineage';

type Cell = Pick<FullObject | FullCall, 'column' | 'lane'>;

const at = ({ column, lane }: Cell): string => `${column} ${lane}`;

/** For each stack the lane that it stands in; that of its first where the other is taken. */
export function seats(view: Look, folds: Folds, drawn: readonly FullObject[], lost: readonly FullCall[]): ReadonlyMap<string, number> {
  const next = new Map<string, FullObject>();
  for (const object of drawn) {
    const stack = folds.stackOf.get(mainUse(view.model.calls.get(object.call))?.object ?? '');
    if (stack !== undefined && stack !== folds.stackOf.get(object.id)) next.set(stack, object);
  }
  const taken = new Set([...drawn.filter(object => !folds.stackOf.has(object.id)), ...lost].map(at));
  const found = new Map<string, number>();
  for (const [key, [first]] of folds.stacks) {
    const after = next.get(key);
    const seat = first && after?.branch === first.branch ? { column: first.column, lane: after.lane } : first;
    const lane = first && seat && taken.has(at(seat)) ? first.lane : (seat?.lane ?? 0);
    if (first) taken.add(at({ column: first.column, lane }));
    found.set(key, lane);
  }
  return found;
}
