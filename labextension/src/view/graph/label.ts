/** A tool's name as it stands on an edge: whole, on one line or two. Only pure functions live here. */
import { clip, line } from '../text';
import { pitch, type Size } from './place';

/** Units that a sign of the code font takes on an edge. */
export const SIGN = 6.33;

/** How many signs have room beside an edge's end, where other edges may leave the tile before. */
export const room = (size: Size): number => Math.floor((pitch(size) - 74) / SIGN);

/** Where a name may be parted: behind `_`, `.`, `-`, and before a capital. */
const PART = /(?<=[_.\-:])|(?<=[a-z0-9])(?=[A-Z])/;

/** The name on at most two lines of so many signs each; the end is cut where that is not enough. */
export function wrapped(name: string, signs: number): readonly string[] {
  if (name.length <= signs) return [name];
  const parts = name.split(PART);
  let first = '';
  while (parts[0] !== undefined && first.length + parts[0].length <= signs) first += parts.shift() ?? '';
  if (first === '') return [name.slice(0, signs), clip(name.slice(signs), signs)];
  return [first, clip(name.slice(first.length), signs)];
}

/** The tool's name: where it is narrow without the type that a node beside it bears already. */
export function toolLabel(tool: string, kinds: readonly string[], size: Size): readonly string[] {
  const name = line(tool, 200);
  const kind = size.narrow ? kinds.find(one => one !== '' && name.startsWith(`${one}_`)) : undefined;
  return wrapped(kind === undefined ? name : name.slice(kind.length + 1), room(size));
}
