/**
 * Calls with an argument unlike that of nearly all other calls of their tool: where nothing
 * failed, the wrong one is often among them. Only pure functions live here.
 */
import type { FullCall } from '../rows';
import { clip, count, line } from '../text';

/** Of fewer calls nobody can say what is usual. */
const ENOUGH = 20;
/** So large a part of the calls has a value that is usual. */
const USUAL = 0.9;
/** A value that so small a part of the calls has is unusual. */
const RARE = 0.02;
/** How many times as far from the middle as most a number may be. */
const FAR = 10;

type Plain = string | number | boolean | null;

const isPlain = (value: unknown): value is Plain =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

interface Given {
  readonly call: FullCall;
  readonly name: string;
  readonly value: Plain;
}

/** The plain arguments of all calls, by tool and parameter; what names an object is none. */
function given(calls: readonly FullCall[]): Given[][] {
  const found = new Map<string, Given[]>();
  for (const call of calls) {
    for (const [name, value] of Object.entries(call.arguments)) {
      if (!isPlain(value) || call.uses.some(use => use.parameter === name)) continue;
      const key = `${call.tool}\n${name}`;
      const known = found.get(key);
      if (known) known.push({ call, name, value });
      else found.set(key, [{ call, name, value }]);
    }
  }
  return [...found.values()].filter(all => all.length >= ENOUGH);
}

const said = (value: Plain): string => clip(line(JSON.stringify(value), 60), 24);

type Unusual = readonly (readonly [string, string])[];

/** Where one value is nearly always given: what is hardly ever given beside it. */
function rare(all: readonly Given[]): Unusual {
  const times = new Map<Plain, number>();
  for (const { value } of all) times.set(value, (times.get(value) ?? 0) + 1);
  let usual: readonly [Plain, number] = [null, 0];
  for (const one of times) if (one[1] > usual[1]) usual = one;
  if (usual[1] < USUAL * all.length) return [];
  const most = Math.max(1, RARE * all.length);
  const rest = `${said(usual[0])} in ${count(usual[1])} of ${count(all.length)} calls`;
  return all
    .filter(({ value }) => (times.get(value) ?? 0) <= most)
    .map(({ call, name, value }) => [call.id, `${line(name, 40)} ${said(value)}, ${rest}`]);
}

const middle = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** Among numbers: those far from all others. */
function far(all: readonly Given[]): Unusual {
  const values = all.flatMap(({ value }) => (typeof value === 'number' ? [value] : []));
  if (values.length < all.length) return [];
  const centre = middle(values);
  const usual = middle(values.map(value => Math.abs(value - centre)));
  if (usual === 0) return [];
  return all
    .filter(({ value }) => Math.abs(Number(value) - centre) > FAR * usual)
    .map(({ call, name, value }) => [call.id, `${line(name, 40)} ${said(value)}, mostly near ${said(centre)}`]);
}

/** Why a call is unusual, by the id of its row. */
export const unusual = (calls: readonly FullCall[]): ReadonlyMap<string, string> =>
  new Map(given(calls).flatMap(all => [...rare(all), ...far(all)]));
