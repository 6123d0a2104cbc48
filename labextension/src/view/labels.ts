/** Labels and icons of calls, objects and branches. */
import type { BranchRow, CallRow, ObjectRow, ToolRow } from '../generated/contract';
import { joined } from './dom';
import type { IconName } from './icons';
import { cached } from './incremental';
import type { Model } from './model';
import { formatDuration, oneLine, t, tableText } from './text';
import type { ViewState } from './view_state';

export function branchNamed(model: Model, branch: string): BranchRow | undefined {
  return model.branches.get(branch) ?? [...model.branches.values()].find(row => row.name === branch);
}

export const branchName = (model: Model, branch: string): string => branchNamed(model, branch)?.name ?? branch;

export const currentBranch = (model: Model): BranchRow | undefined =>
  [...model.branches.values()].find(row => row.current);

/** `Account#1 · alice`. */
export const nameText = ({ name, label }: ObjectRow): string => oneLine(label ? `${name} · ${label}` : name, 120);

/** Whether a value is the name of an object that a call uses there; `path` is an argument, or a place in one: `plates.0`. */
export const namesObject = ({ uses }: CallRow, path: string, value: unknown): value is string =>
  typeof value === 'string' && /^\w+#\d+$/.test(value) && uses.some(use => use.parameter === path);

/** The names of a call's arguments, in the order of the tool: a notebook file sorts the keys. */
export const argumentNames = (call: CallRow, tool: ToolRow | undefined): string[] =>
  [...new Set([...(tool?.order ?? []), ...Object.keys(call.arguments)])].filter(name => Object.hasOwn(call.arguments, name));

/** The output name that an object is saved as, at the shown step. */
export function savedName(view: ViewState, object: ObjectRow): string {
  if (!object.saved || !view.isPast) return object.saved;
  const saving = view.calls.some(call => call.saves && call.uses.some(use => use.object === object.id));
  return saving ? object.saved : '';
}

function pendingState(status: CallRow['status'] | undefined, progress: string): string {
  if (status === 'running') return progress || t('in progress');
  return status === 'unknown' || status === 'succeeded' ? t(CALL_LABELS[status].word) : t('not made yet');
}

/** One line under an object's name. */
export function objectState(view: ViewState, object: ObjectRow): string {
  const saved = savedName(view, object);
  if (object.role === 'pending') return pendingState(view.model.calls.get(object.call)?.status, object.preview.caption);
  if (object.role === 'output') return t('not saved yet');
  if (saved && object.branch === '') return t('saved as %1', saved);
  if (object.preview.caption) return object.preview.caption;
  return object.role === 'input' ? t('from the notebook') : '';
}

type Status = CallRow['status'];

interface CallLabel {
  readonly icon: IconName;
  readonly word: string;
}

const CALL_LABELS: Readonly<Record<Status, CallLabel>> = {
  proposed: { icon: 'wait', word: tableText('waits for you') },
  'input required': { icon: 'wait', word: tableText('asks you') },
  approved: { icon: 'run', word: tableText('will run') },
  running: { icon: 'run', word: tableText('running') },
  succeeded: { icon: 'done', word: tableText('done') },
  failed: { icon: 'failed', word: tableText('failed') },
  rejected: { icon: 'reject', word: tableText('rejected') },
  answered: { icon: 'person', word: tableText('answered by you') },
  interrupted: { icon: 'stop', word: tableText('interrupted') },
  unknown: { icon: 'warning', word: tableText('outcome unknown') }
};

/** The outcome of a call. */
export const callWord = ({ status, memory }: CallRow): string =>
  (status === 'approved' && memory ? t('will be repeated') : t(CALL_LABELS[status].word));

/** Where a result came from that no tool made here; "" for one that was made here. */
export function sourceWord(call: CallRow | undefined): string {
  if (!call?.memory || call.status === 'approved') return '';
  return call.inherited ? t('from before') : t('cached');
}

/** What a call is for. What `save` tells the model is no text for the person. */
export function purpose(call: CallRow, tool: ToolRow | undefined): string {
  return call.saves ? t('Saves the result as %1.', Object.keys(call.arguments).join(', ')) : (tool?.description ?? '');
}

/** The icon of a call in the list of steps. */
export function stepIcon(call: CallRow): IconName {
  if (call.status !== 'succeeded') return CALL_LABELS[call.status].icon;
  if (call.warning) return 'warning';
  if (call.memory) return 'memory';
  if (call.by_rule) return 'rule';
  return call.edited ? 'edited' : 'done';
}

/** What a person is warned of at a call, and what to do. */
export const warningText = ({ warning }: CallRow): string => (warning ? `${warning.text} ${warning.action}` : '');

/** The outcome of a call and how long it took, for the right end of its step; a warning does not hide that it ran. */
export function endText(call: CallRow): string {
  const took = sourceWord(call) || formatDuration(call.ms);
  if (call.status !== 'succeeded') return joined(', ', callWord(call), call.warning ? t(call.warning.kind) : '');
  if (call.warning) return joined(', ', t(call.warning.kind), took);
  if (call.outdated) return t('outdated');
  if (call.edited && !call.memory) return joined(', ', t('edited'), took);
  return call.saves && !call.memory ? t('saved') : took;
}

/** The warned calls without an object, by the objects that they used. */
const warned = cached((calls: readonly CallRow[]): ReadonlyMap<string, CallRow> => {
  const withoutObject = calls.filter(call => call.warning && (call.saves || !call.object));
  return new Map(withoutObject.flatMap(call => call.uses.map(use => [use.object, call] as const)));
});

/** The warned call that made an object, or that used it and made none. */
const warningOf = ({ calls, model }: ViewState, object: ObjectRow): CallRow['warning'] =>
  model.calls.get(object.call)?.warning ?? warned(calls).get(object.id)?.warning ?? null;

/** The marks of an object, each with its text. */
export function objectMarks(view: ViewState, object: ObjectRow): readonly (readonly [IconName, string])[] {
  if (object.branch !== '') return [];
  const call = view.model.calls.get(object.call);
  const warning = warningOf(view, object);
  const marks: (readonly [IconName, string])[] = warning ? [['warning', t(warning.kind)]] : [];
  if (call?.outdated || object.outdated) marks.push(['clock', t('outdated')]);
  if (sourceWord(call)) marks.push(['memory', sourceWord(call)]);
  if (call?.status === 'answered') marks.push(['person', t('your answer')]);
  if (object.equals) marks.push(['equal', t('equal to %1', object.equals)]);
  return marks;
}

/** What stands above the prints of a call: after them may follow where it failed. */
export const printsLabel = (prints: string): string =>
  prints.startsWith('Traceback (') ? t('Traceback') : /^Traceback \(/m.test(prints) ? t('Printed, and traceback') : t('Printed');
