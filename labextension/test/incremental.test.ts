/** What is remembered of a list that grows gives what looking through all of it would give. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { incrementalMap, rowsOf, withRows } from '../src/view/incremental';

/** Numbers that look like chance and are the same in each run. */
function chances(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
}

const odd = (one: number): string | null => (one % 2 ? `odd ${one}` : null);

test('a list that grows, is cut back or is replaced comes to what all of it comes to', () => {
  for (let seed = 1; seed <= 40; seed++) {
    const next = chances(seed);
    const made = incrementalMap(odd);
    let list: readonly number[] = [];
    for (let turn = 0; turn < 60; turn++) {
      const kept = next() < 0.7 ? list.length : Math.floor(next() * (list.length + 1));
      list = [...list.slice(0, kept), ...Array.from({ length: Math.floor(next() * 4) }, () => Math.floor(next() * 50))];
      assert.deepEqual(made(list), list.flatMap(one => odd(one) ?? []));
    }
  }
});

test('what stood at the front is not looked at again', () => {
  let looked = 0;
  const made = incrementalMap((one: number) => (looked++, one));
  const front = Array.from({ length: 1000 }, (_, index) => index);
  made(front);
  made([...front, 1000]);
  assert.equal(looked, 1001);
});

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
