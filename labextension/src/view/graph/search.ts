/** Search in the graph: calls and objects that match words or a kind, and calls with unusual arguments. */
import type { CallRow, ObjectRow } from '../../generated/contract';
import { farAmong } from '../batch';
import { jsonText } from '../exact';
import type { IconName } from '../icons';
import { callWord, sourceWord } from '../labels';
import { clip, oneLine, t, tableText } from '../text';
import type { ViewState } from '../view_state';

export interface SearchHit {
  /** The id of the call's row; empty for an object that no call made. */
  readonly call: string;
  readonly object: string;
  readonly step: number;
}

const MOST_CHARACTERS = 4000;

const searchTexts = new WeakMap<CallRow | ObjectRow, string>();

function searchText<T extends CallRow | ObjectRow>(row: T, say: (row: T) => readonly string[]): string {
  const known = searchTexts.get(row);
  if (known !== undefined) return known;
  const text = say(row).map(part => part.slice(0, MOST_CHARACTERS)).join('\n').toLowerCase();
  searchTexts.set(row, text);
  return text;
}

const callWords = (call: CallRow): readonly string[] => [
  t('call %1', call.step), call.tool, call.what, jsonText(call.arguments), call.asked ? jsonText(call.asked) : '', call.result, call.error, call.reason, call.prints,
  callWord(call), sourceWord(call), call.edited ? t('edited') : '', call.warning ? t(call.warning.kind) : '', call.outdated
];

const objectWords = ({ name, kind, description, note, saved, preview }: ObjectRow): readonly string[] => [
  name, kind, description, note, saved && t('saved as %1', saved), preview.caption, preview.text, preview.fields.flat().join(' '),
  preview.columns.join(' ')
];

/** The search words; all must match. */
const terms = (text: string): readonly string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

const hasAll = (text: string, all: readonly string[]): boolean => all.every(term => text.includes(term));

/** Rows that are searched at a time. */
const SLICE = 500;

/** The calls and objects that match all words, in order, in slices; with a kind, only calls of that kind. */
export function* searchHits(view: ViewState, text: string, kind: CallKind | null, usual: UsualCalls): Generator<void, readonly SearchHit[]> {
  const all = terms(text);
  if (all.length === 0 && kind === null) return [];
  const inputs = kind === null ? view.objects.filter(object => object.role === 'input' && object.branch === '') : [];
  const hits: SearchHit[] = inputs
    .filter(object => hasAll(searchText(object, objectWords), all))
    .map(object => ({ call: '', object: object.id, step: 0 }));
  for (const [index, call] of view.calls.entries()) {
    if (index % SLICE === 0) yield;
    if (kind !== null && !isKind(call, kind, usual)) continue;
    const object = view.model.objects.get(call.object);
    const about = object?.call === call.id ? [searchText(object, objectWords)] : [];
    if (
      all.length === 0 || hasAll([searchText(call, callWords), ...about].join('\n'), all)
    ) hits.push({ call: call.id, object: call.object, step: call.step });
  }
  return hits;
}

/** The number of the hit that is chosen, -1 for none. */
export const chosenHit = (hits: readonly SearchHit[], view: ViewState): number =>
  view.followsNewest
    ? -1
    : hits.findIndex(hit => (hit.call ? hit.call === view.chosen.call : hit.object === view.chosen.object));

/** The next or previous hit from the chosen one, wrapping around. */
export function nextHit(hits: readonly SearchHit[], view: ViewState, by: 1 | -1): SearchHit | undefined {
  const index = chosenHit(hits, view);
  if (index >= 0) return hits.at((index + by) % hits.length);
  const step = view.followsNewest ? -1 : (view.model.calls.get(view.chosen.call)?.step ?? -1);
  if (by === 1) return hits.find(hit => hit.step > step) ?? hits[0];
  return hits.findLast(hit => hit.step < step) ?? hits.at(-1);
}

export const CALL_KINDS = [
  tableText('failed'), tableText('waiting'), tableText('unknown'), tableText('rejected'), tableText('interrupted'), tableText('edited'),
  tableText('answered'), tableText('outdated'), tableText('unusual'), tableText('large'), tableText('slow')
] as const;
export type CallKind = (typeof CALL_KINDS)[number];

export const KIND_ICONS: Readonly<Record<CallKind, IconName>> = {
  failed: 'failed', waiting: 'wait', unknown: 'warning', rejected: 'reject', interrupted: 'stop', edited: 'edited', answered: 'person',
  outdated: 'warning', unusual: 'info', large: 'fit', slow: 'clock'
};

/** From this many milliseconds on, a call is always slow. */
const SLOW_MS = 1000;
const LEAST_SLOW_MS = 100;
const SLOW_FACTOR = 20;

const KIND_OF_STATUS: Readonly<Partial<Record<CallRow['status'], CallKind>>> = {
  failed: 'failed', proposed: 'waiting', 'input required': 'waiting', unknown: 'unknown', rejected: 'rejected', interrupted: 'interrupted',
  answered: 'answered'
};

const SAMPLE = 400;

