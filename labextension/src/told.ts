/**
 * What the kernels of this page have said that they save. A saved session that is among it is the
 * word of a kernel; any other is what a file says, and nobody has checked it.
 */
import { JSONExt, type ReadonlyPartialJSONValue } from '@lumino/coreutils';
import { Signal } from '@lumino/signaling';

const TOLD = new Map<string, ReadonlyPartialJSONValue>();
const MOST = 50;

/** That a kernel has told of something. */
export const told = new Signal<typeof TOLD, void>(TOLD);

/** From where a saved session goes on, and where it stands; empty for what is none. */
function placeOf(data: unknown): string {
  const journal = typeof data === 'object' && data !== null && 'journal' in data ? data.journal : null;
  if (typeof journal !== 'object' || journal === null || !('head' in journal)) return '';
  const since = 'parent' in journal ? journal.parent : null;
  return `${typeof since === 'string' ? since : ''} ${typeof journal.head === 'string' ? journal.head : ''}`;
}

/** Takes note of a session that a kernel has just published. */
export function takeNote(data: ReadonlyPartialJSONValue): void {
  const place = placeOf(data);
  if (!place) return;
  TOLD.delete(place);
  TOLD.set(place, data);
  for (const old of [...TOLD.keys()].slice(0, -MOST)) TOLD.delete(old);
  told.emit();
}

/** Whether a kernel of this page has said exactly this. */
export function isTold(data: unknown): boolean {
  const known = TOLD.get(placeOf(data));
  return known !== undefined && JSONExt.deepEqual(known, data as ReadonlyPartialJSONValue);
}
