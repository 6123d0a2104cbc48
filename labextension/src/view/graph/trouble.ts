/** Calls that a person may look for by how they went. Only pure functions live here. */
import type { IconName } from '../icons';
import type { FullCall } from '../rows';

export const KINDS = ['failed', 'waiting', 'unknown', 'rejected', 'interrupted', 'edited', 'answered', 'stale', 'unusual', 'slow'] as const;
export type Kind = (typeof KINDS)[number];

export const ICONS: Readonly<Record<Kind, IconName>> = {
  failed: 'failed',
  waiting: 'wait',
  unknown: 'unknown',
  rejected: 'reject',
  interrupted: 'stop',
  edited: 'edited',
  answered: 'person',
  stale: 'near',
  unusual: 'info',
  slow: 'clock'
};

/** From so many milliseconds a call is slow, whatever the others take. */
const SLOW = 1000;
const FAIRLY = 100;
const TIMES = 20;

const OF_STATUS: Readonly<Partial<Record<FullCall['status'], Kind>>> = {
  failed: 'failed',
  proposed: 'waiting',
  unknown: 'unknown',
  rejected: 'rejected',
  interrupted: 'interrupted',
  answered: 'answered'
};

const SAMPLE = 400;

/** From how many milliseconds a call of these is slow: a second, or much more than is usual. */
export function slowFrom(calls: readonly FullCall[]): number {
  const stride = Math.max(1, Math.floor(calls.length / SAMPLE));
  const times: number[] = [];
  for (let at = 0; at < calls.length; at += stride) times.push(calls[at]?.ms ?? 0);
  const usual = times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
  return Math.min(SLOW, Math.max(FAIRLY, TIMES * usual));
}

/** What the calls of a session are like, by which one of them is judged. */
export interface Usual {
  /** From how many milliseconds a call is slow. */
  readonly slow: number;
  /** Why a call is unusual, by the id of its row. */
  readonly unusual: ReadonlyMap<string, string>;
}

/** Whether a call is one of a kind that a person may look for. */
export function isKind(call: FullCall, kind: Kind, { slow, unusual }: Usual): boolean {
  if (kind === 'unusual') return unusual.has(call.id);
  if (kind === 'edited') return call.edited;
  if (kind === 'stale') return call.stale || call.outdated !== '';
  return kind === 'slow' ? call.ms >= slow : OF_STATUS[call.status] === kind;
}

/** The first thing that a call is to be looked for by, but its time. */
export function trouble(call: FullCall, { unusual }: Usual): Kind | null {
  const status = OF_STATUS[call.status];
  if (status) return status;
  if (call.edited) return 'edited';
  if (call.stale || call.outdated) return 'stale';
  return unusual.has(call.id) ? 'unusual' : null;
}

/** How many calls there are of each kind. */
export function counts(calls: readonly FullCall[], { slow, unusual }: Usual): ReadonlyMap<Kind, number> {
  const found = new Map<Kind, number>();
  const add = (kind: Kind): unknown => found.set(kind, (found.get(kind) ?? 0) + 1);
  for (const call of calls) {
    const status = OF_STATUS[call.status];
    if (status) add(status);
    if (call.edited) add('edited');
    if (call.stale || call.outdated) add('stale');
    if (unusual.has(call.id)) add('unusual');
    if (call.ms >= slow) add('slow');
  }
  return found;
}
