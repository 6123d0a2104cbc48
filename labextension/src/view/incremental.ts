/** What is computed of tables and lists that grow, and computed again only where they have changed. */

/** A function that computes its result once for each argument. */
export function cached<A extends object, B>(compute: (of: A) => B): (of: A) => B {
  const results = new WeakMap<A, { readonly result: B }>();
  return of => {
    let known = results.get(of);
    if (!known) results.set(of, (known = { result: compute(of) }));
    return known.result;
  };
}

/** The rows of a table in order. */
export const rowsOf = cached(<K, V>(table: ReadonlyMap<K, V>): readonly V[] => [...table.values()]) as <K, V>(table: ReadonlyMap<K, V>) =>
  readonly V[];

/** The map with these rows set and those dropped; a replaced row keeps its position. */
export function withRows<V extends { readonly id: string }>(
  table: ReadonlyMap<string, V>,
  rows: readonly V[],
  dropped: readonly string[]
): ReadonlyMap<string, V> {
  if (rows.length + dropped.length === 0) return table;
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
