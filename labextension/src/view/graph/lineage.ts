/** How objects came from one another, as maps over the rows. Only pure functions live here. */
import type { Look } from '../look';
import type { FullCall, FullObject, FullUse } from '../rows';

/** The use whose edge is the main line, where a call used anything. */
export const mainUse = (call: FullCall | undefined): FullUse | undefined =>
  call?.uses.find(use => use.receiver) ?? call?.uses[0];

/** For each object, the one whose line it continues. */
export function mainParents(view: Look, objects: readonly FullObject[]): Map<string, string> {
  const parents = new Map<string, string>();
  for (const object of objects) {
    const main = object.call === '' ? undefined : mainUse(view.model.calls.get(object.call));
    if (main && main.object !== object.id) parents.set(object.id, main.object);
  }
  return parents;
}

/** The objects that were used for another, nearest first, each once. */
export function parentsOf(view: Look, id: string): string[] {
  const object = view.model.objects.get(id);
  const call = object && view.model.calls.get(object.call);
  return call ? [...new Set(call.uses.map(use => use.object))].filter(other => other !== id) : [];
}

/** For each object, those that were made from it. */
export function childrenOf(view: Look): ReadonlyMap<string, readonly string[]> {
  const children = new Map<string, string[]>();
  for (const object of view.objects) {
    for (const parent of object.call === '' ? [] : parentsOf(view, object.id)) {
      const known = children.get(parent);
      if (known) known.push(object.id);
      else children.set(parent, [object.id]);
    }
  }
  return children;
}

/** All that can be reached by steps, without where it began; up to a number of steps. */
export function reach(from: string, step: (id: string) => readonly string[], steps = Infinity): Set<string> {
  const found = new Set<string>([from]);
  let front = [from];
  for (let taken = 0; taken < steps && front.length > 0; taken++) {
    front = front.flatMap(step).filter(id => !found.has(id) && found.add(id));
  }
  found.delete(from);
  return found;
}

/** An object with those up to two steps before and behind it. */
export function around(view: Look, id: string): Set<string> {
  const children = childrenOf(view);
  const before = reach(id, of => parentsOf(view, of), 2);
  return new Set([id, ...before, ...reach(id, of => children.get(of) ?? [], 2)]);
}
