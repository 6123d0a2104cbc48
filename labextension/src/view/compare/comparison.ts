/** A comparison as the kernel made it, with the rows that it names. Only pure functions live here. */
import type { Look } from '../look';
import type { FullCall, FullChange, FullComparison, FullDifference, FullObject, FullPair, Model } from '../rows';

export type Where = 'left' | 'right';

export interface Objects {
  readonly left: FullObject | null;
  readonly right: FullObject | null;
  readonly same: boolean;
  /** How their values differ, where that is told. */
  readonly values: FullDifference | null;
}

export interface Pair {
  readonly left: FullCall | null;
  readonly right: FullCall | null;
  readonly kind: FullPair['kind'];
  readonly changes: readonly FullChange[];
  readonly objects: readonly Objects[];
}

const SIGNS = { same: 'same', changed: 'changed', left: 'right', right: 'left' } as const;

/** A difference as it is seen from the other side. */
const turned = (row: FullDifference): FullDifference => ({
  ...row,
  parts: row.parts.map(part => ({
    ...part,
    left: part.right,
    right: part.left,
    images: [...part.images].reverse(),
    cells: part.cells.map(cell => ({
      ...cell,
      left: cell.right,
      right: cell.left,
      left_at: cell.right_at,
      right_at: cell.left_at
    })),
    lines: part.lines.map(line => ({
      sign: SIGNS[line.sign],
      left: line.sign === 'same' ? line.left : line.right,
      right: line.sign === 'same' ? line.right : line.left,
      left_at: line.right_at,
      right_at: line.left_at
    }))
  }))
});

const swapped = <T extends { readonly left: unknown; readonly right: unknown }>(row: T): T => ({
  ...row,
  left: row.right,
  right: row.left
});

/** A comparison as it is seen from the other side. */
const mirrored = (row: FullComparison): FullComparison => ({
  ...swapped(row),
  pairs: row.pairs.map(pair => ({
    ...swapped(pair),
    changes: pair.changes.map(swapped),
    objects: pair.objects.map(swapped)
  })),
  text: row.text && swapped(row.text)
});

/** How two branches differ, from whichever side it was told; null where it was not. */
export function comparisonOf(model: Model, left: string, right: string): FullComparison | null {
  const all = [...model.comparisons.values()];
  const back = all.find(row => row.left === right && row.right === left);
  return all.find(row => row.left === left && row.right === right) ?? (back ? mirrored(back) : null);
}

function valuesOf(model: Model, left: string, right: string): FullDifference | null {
  const back = model.differences.get(`${right} ${left}`);
  return model.differences.get(`${left} ${right}`) ?? (back ? turned(back) : null);
}

function pairOf(model: Model, row: FullPair): Pair {
  const made = row.made ? [{ left: row.left, right: row.right, same: row.made === 'same' }] : [];
  return {
    left: model.calls.get(row.left) ?? null,
    right: model.calls.get(row.right) ?? null,
    kind: row.kind,
    changes: row.changes,
    objects: [...made, ...row.objects].map(({ left, right, same }) => ({
      left: model.objects.get(left) ?? null,
      right: model.objects.get(right) ?? null,
      same,
      values: valuesOf(model, left, right)
    }))
  };
}

const shared = (call: FullCall): Pair => ({ left: call, right: call, kind: 'shared', changes: [], objects: [] });

/** The calls of two branches in pairs; looking back, those that had been made by then. */
export function pairsOf({ model, calls, past, at }: Look, comparison: FullComparison): Pair[] {
  const others = comparison.pairs.map(row => pairOf(model, row));
  const known = ({ left, right }: Pair): boolean =>
    (left !== null || right !== null) && (!past || [left, right].every(call => !call || call.step <= at));
  return [...calls.slice(0, comparison.shared).map(shared), ...others.filter(known)];
}

/** In what two calls differ, if in this. */
export const changeIn = (pair: Pair, what: FullChange['what'], name = ''): FullChange | undefined =>
  pair.changes.find(change => change.what === what && change.name === name);

/** Whether a line of a text differs, by its number from 1. */
export function differsAt(change: FullChange | null | undefined, where: Where): (number: number) => boolean {
  if (!change) return () => false;
  const numbers = new Set(change[where]);
  const all = change.left.length + change.right.length === 0;
  return number => all || numbers.has(number);
}
