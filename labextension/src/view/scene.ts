/** How objects and branches are called, and what is said of them in a line. Only pure functions live here. */
import type { Look } from './look';
import type { FullBranch, FullCall, FullObject, Model } from './rows';

export function branchNamed(model: Model, branch: string): FullBranch | undefined {
  return model.branches.get(branch) ?? [...model.branches.values()].find(row => row.name === branch);
}

export const branchName = (model: Model, branch: string): string => branchNamed(model, branch)?.name ?? branch;

export const currentBranch = (model: Model): FullBranch | undefined =>
  [...model.branches.values()].find(row => row.current);

/** The name of the output that it is saved as, as far as is known at the time looked at. */
export function savedAs(view: Look, object: FullObject): string {
  if (!object.saved || !view.past) return object.saved;
  const saving = view.calls.some(call => call.saves && call.uses.some(use => use.object === object.id));
  return saving ? object.saved : '';
}

function pendingState(status: FullCall['status'] | undefined): string {
  if (status === 'running') return 'being made';
  return status === 'unknown' ? 'outcome unknown' : 'not made yet';
}

/** What is said of an object that nothing was made from: calls may have read it all the same. */
function aside(view: Look, object: FullObject): string {
  const reader = view.calls.findLast(call => call.uses.some(use => use.object === object.id));
  return reader ? `read by ${reader.tool}` : 'not used yet';
}

/** One line under an object's name. */
export function stateOf(view: Look, object: FullObject, parked = false): string {
  const saved = savedAs(view, object);
  if (object.role === 'pending') return pendingState(view.model.calls.get(object.call)?.status);
  if (object.role === 'output') return 'still to save';
  if (parked) return aside(view, object);
  if (saved && object.branch === '') return `saved as ${saved}`;
  if (object.preview.caption) return object.preview.caption;
  return object.role === 'input' ? 'from the notebook' : '';
}
