/** Lineage: which objects an object was made from and went into, and where an arrow key leads. */
import type { CallRow, ObjectRow, Use } from '../generated/contract';
import { cached, rowsOf } from './incremental';
import { drawnId, type Model } from './model';
import type { ViewState } from './view_state';

type Tables = Pick<Model, 'objects' | 'calls'>;

/** The first use of a made object, else of an input; undefined if the call used nothing. */
export const mainUse = (call: CallRow | undefined): Use | undefined =>
  call?.uses.find(use => !use.input) ?? call?.uses[0];

/** The objects that an object was made from directly. */
export function parentsOf(model: Tables, id: string): string[] {
  const object = model.objects.get(id);
  const call = object && model.calls.get(object.call);
  return call ? [...new Set(call.uses.map(use => drawnId(model, use.object)))].filter(other => other !== id) : [];
}

/** For each object of a session, the objects made from it directly. */
const childrenOf = cached(({ objects, calls }: Tables): ReadonlyMap<string, readonly string[]> => {
  const children = new Map<string, string[]>();
  for (const { id, call } of rowsOf(objects)) {
    if (call === '' || drawnId({ objects }, id) !== id) continue;
    for (const parent of parentsOf({ objects, calls }, id)) {
      const known = children.get(parent);
      if (known) known.push(id);
      else children.set(parent, [id]);
    }
  }
  return children;
});

/** The ids reachable from one, without itself, nearest first, up to a number of steps, and about `most` of them. */
export function reachable(from: string, step: (id: string) => readonly string[], steps = Infinity, most = Infinity): Set<string> {
  const ids = new Set<string>([from]);
  let front = [from];
  for (let taken = 0; taken < steps && front.length > 0 && ids.size <= most; taken++) {
    front = front.flatMap(step).filter(id => !ids.has(id) && ids.add(id));
  }
  ids.delete(from);
  return ids;
}

const objectsOf = (view: ViewState, ids: Iterable<string>): ObjectRow[] =>
  [...ids].flatMap(id => view.model.objects.get(id) ?? []);

/** Objects that a card names. */
export const MOST_NAMED = 1000;

/** The objects that an object was made from, nearest first; of very many about a thousand. */
export const ancestors = (view: ViewState, id: string): ObjectRow[] =>
  objectsOf(view, reachable(id, of => parentsOf(view.model, of), Infinity, MOST_NAMED));

/** The objects of the same branch that were made from an object, nearest first; of very many about a thousand. */
export const descendants = (view: ViewState, id: string): ObjectRow[] =>
  objectsOf(view, reachable(id, of => childrenOf(view.model).get(of) ?? [], Infinity, MOST_NAMED)).filter(
    ({ step, branch, role }) => step <= view.step && branch === view.model.objects.get(id)?.branch && role !== 'pending'
  );

/** The calls of the shown branch that use a result of a call, directly or through other calls; in order. */
export function dependentCalls({ model, calls }: ViewState, { id: from }: CallRow): CallRow[] {
  const makers = new Set([from]);
  return calls.filter(({ id, uses }) => uses.some(use => makers.has(model.objects.get(use.object)?.call ?? '')) && makers.add(id));
}

/** An edge of a drawing, between two nodes. */
interface Edge {
  readonly tail: { readonly key: string };
  readonly head: { readonly key: string };
}

/** The keys of a node, of all that it came from, and of all that came from it, along the edges of a drawing. */
export function lineageOf(edges: readonly Edge[], key: string): ReadonlySet<string> {
  const [before, after] = [new Map<string, string[]>(), new Map<string, string[]>()];
  const add = (ends: Map<string, string[]>, from: string, to: string): unknown => ends.get(from)?.push(to) ?? ends.set(from, [to]);
  for (const { tail, head } of edges) {
    add(before, head.key, tail.key);
    add(after, tail.key, head.key);
  }
  return new Set([key, ...[before, after].flatMap(ends => [...reachable(key, one => ends.get(one) ?? [])])]);
}