/** From how many milliseconds a call of these is slow: a second, or much more than is usual. */
export function slowFrom(calls: readonly CallRow[]): number {
  const stride = Math.max(1, Math.floor(calls.length / SAMPLE));
  const times: number[] = [];
  for (let at = 0; at < calls.length; at += stride) times.push(calls[at]?.ms ?? 0);
  const usual = times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
  return Math.min(SLOW_MS, Math.max(LEAST_SLOW_MS, SLOW_FACTOR * usual));
}

/** What is usual among the calls of a session. */
export interface UsualCalls {
  /** From how many milliseconds a call is slow. */
  readonly slow: number;
  /** Why a call is unusual, by the id of its row. */
  readonly unusual: ReadonlyMap<string, string>;
  /** How large the object of a call is, if it is large, by the id of the call's row. */
  readonly large: ReadonlyMap<string, string>;
}

/** Whether a call is of a kind. */
function isKind(call: CallRow, kind: CallKind, { slow, unusual, large }: UsualCalls): boolean {
  if (kind === 'large') return large.has(call.id);
  if (kind === 'unusual') return unusual.has(call.id);
  if (kind === 'edited') return call.edited;
  // Of the replies before a change the first one is marked.
  if (kind === 'outdated') return (call.stale && call.warning !== null) || call.outdated !== '';
  return kind === 'slow' ? call.ms >= slow : KIND_OF_STATUS[call.status] === kind;
}

/** The most important kind of a call. */
export const worstKind = (call: CallRow, usual: UsualCalls): CallKind | undefined => CALL_KINDS.find(kind => isKind(call, kind, usual));

/** How many calls there are of each kind. */
export function countKinds(calls: readonly CallRow[], usual: UsualCalls): ReadonlyMap<CallKind, number> {
  const counts = CALL_KINDS.map(kind => [kind, calls.reduce((count, call) => count + Number(isKind(call, kind, usual)), 0)] as const);
  return new Map(counts.filter(([, count]) => count));
}

/** With fewer calls, nothing is unusual. */
const LEAST_CALLS = 20;
/** Share of the calls that a usual value has. */
const USUAL_SHARE = 0.9;
/** Share of the calls up to which a value is unusual. */
const RARE_SHARE = 0.02;
/** How many times as far from the middle as the usual number another one may be. */
const OUTLIER_FACTOR = 10;

type Plain = string | number | boolean | null;

const isPlain = (value: unknown): value is Plain =>
  value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** The plain values of a parameter, each with its call. */
interface PlainArguments {
  readonly name: string;
  readonly calls: CallRow[];
  readonly values: Plain[];
}

/** The plain arguments of all calls, by tool and parameter, without object names. */
function plainArguments(calls: readonly CallRow[]): PlainArguments[] {
  const tools = new Map<string, Map<string, PlainArguments>>();
  for (const call of calls) {
    const parameters = tools.get(call.tool) ?? new Map<string, PlainArguments>();
    tools.set(call.tool, parameters);
    for (const name in call.arguments) {
      const value = call.arguments[name];
      if (!isPlain(value) || call.uses.some(use => use.parameter === name)) continue;
      const all = parameters.get(name) ?? { name, calls: [], values: [] };
      parameters.set(name, all);
      all.calls.push(call);
      all.values.push(value);
    }
  }
  return [...tools.values()].flatMap(parameters => [...parameters.values()].filter(({ values }) => values.length >= LEAST_CALLS));
}

const valueText = (value: Plain): string => clip(oneLine(JSON.stringify(value), 60), 24);

type Unusual = readonly (readonly [string, string])[];

/** The calls with a value that is unusual, and why. */
const unusual = ({ name, calls, values }: PlainArguments, isUnusual: (value: Plain) => boolean, why: string): Unusual =>
  calls.flatMap((call, index) => {
    const value = values[index] ?? null;
    return isUnusual(value) ? [[call.id, `${oneLine(name, 40)} ${valueText(value)}, ${why}`] as const] : [];
  });

/** Rare values of a parameter that nearly always has one value. */
function rareValues(all: PlainArguments): Unusual {
  const { values } = all;
  const times = new Map<Plain, number>();
  for (const value of values) times.set(value, (times.get(value) ?? 0) + 1);
  let usual: readonly [Plain, number] = [null, 0];
  for (const one of times) if (one[1] > usual[1]) usual = one;
  if (usual[1] < USUAL_SHARE * values.length) return [];
  const most = Math.max(1, RARE_SHARE * values.length);
  const why = t('%1 in %2 of %3 calls', valueText(usual[0]), usual[1], values.length);
  return unusual(all, value => (times.get(value) ?? 0) <= most, why);
}

/** Numbers far from all others. */
function outliers(all: PlainArguments): Unusual {
  const values = all.values.filter(value => typeof value === 'number');
  if (values.length < all.values.length) return [];
  const { centre, isFar } = farAmong(values, OUTLIER_FACTOR);
  return unusual(all, value => isFar(Number(value)), t('mostly near %1', valueText(centre)));
}

/** Why a call is unusual, by the id of its row. */
export const unusualCalls = (calls: readonly CallRow[]): ReadonlyMap<string, string> =>
  new Map(plainArguments(calls).flatMap(all => [...rareValues(all), ...outliers(all)]));
