/**
 * From columns and lanes, which the kernel gives and never changes, to places in the drawing.
 *
 * Where something is folded the gaps close up. What comes later goes on behind, and moves
 * nothing. Only pure functions live here.
 */

export interface Axis {
  /** The place of a column, or of a lane. */
  at(value: number): number;
  /** Whether it lies where a gap was closed up: nothing can be put there. */
  inGap(value: number): boolean;
}

const STRAIGHT: Axis = { at: value => value, inGap: () => false };

/** The place in `known` of the last value that is not above. */
function below(known: readonly number[], value: number): number {
  let [low, high] = [0, known.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((known[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** An axis on which gaps wider than one between these values are one wide; the first that is not below 0 is at 0. */
export function closedUp(values: Iterable<number>): Axis {
  const known = [...new Set(values)].sort((a, b) => a - b);
  const places: number[] = [];
  for (const [index, value] of known.entries()) {
    const before = known[index - 1];
    places.push(before === undefined ? 0 : (places[index - 1] ?? 0) + Math.min(1, value - before));
  }
  const origin = places[known.findIndex(value => value >= 0)] ?? (places.at(-1) ?? 0) + 1;
  return {
    at(value) {
      const index = below(known, value);
      const first = known[0] ?? 0;
      if (index < 0) return value - Math.min(0, first) - origin;
      const past = value - (known[index] ?? 0);
      const next = known[index + 1];
      return (places[index] ?? 0) - origin + (next === undefined ? past : Math.min(past, 1));
    },
    inGap(value) {
      const index = below(known, value);
      const [before, next] = [known[index], known[index + 1]];
      if (next === undefined || value === before) return false;
      return before === undefined ? value >= 0 : next - before > 1;
    }
  };
}

export const straight = (): Axis => STRAIGHT;
