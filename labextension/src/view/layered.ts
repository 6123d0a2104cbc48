/**
 * A map that grows by a few rows at a time: what was known stays as it was, and nothing is
 * copied but the newest. Only values live here; none is changed once it is made.
 */

const FRESH = 64;

interface Listed<K, V> {
  readonly all: readonly (readonly [K, V])[];
  readonly at: ReadonlyMap<K, number>;
}

const lists = new WeakMap<object, Listed<unknown, unknown>>();

/** A map's entries as a list, made once. */
function listed<K, V>(map: ReadonlyMap<K, V>): Listed<K, V> {
  const known = lists.get(map) as Listed<K, V> | undefined;
  if (known) return known;
  const all = [...map];
  const made = { all, at: new Map(all.map(([key], index) => [key, index])) };
  lists.set(map, made);
  return made;
}

const rows = new WeakMap<object, readonly unknown[]>();

/** The rows of a table in their order: listed once, however often they are asked for. */
export function rowsOf<K, V>(table: ReadonlyMap<K, V>): readonly V[] {
  const known = rows.get(table) as readonly V[] | undefined;
  if (known) return known;
  const made = table instanceof Layered ? (table as Layered<K, V>).all.map(entry => entry[1]) : [...table.values()];
  rows.set(table, made);
  return made;
}

class Layered<K, V> implements ReadonlyMap<K, V> {
  readonly all: readonly (readonly [K, V])[];

  constructor(
    readonly known: ReadonlyMap<K, V>,
    readonly fresh: ReadonlyMap<K, V>
  ) {
    const { all, at } = listed(known);
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

/** The map with these rows put and those dropped; a row that is put anew keeps its place. */
export function layered<V extends object>(
  table: ReadonlyMap<string, V>,
  rows: readonly (readonly [string, V])[],
  dropped: readonly string[]
): ReadonlyMap<string, V> {
  if (rows.length + dropped.length === 0) return table;
  const before = table instanceof Layered ? (table as Layered<string, V>) : null;
  const fresh = before ? before.fresh.size : 0;
  if (dropped.length === 0 && table.size > FRESH && fresh + rows.length <= FRESH)
    return new Layered(before?.known ?? table, new Map([...(before?.fresh ?? []), ...rows]));
  const whole = new Map(table);
  for (const key of dropped) whole.delete(key);
  for (const [key, row] of rows) whole.set(key, row);
  return whole;
}
