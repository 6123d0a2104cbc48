/** What stands at a node, and what a screen reader is told of it. Only pure functions live here. */
import type { IconName } from '../icons';
import type { Look } from '../look';
import { branchName, savedAs, stateOf } from '../scene';
import { clip, line, many } from '../text';
import { marksOf, signOf } from './status';
import { pitch, type Size, type Spot } from './place';

export interface Node {
  readonly key: string;
  readonly spot: Spot;
  readonly look: string;
  /** The accessible name. */
  readonly label: string;
  readonly name: string;
  readonly state: string;
  /** All that there is to say of it in a line. */
  readonly whole: string;
  readonly mark: IconName | null;
}

function lookOf(view: Look, spot: Spot): string {
  const { object, nothing } = spot;
  if (nothing) return nothing.status === 'failed' ? 'failed' : 'nothing';
  if (!object) return 'stack';
  if (object.branch !== '') return 'pale';
  if (object.role === 'output') return 'socket';
  if (object.role === 'pending') {
    const status = view.model.calls.get(object.call)?.status;
    return status === 'running' ? 'running' : status === 'unknown' ? 'pending unknown' : 'pending';
  }
  if (savedAs(view, object)) return 'output';
  return object.role === 'made' ? '' : object.role;
}

interface Words {
  readonly name: string;
  readonly label: string;
  readonly state: string;
}

/** From one name to another: a type that both have is said once. */
function range(first: string, last: string): string {
  const type = first.slice(0, first.indexOf('#'));
  return `${first} to ${type && last.startsWith(`${type}#`) ? last.slice(type.length) : last}`;
}

function stackWords({ folded, stack }: Spot): Words {
  const { calls, lost } = stack ?? { calls: 0, lost: 0 };
  const name = many(Math.max(1, calls), 'call');
  const from = range(folded[0]?.name ?? '', folded.at(-1)?.name ?? '');
  const state = lost > 0 ? `${lost} came to nothing` : from;
  return { name, label: `${name} folded`, state };
}

function wordsOf(view: Look, spot: Spot): Words {
  const { object, nothing } = spot;
  if (nothing) {
    const { word } = signOf(nothing.status);
    const why = nothing.error || nothing.reason || word;
    return { name: 'no object', label: `No object, ${nothing.tool} ${word}`, state: why };
  }
  if (!object) return stackWords(spot);
  const state = stateOf(view, object, spot.parked);
  if (object.role === 'output')
    return { name: `${object.name}: ${object.kind}`, label: `Output ${object.name}: ${object.kind}`, state };
  const label = object.branch ? `${object.name} of ${branchName(view.model, object.branch)}` : object.name;
  const of = object.branch ? `on ${branchName(view.model, object.branch)}` : '';
  return { name: object.name, label, state: of && state ? `${of}: ${state}` : of || state };
}

const room = (size: Size, unit: number): number => Math.floor((pitch(size) - 10) / unit);

function whole(view: Look, spot: Spot, { label, state }: Words): string {
  const { object } = spot;
  const marks = object ? marksOf(object, view.model.calls.get(object.call)).map(([, word]) => word) : [];
  return [`${label}${state ? `: ${state}` : ''}`, ...marks].join(', ');
}

/** A spot with what stands at it. */
export function node(view: Look, spot: Spot, size: Size): Node {
  const words = wordsOf(view, spot);
  const { object } = spot;
  const width = spot.parked ? 0.62 : 1;
  const marks = object ? marksOf(object, view.model.calls.get(object.call)) : [];
  return {
    key: spot.key,
    spot,
    look: lookOf(view, spot),
    label: line(words.label, 120),
    name: clip(line(words.name, 120), Math.floor(room(size, 6.6) * width)),
    state: clip(line(words.state, 200), Math.floor(room(size, 5.6) * width)),
    whole: line(whole(view, spot, words), 400),
    mark: marks[0]?.[0] ?? null
  };
}
