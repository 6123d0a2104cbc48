/** What a person looks for: calls and objects by words, or by how they went. Only pure functions live here. */
import type { Look } from '../look';
import type { FullCall, FullObject } from '../rows';
import { signOf } from './status';
import { isKind, type Kind, type Usual } from './trouble';

export interface Hit {
  /** The id of the call's row; empty for an object that no call made. */
  readonly call: string;
  readonly object: string;
  readonly step: number;
}

const LONG = 4000;

const haystacks = new WeakMap<FullCall | FullObject, string>();

function remembered<T extends FullCall | FullObject>(row: T, say: (row: T) => readonly string[]): string {
  const known = haystacks.get(row);
  if (known !== undefined) return known;
  const text = say(row)
    .map(part => part.slice(0, LONG))
    .join('\n')
    .toLowerCase();
  haystacks.set(row, text);
  return text;
}

const callWords = (call: FullCall): readonly string[] => [
  call.tool,
  call.what,
  JSON.stringify(call.arguments),
  call.asked ? JSON.stringify(call.asked) : '',
  call.result,
  call.error,
  call.reason,
  call.prints,
  signOf(call.status).word,
  call.memory ? 'from memory' : '',
  call.edited ? 'edited' : '',
  call.stale ? 'may be stale' : '',
  call.outdated
];

const objectWords = ({ name, kind, description, note, saved, preview }: FullObject): readonly string[] => [
  name,
  kind,
  description,
  note,
  saved && `saved as ${saved}`,
  preview.caption,
  preview.text,
  preview.fields.flat().join(' '),
  preview.columns.join(' ')
];

/** The words that are looked for: all of them have to be there. */
export const terms = (text: string): readonly string[] => text.toLowerCase().split(/\s+/).filter(Boolean);

const holds = (text: string, all: readonly string[]): boolean => all.every(term => text.includes(term));

/** The places where all words are found, in the order of the steps; with a kind only calls of that kind. */
export function hits(view: Look, text: string, kind: Kind | null, usual: Usual): readonly Hit[] {
  const all = terms(text);
  if (all.length === 0 && kind === null) return [];
  const given = kind === null ? view.objects.filter(object => object.role === 'input' && object.branch === '') : [];
  const objects = given
    .filter(object => holds(remembered(object, objectWords), all))
    .map(object => ({ call: '', object: object.id, step: 0 }));
  const calls = view.calls
    .filter(call => kind === null || isKind(call, kind, usual))
    .filter(call => {
      const made = view.model.objects.get(call.object);
      const about = made?.call === call.id ? `\n${remembered(made, objectWords)}` : '';
      return holds(remembered(call, callWords) + about, all);
    });
  return [...objects, ...calls.map(call => ({ call: call.id, object: call.object, step: call.step }))];
}

/** The number of the hit that is chosen, -1 for none. */
export const chosenHit = (found: readonly Hit[], view: Look): number =>
  view.follow
    ? -1
    : found.findIndex(hit => (hit.call ? hit.call === view.chosen.call : hit.object === view.chosen.object));

/** The next hit, or the one before: from the chosen one, else from the place looked at; around the end. */
export function nextHit(found: readonly Hit[], view: Look, by: 1 | -1): Hit | undefined {
  const at = chosenHit(found, view);
  if (at >= 0) return found.at((at + by) % found.length);
  const step = view.follow ? -1 : (view.model.calls.get(view.chosen.call)?.step ?? -1);
  if (by === 1) return found.find(hit => hit.step > step) ?? found[0];
  return found.findLast(hit => hit.step < step) ?? found.at(-1);
}
