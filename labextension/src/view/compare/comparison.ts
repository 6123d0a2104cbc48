/** A comparison of two branches: which branches, and their calls in pairs. */
import type { BranchRow, CallRow, ChangeRow, ComparisonRow, DifferenceRow, ObjectRow, PairRow } from '../../generated/contract';
import type { Model } from '../model';
import { needsDecision, type ViewState } from '../view_state';

export type SideName = 'left' | 'right';

export interface ObjectPair {
  readonly left: ObjectRow | null;
  readonly right: ObjectRow | null;
  readonly same: boolean;
  /** An earlier row shows how these two objects differ. */
  readonly repeated: boolean;
  /** How their values differ; null if not compared. */
  readonly values: DifferenceRow | null;
}

export interface CallPair {
  readonly left: CallRow | null;
  readonly right: CallRow | null;
  /** `later`: not run yet on the branch that goes on. */
  readonly kind: PairRow['kind'] | 'later';
  readonly changes: readonly ChangeRow[];
  readonly objects: readonly ObjectPair[];
}

/** The comparison of two branches, or until it arrives the one in the other order; null if neither was sent. */
function comparisonOf(model: Model, left: string, right: string): ComparisonRow | null {
  const sent = [...model.comparisons.values()];
  return sent.find(row => row.left === left && row.right === right) ?? sent.find(row => row.left === right && row.right === left) ?? null;
}

function pairOf(model: Model, row: PairRow): CallPair {
  const made = row.made ? [{ left: row.left, right: row.right, same: row.made === 'same', repeated: false }] : [];
  return {
    left: model.calls.get(row.left) ?? null,
    right: model.calls.get(row.right) ?? null,
    kind: row.kind,
    changes: row.changes,
    objects: [...made, ...row.objects].map(({ left, right, ...rest }) => ({
      ...rest,
      left: model.objects.get(left) ?? null,
      right: model.objects.get(right) ?? null,
      values: model.differences.get(`${left} ${right}`) ?? null
    }))
  };
}

const sharedPair = (call: CallRow): CallPair => ({ left: call, right: call, kind: 'shared', changes: [], objects: [] });

/** The calls of two branches in pairs; at an earlier step, the calls up to it. */
function pairsOf({ model, calls, isPast: past, step: at }: ViewState, comparison: ComparisonRow): CallPair[] {
  const others = comparison.pairs.map(row => pairOf(model, row));
  const isShown = ({ left, right }: CallPair): boolean =>
    (left !== null || right !== null) && (!past || [left, right].every(call => !call || call.step <= at));
  return [...calls.slice(0, comparison.shared).map(sharedPair), ...others.filter(isShown)];
}

const isOpen = (call: CallRow | null): boolean => !call || call.status === 'approved' || call.status === 'running' || needsDecision(call);

/** The pairs, with those that come after the last call that has ended on this side as `later`. */
function pairsBeforeEnd(pairs: readonly CallPair[], at: SideName): CallPair[] {
  const last = pairs.findLastIndex(pair => !isOpen(pair[at]));
  return pairs.map((pair, index) => (index > last ? { ...pair, kind: 'later', changes: [], objects: [] } : pair));
}

/** The change of this aspect between two calls; undefined for none. */
export const changeIn = (pair: CallPair, what: ChangeRow['what'], name = ''): ChangeRow | undefined =>
  pair.changes.find(change => change.what === what && change.name === name);

/** Returns whether a line differs, by its number (from 1). */
export function differsAt(change: ChangeRow | null | undefined, where: SideName): (number: number) => boolean {
  if (!change) return () => false;
  const numbers = new Set(change[where]);
  const all = change.left.length + change.right.length === 0;
  return number => all || numbers.has(number);
}

/** The id of the checked-out branch in rows and in the person's choice. */
const CURRENT = 'current';

export interface Side {
  readonly branch: BranchRow;
  /** On which side of the rows it stands: the person may have swapped the columns. */
  readonly at: SideName;
  readonly calls: readonly CallRow[];
  /** The reply text. */
  readonly text: string;
}

export interface Sides {
  readonly left: Side;
  readonly right: Side;
  /** Null if the comparison was not sent. */
  readonly comparison: ComparisonRow | null;
  readonly pairs: readonly CallPair[];
}

/** The branches that are not hidden. */
export const visibleBranches = (model: Model): BranchRow[] => [...model.branches.values()].filter(branch => !branch.hidden);

export const hiddenBranches = (model: Model): BranchRow[] => [...model.branches.values()].filter(branch => branch.hidden);

export const idOf = (branch: BranchRow): string => (branch.current ? CURRENT : branch.id);

/** The ids of the branches that the person chose; null if none or hidden. */
export function chosenBranches({ model, ui }: ViewState): readonly [string, string] | null {
  const known = visibleBranches(model).map(idOf);
  return known.includes(ui.leftBranch) && known.includes(ui.rightBranch) ? [ui.leftBranch, ui.rightBranch] : null;
}

/** The two compared branches: chosen by the person, or by default; null if unknown. */
export function comparedSides(view: ViewState): Sides | null {
  const { model, isPast: past } = view;
  const picked = chosenBranches(view);
  const unasked = [...model.comparisons.values()].find(row => row.unasked) ?? null;
  const comparison = picked ? comparisonOf(model, ...picked) : unasked;
  const [first, second] = picked ?? [unasked?.left, unasked?.right];
  const known = visibleBranches(model);
  const left = known.find(branch => idOf(branch) === first);
  const right = known.find(branch => idOf(branch) === second);
  if (!left || !right) return null;
  const isSwapped = comparison !== null && comparison.left !== first;
  const all = comparison ? pairsOf(view, comparison) : [];
  const goesOn = !past && model.session.phase !== 'finished' && left.current !== right.current;
  const pairs = goesOn ? pairsBeforeEnd(all, left.current === isSwapped ? 'right' : 'left') : all;
  const side = (branch: BranchRow, at: SideName): Side => ({
    branch,
    at,
    calls: pairs.flatMap(pair => pair[at] ?? []),
    text: past ? '' : branch.current ? model.session.text : branch.text
  });
  return { left: side(left, isSwapped ? 'right' : 'left'), right: side(right, isSwapped ? 'left' : 'right'), comparison, pairs };
}
