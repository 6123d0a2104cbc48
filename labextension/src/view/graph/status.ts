/** How a call or an object stands: a shape, a word, then perhaps a colour. Only pure functions live here. */
import type { IconName } from '../icons';
import type { FullCall, FullObject } from '../rows';

export type Status = FullCall['status'];

export interface Sign {
  readonly icon: IconName | null;
  readonly word: string;
  /** The class of an edge. */
  readonly look: string;
}

const SIGNS: Readonly<Record<Status, Sign>> = {
  proposed: { icon: 'wait', word: 'waits for you', look: 'e-pending' },
  approved: { icon: 'done', word: 'approved', look: 'e-pending' },
  running: { icon: 'run', word: 'running', look: 'e-running' },
  succeeded: { icon: null, word: 'done', look: '' },
  failed: { icon: 'failed', word: 'failed', look: 'e-failed' },
  rejected: { icon: 'reject', word: 'rejected', look: 'e-none' },
  answered: { icon: 'person', word: 'answered by you', look: '' },
  interrupted: { icon: 'stop', word: 'interrupted', look: 'e-none' },
  unknown: { icon: 'unknown', word: 'outcome unknown', look: 'e-pending' }
};

export const signOf = (status: Status): Sign => SIGNS[status];

/** What stands on a call's edge. */
export function edgeIcon(call: FullCall): IconName | null {
  if (call.status !== 'succeeded') return SIGNS[call.status].icon;
  return call.edited && !call.memory ? 'edited' : null;
}

const NOTHING: readonly Status[] = ['failed', 'rejected', 'interrupted'];

/** The call came to nothing, and has a place in the graph. */
export const cameToNothing = (call: FullCall): boolean =>
  (call.column !== 0 || call.lane !== 0) && NOTHING.includes(call.status);

/** What is to be known of an object besides what it is, each with its mark. */
export function marksOf(object: FullObject, call: FullCall | undefined): readonly (readonly [IconName, string])[] {
  if (object.branch !== '') return [];
  const found: (readonly [IconName, string])[] = [];
  if (call?.outdated || object.outdated) found.push(['clock', 'outdated']);
  if (call?.stale) found.push(['near', 'may be stale']);
  if (call?.memory) found.push(['memory', 'from memory']);
  if (call?.status === 'answered') found.push(['person', 'given by you']);
  if (object.equals) found.push(['equal', `equal to ${object.equals}`]);
  return found;
}
