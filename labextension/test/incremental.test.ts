/** A table that grows has the rows that a map would have which is written to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowsOf, withRows } from '../src/view/incremental';

/** Numbers that look like chance and are the same in each run. */
function chances(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
}

test('the rows of a table that grew are those of a map that was written to', () => {
  const next = chances(7);
  let table: ReadonlyMap<string, { readonly id: string; readonly worth: number }> = new Map();
  const plain = new Map<string, { readonly id: string; readonly worth: number }>();
  for (let turn = 0; turn < 400; turn++) {
    const row = { id: `row ${Math.floor(next() * 300)}`, worth: next() };
    const gone = next() < 0.05 ? [`row ${Math.floor(next() * 300)}`] : [];
    for (const each of gone) plain.delete(each);
    plain.set(row.id, row);
    table = withRows(table, [row], gone);
    assert.deepEqual(rowsOf(table), [...plain.values()]);
    assert.deepEqual([...table], [...plain]);
  }
});
