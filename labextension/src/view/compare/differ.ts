/** How two calls, and two objects, differ as far as their rows tell. Only pure functions live here. */
import { aligned } from './align';
import { together, type FullCall, type FullDifference, type FullObject, type Model } from '../rows';

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
  /** `shared`: one and the same call; `same`: asked for and come out alike. */
  readonly kind: 'shared' | 'same' | 'differs';
  /** The arguments in which they differ. */
  readonly marks: ReadonlySet<string>;
  readonly objects: readonly Objects[];
}

const json = (value: unknown): string => JSON.stringify(value) ?? '';

/** The difference of two objects as it is told, from whichever side it was asked for. */
function valuesOf(model: Model, left: FullObject, right: FullObject): FullDifference | null {
  const there = model.differences.get(`${left.id} ${right.id}`);
  const back = model.differences.get(`${right.id} ${left.id}`);
  return there ?? (back ? turned(back) : null);
}

const SIGNS = { same: 'same', changed: 'changed', left: 'right', right: 'left' } as const;

/** A difference as it is seen from the other side. */
export const turned = (row: FullDifference): FullDifference => ({
  ...row,
  parts: row.parts.map(part => ({
    ...part,
    left: part.right,
    right: part.left,
    images: [...part.images].reverse(),
    cells: part.cells.map(cell => ({ ...cell, left: cell.right, right: cell.left })),
    lines: part.lines.map(line => ({
      sign: SIGNS[line.sign],
      left: line.sign === 'same' ? line.left : line.right,
      right: line.sign === 'same' ? line.right : line.left,
      left_at: line.right_at,
      right_at: line.left_at
    }))
  }))
});

function alike(left: FullObject, right: FullObject, values: FullDifference | null): boolean {
  if (left === right || values?.same) return true;
  if (left.kind === right.kind && left.content && left.content === right.content) return true;
  const known = left.content !== '' && right.content !== '';
  return !known && !values && left.kind === right.kind && json(left.preview) === json(right.preview);
}

function objectPair(model: Model, left: FullObject | null, right: FullObject | null): Objects {
  const values = left && right ? valuesOf(model, left, right) : null;
  return { left, right, values, same: left !== null && right !== null && alike(left, right, values) };
}

type Made = (call: FullCall | null) => readonly FullObject[];

/** What a call made; what `save` named. */
function madeBy(model: Model): Made {
  const many = together(model.objects.values());
  return call => {
    if (!call) return [];
    if (call.saves && call.status === 'succeeded')
      return call.uses.flatMap(use => model.objects.get(use.object) ?? []);
    const object = model.objects.get(call.object);
    return many.get(call.id) ?? (object && object.call === call.id && object.role === 'made' ? [object] : []);
  };
}

/** The ids of objects on the left, and of those that stand beside them. */
type BesideIds = Map<string, string>;

const root = (parameter: string): string => /^[^.[]*/.exec(parameter)?.[0] ?? parameter;

/** Whether an argument names the same objects on both sides, whatever they are called. */
function sameObjects(name: string, left: FullCall, right: FullCall, beside: BesideIds): boolean {
  const mine = left.uses.filter(use => root(use.parameter) === name);
  const theirs = new Map(right.uses.map(use => [use.parameter, use.object]));
  const count = right.uses.filter(use => root(use.parameter) === name).length;
  return (
    mine.length > 0 &&
    mine.length === count &&
    mine.every(use => (beside.get(use.object) ?? use.object) === theirs.get(use.parameter))
  );
}

function marksOf(left: FullCall, right: FullCall, beside: BesideIds): Set<string> {
  const names = new Set([...Object.keys(left.arguments), ...Object.keys(right.arguments)]);
  const differs = (name: string): boolean =>
    json(left.arguments[name]) !== json(right.arguments[name]) && !sameObjects(name, left, right, beside);
  return new Set([...names].filter(differs));
}

const ASPECTS = ['tool', 'status', 'result', 'error', 'prints', 'reason'] as const;

function pairOf(model: Model, left: FullCall | null, right: FullCall | null, made: Made, beside: BesideIds): Pair {
  if (left && left === right) return { left, right, kind: 'shared', marks: new Set(), objects: [] };
  const [mine, theirs] = [made(left), made(right)];
  const length = Math.max(mine.length, theirs.length);
  const objects = Array.from({ length }, (_, index) => objectPair(model, mine[index] ?? null, theirs[index] ?? null));
  for (const { left: one, right: other } of objects) if (one && other) beside.set(one.id, other.id);
  if (!left || !right) return { left, right, kind: 'differs', marks: new Set(), objects };
  const marks = marksOf(left, right, beside);
  const same =
    marks.size === 0 &&
    ASPECTS.every(aspect => left[aspect] === right[aspect]) &&
    objects.every(pair => pair.same);
  return { left, right, kind: same ? 'same' : 'differs', marks, objects };
}

/** The calls of two branches in pairs, and how each pair differs. */
export function compared(model: Model, left: readonly FullCall[], right: readonly FullCall[]): Pair[] {
  const made = madeBy(model);
  const beside: BesideIds = new Map();
  return aligned(model, left, right).map(([one, other]) => pairOf(model, one, other, made, beside));
}

/** Whether there are objects that differ, and nothing says how their values do. */
export const lacksValues = (pairs: readonly Pair[]): boolean =>
  pairs.some(pair => pair.objects.some(({ left, right, same, values }) => left && right && !same && !values));
