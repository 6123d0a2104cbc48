/** Maps and lists that grow by a few rows at a time, without copying what was there. */

const MOST_FRESH = 64;

interface Entries<K, V> {
  readonly all: readonly (readonly [K, V])[];
  readonly at: ReadonlyMap<K, number>;
}

/** A function that computes its result once for each argument. */
export function cached<A extends object, B>(compute: (of: A) => B): (of: A) => B {
  const results = new WeakMap<A, { readonly result: B }>();
  return of => {
    let known = results.get(of);
    if (!known) results.set(of, (known = { result: compute(of) }));
    return known.result;
  };
}

/** A map's entries as a list. */
const entriesOf = cached(<K, V>(map: ReadonlyMap<K, V>): Entries<K, V> => {
  const all = [...map];
  return { all, at: new Map(all.map(([key], index) => [key, index])) };
}) as <K, V>(map: ReadonlyMap<K, V>) => Entries<K, V>;

/** The rows of a table in order. */
export const rowsOf = cached(<K, V>(table: ReadonlyMap<K, V>): readonly V[] =>
  table instanceof LayeredMap ? (table as LayeredMap<K, V>).all.map(entry => entry[1]) : [...table.values()]
) as <K, V>(table: ReadonlyMap<K, V>) => readonly V[];

class LayeredMap<K, V> implements ReadonlyMap<K, V> {
  readonly all: readonly (readonly [K, V])[];

  constructor(
    readonly known: ReadonlyMap<K, V>,
    readonly fresh: ReadonlyMap<K, V>
  ) {
    const { all, at } = entriesOf(known);
    const copy = all.slice();
    for (const entry of fresh) copy[at.get(entry[0]) ?? copy.length] = entry;
    this.all = copy;
  }

  get size(): number {
    return this.all.length;
  }

  get(key: K): V | undefined {
    return this.fresh.get(key) ?? this.known.get(key);
  }

  has(key: K): boolean {
    return this.fresh.has(key) || this.known.has(key);
  }

  entries(): MapIterator<[K, V]> {
    return this.all.values() as MapIterator<[K, V]>;
  }

  keys(): MapIterator<K> {
    return this.all.map(entry => entry[0]).values() as MapIterator<K>;
  }

  values(): MapIterator<V> {
    return rowsOf(this).values() as MapIterator<V>;
  }

  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.entries();
  }

  forEach(act: (value: V, key: K, map: ReadonlyMap<K, V>) => void): void {
    for (const [key, value] of this.all) act(value, key, this);
  }
}

/** The map with these rows set and those dropped; a replaced row keeps its position. */
export function withRows<V extends { readonly id: string }>(
  table: ReadonlyMap<string, V>,
  rows: readonly V[],
  dropped: readonly string[]
): ReadonlyMap<string, V> {
  if (rows.length + dropped.length === 0) return table;
  const before = table instanceof LayeredMap ? (table as LayeredMap<string, V>) : null;
  const fresh = before ? before.fresh.size : 0;
  if (dropped.length === 0 && table.size > MOST_FRESH && fresh + rows.length <= MOST_FRESH)
    return new LayeredMap(before?.known ?? table, new Map([...(before?.fresh ?? []), ...rows.map(row => [row.id, row] as const)]));
  const whole = new Map(table);
  for (const key of dropped) whole.delete(key);
  for (const row of rows) whole.set(row.id, row);
  return whole;
}

/** The result of work that is done in slices, without a break. */
export function finished<T>(work: Generator<void, T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/**
 * What `make` makes of each of a list, in order, without its nulls. What stood at the front of
 * the list before is not looked at again: among ten thousand objects one more costs one.
 */
export function incrementalMap<A, B>(make: (one: A) => B | null): (list: readonly A[]) => readonly B[] {
  let before: readonly A[] = [];
  const results: B[] = [];
  const indices: number[] = [];
  return list => {
    let same = 0;
    while (same < before.length && before[same] === list[same]) same++;
    while ((indices.at(-1) ?? -1) >= same) results.length = indices.length = indices.length - 1;
    for (const [index, one] of list.slice(same).entries()) {
      const next = make(one);
      if (next === null) continue;
      results.push(next);
      indices.push(same + index);
    }
    before = list;
    return results;
  };
}
