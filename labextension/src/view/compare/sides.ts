/** The two branches that are compared, put together from rows. Only pure functions live here. */
import type { Look } from '../look';
import type { FullBranch, FullCall, Model } from '../rows';
import { currentBranch } from '../scene';

/** How a row, and the person's choice, name the branch that is shown. */
export const CURRENT = 'current';
const DEEP = 50;

export interface Side {
  readonly branch: FullBranch;
  /** Null where its calls are not told. */
  readonly calls: readonly FullCall[] | null;
  /** What the model said last. */
  readonly text: string;
}

export interface Sides {
  readonly left: Side;
  readonly right: Side;
}

/** The branches that can be compared: those in view. */
export const inView = (model: Model): FullBranch[] => [...model.branches.values()].filter(branch => !branch.hidden);

export const hidden = (model: Model): FullBranch[] => [...model.branches.values()].filter(branch => branch.hidden);

/** The rows that a branch alone has, by step. */
function own(model: Model, branch: FullBranch): Map<number, FullCall> {
  const found = new Map<number, FullCall>();
  for (const call of model.calls.values())
    if (call.branch !== '' && (call.branch === branch.id || call.branch === branch.name)) found.set(call.step, call);
  return found;
}

function base(model: Model, branch: FullBranch, shown: readonly FullCall[], deep: number): readonly FullCall[] | null {
  if (branch.shares === CURRENT) return shown;
  const before = model.branches.get(branch.shares);
  return before && deep < DEEP ? callsOf(model, before, shown, deep + 1) : null;
}

/** All calls of a branch by its own rows and those that it shares; null where they are not told. */
export function callsOf(
  model: Model,
  branch: FullBranch,
  shown: readonly FullCall[],
  deep = 0
): readonly FullCall[] | null {
  if (branch.current) return shown;
  const mine = own(model, branch);
  // A notebook of an older version says nothing of what is shared: what stands before is.
  const before = branch.shares ? base(model, branch, shown, deep) : mine.size ? shown : null;
  if (!before) return null;
  const first = Math.min(...mine.keys(), Infinity);
  const known = new Map(before.filter(call => branch.shares || call.step < first).map(call => [call.step, call]));
  const last = branch.calls || Math.max(...mine.keys());
  const steps = [...new Set([...known.keys(), ...mine.keys()])].filter(step => step <= last);
  return steps.sort((a, b) => a - b).flatMap(step => mine.get(step) ?? known.get(step) ?? []);
}

/** The branch that is compared with the shown one unasked: the one that it left, else the newest that is told. */
function unasked(model: Model, told: (branch: FullBranch) => boolean): FullBranch | undefined {
  const others = inView(model).filter(branch => !branch.current);
  const left = others.find(branch => branch.id === currentBranch(model)?.left);
  return (left && told(left) ? left : undefined) ?? others.filter(told).at(-1) ?? others.at(-1);
}

/** The two sides as the person chose them; null where there is but one branch. */
export function sides(view: Look): Sides | null {
  const { model, ui } = view;
  const known = inView(model);
  const mine = currentBranch(model);
  const shown = view.past ? [...model.calls.values()].filter(call => call.branch === '') : view.calls;
  const named = (id: string): FullBranch | undefined =>
    id === CURRENT ? mine : known.find(branch => branch.id === id);
  const right = named(ui.right) ?? mine;
  const left = named(ui.left) ?? unasked(model, branch => callsOf(model, branch, shown) !== null);
  if (!left || !right || known.length < 2) return null;
  const side = (branch: FullBranch): Side => {
    const calls = callsOf(model, branch, shown);
    const text = branch.current ? model.session.text : branch.text;
    return {
      branch,
      calls: calls && view.past ? calls.filter(call => call.step <= view.at) : calls,
      text: view.past ? '' : text
    };
  };
  return { left: side(left), right: side(right) };
}
