/**
 * Which calls of two branches stand beside each other: the same rule as the kernel's
 * (comparing/matching.py). Only pure functions on rows live here.
 */
import type { FullCall, Model } from '../rows';

export type Beside = readonly [FullCall | null, FullCall | null];

/** Beyond so many pairs of items they are matched as they come. */
const MANY = 1_000_000;

/** The longest runs that two lists have in common, as pairs of places, in order. */
export function common(left: readonly string[], right: readonly string[]): [number, number][] {
  if (left.length * right.length > MANY) return inOrder(left, right);
  const wide = right.length + 1;
  const best = new Uint32Array((left.length + 1) * wide);
  const at = (i: number, j: number): number => best[i * wide + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      best[i * wide + j] = left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const found: [number, number][] = [];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    if (left[i] === right[j]) found.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return found;
}

/** Each item with the next one on the right that is the same. */
function inOrder(left: readonly string[], right: readonly string[]): [number, number][] {
  const places = new Map<string, number[]>();
  right.forEach((key, index) => places.set(key, [...(places.get(key) ?? []), index]));
  const found: [number, number][] = [];
  let after = -1;
  left.forEach((key, index) => {
    const place = places.get(key)?.find(one => one > after);
    if (place !== undefined) found.push([index, (after = place)]);
  });
  return found;
}

type Key = (call: FullCall) => string;

/** The calls side by side: by the first key, between those by the second, and so on; the rest as they come. */
function pairs(left: readonly FullCall[], right: readonly FullCall[], keys: readonly Key[]): Beside[] {
  const [key, ...rest] = keys;
  if (!key || left.length === 0 || right.length === 0) {
    const length = Math.max(left.length, right.length);
    return Array.from({ length }, (_, index) => [left[index] ?? null, right[index] ?? null]);
  }
  const found: Beside[] = [];
  let [a, b] = [0, 0];
  for (const [i, j] of [...common(left.map(key), right.map(key)), [left.length, right.length] as const]) {
    found.push(...pairs(left.slice(a, i), right.slice(b, j), rest));
    const [one, other] = [left[i], right[j]];
    if (one && other) found.push([one, other]);
    [a, b] = [i + 1, j + 1];
  }
  return found;
}

/** What tells a call by where its objects came from, whatever they are called; for calls in their order. */
function signatures(model: Model, calls: Iterable<FullCall>): Map<FullCall, string> {
  const numbers = new Map<string, number>();
  const signed = new Map<FullCall, string>();
  const number = (key: string): string => {
    const known = numbers.get(key) ?? numbers.size;
    numbers.set(key, known);
    return String(known);
  };
  const made = (id: string): string => {
    const maker = model.calls.get(model.objects.get(id)?.call ?? '');
    return (maker && signed.get(maker)) ?? number(id);
  };
  for (const call of calls) {
    const used = call.uses.map(use => `${use.parameter}=${made(use.object)}`).sort();
    signed.set(call, number(`${call.tool} ${used.join(' ')}`));
  }
  return signed;
}

/** The calls of two branches as they stand beside each other, in order. */
export function aligned(model: Model, left: readonly FullCall[], right: readonly FullCall[]): Beside[] {
  let same = 0;
  while (same < left.length && left[same] === right[same]) same++;
  const signed = signatures(model, new Set([...left, ...right]));
  const shared = left.slice(0, same).map((call): Beside => [call, call]);
  const keys: Key[] = [call => `${call.call} ${call.tool}`, call => signed.get(call) ?? '', call => call.tool];
  return [...shared, ...pairs(left.slice(same), right.slice(same), keys)];
}
