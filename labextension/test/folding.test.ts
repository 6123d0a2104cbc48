/** Where stacks stand: in the row of what continues them, and on no other node. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rows } from '../src/generated/contract';
import { called, chain, delta, made, page, whole } from './page';

const LONG = 20;

/** Chains of twenty, each in a lane of its own. */
function chains(steps: number): Rows {
  const rows = chain(steps);
  const numbers = Array.from({ length: steps }, (_, index) => index + 1);
  return {
    ...rows,
    objects: numbers.map(step => made(`p${step}`, step, { column: (step - 1) % LONG, lane: Math.floor((step - 1) / LONG) })),
    calls: numbers.map(step => called(step, step % LONG === 1 ? { uses: [] } : {}))
  };
}

const places = (nodes: readonly HTMLElement[]): string[] => nodes.map(node => node.getAttribute('transform') ?? '');
const rowOf = (place: string): string => place.split(' ')[1] ?? '';

test('the line goes straight on from a stack: no row above it stands empty', async () => {
  const { view, all } = await page();
  view.update(whole(chains(1000)));
  const rows = new Set(places(all('svg.g .node')).map(rowOf));
  assert.deepEqual([...rows], ['0)']);
});

test('whatever is looked at among folded chains, no two nodes stand in one place', async () => {
  const { view, all } = await page();
  view.update(whole(chains(400)));
  for (let step = 3; step <= 400; step += 29) {
    all('ol[aria-label=Steps] li button')[step - 1]?.click();
    const found = places(all('svg.g .node'));
    assert.equal(new Set(found).size, found.length, `step ${step}`);
    assert.ok(all('svg.g .hit[aria-pressed=true]').length === 1, `step ${step}`);
  }
});

/** Two lines of two hundred; the first is folded whole. */
function two(): Rows {
  const rows = chain(400);
  const objects = (rows.objects ?? []).map(object => {
    const step = object.step ?? 0;
    return step > 200 ? { ...object, lane: 1, column: step - 200 } : object;
  });
  const begins = { uses: [{ parameter: 'Potato', object: 'p0', receiver: true }] };
  return { ...rows, objects, calls: (rows.calls ?? []).map(call => (call.step === 201 ? { ...call, ...begins } : call)) };
}

test('what continues from within a folded stack takes a free place, and moves nothing', async () => {
  const { view, all } = await page();
  view.update(whole(two()));
  const where = (): ReadonlyMap<string, string> =>
    new Map(all('svg.g .node').map(node => [node.getAttribute('data-k') ?? '', node.getAttribute('transform') ?? '']));
  let number = 0;
  let before = where();
  for (const [from, column, lane] of [[99, 100, 3], [99, 100, 4], [198, 199, 2], [200, 201, 0], [394, 199, 2.5]] as const) {
    const step = 401 + number;
    const uses = [{ parameter: 'Potato', object: `p${from}`, receiver: true }];
    view.update(delta(++number, { objects: [made(`p${step}`, step, { column, lane })], calls: [called(step, { uses })] }));
    const after = where();
    assert.deepEqual([...before].filter(([key, place]) => after.get(key) !== place), []);
    assert.ok(after.has(`p${step}`), `step ${step}`);
    assert.equal(new Set(after.values()).size, after.size, `step ${step}`);
    before = after;
  }
});
