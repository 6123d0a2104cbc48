/** Which two branches are compared, and what is known of it. Only pure functions live here. */
import type { Look } from '../look';
import type { FullBranch, FullCall, FullComparison, Model } from '../rows';
import { comparisonOf, pairsOf, type Pair } from './comparison';

/** How rows, and the person's choice, name the branch that is shown. */
export const CURRENT = 'current';

export interface Side {
  readonly branch: FullBranch;
  readonly calls: readonly FullCall[];
  /** What the model said last. */
  readonly text: string;
}

export interface Sides {
  readonly left: Side;
  readonly right: Side;
  /** Null where it was not told how they differ. */
  readonly comparison: FullComparison | null;
  readonly pairs: readonly Pair[];
}

/** The branches that can be compared: those in view. */
export const inView = (model: Model): FullBranch[] => [...model.branches.values()].filter(branch => !branch.hidden);

export const hidden = (model: Model): FullBranch[] => [...model.branches.values()].filter(branch => branch.hidden);

export const idOf = (branch: FullBranch): string => (branch.current ? CURRENT : branch.id);

/** The branches that the person chose, by their ids; null where they chose none that is in view. */
export function chosen({ model, ui }: Look): readonly [string, string] | null {
  const known = inView(model).map(idOf);
  return known.includes(ui.left) && known.includes(ui.right) ? [ui.left, ui.right] : null;
}

/** The two sides as the person chose them, or as they are compared unasked; null where nothing is told of that. */
export function sides(view: Look): Sides | null {
  const { model, past } = view;
  const picked = chosen(view);
  const unasked = [...model.comparisons.values()].find(row => row.unasked) ?? null;
  const comparison = picked ? comparisonOf(model, ...picked) : unasked;
  const [first, second] = picked ?? [unasked?.left, unasked?.right];
  const known = inView(model);
  const left = known.find(branch => idOf(branch) === first);
  const right = known.find(branch => idOf(branch) === second);
  if (!left || !right) return null;
  const pairs = comparison ? pairsOf(view, comparison) : [];
  const side = (branch: FullBranch, where: 'left' | 'right'): Side => ({
    branch,
    calls: pairs.flatMap(pair => pair[where] ?? []),
    text: past ? '' : branch.current ? model.session.text : branch.text
  });
  return { left: side(left, 'left'), right: side(right, 'right'), comparison, pairs };
}
