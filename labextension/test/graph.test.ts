/** What is drawn where calls failed, and where there are branches: each mark has its place and its source. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rows } from '../src/generated/contract';
import { called, chain, made, page, press, whole } from './page';

const OLD: Rows['branches'] = [
  { id: 'b', name: 'new', current: true },
  { id: 'h', name: 'old' }
];

/** A chain of two, and what its second call came to on a branch that was left. */
function branched(): Rows {
  const rows = chain(2);
  const other = called(2, { id: 'x2', branch: 'old', object: 'y2', arguments: { n: 1 } });
  const beside = made('y2', 2, { branch: 'old', lane: 1, call: 'x2' });
  return { ...rows, calls: [...(rows.calls ?? []), other], objects: [...(rows.objects ?? []), beside], branches: OLD };
}

test('a call that failed is drawn where it has a place, be it on the first line', async () => {
  const { view, node } = await page();
  const failed = called(3, { status: 'failed', object: '', error: 'too hot', column: 3, lane: 0 });
  const rows = chain(2);
  view.update(whole({ ...rows, calls: [...(rows.calls ?? []), failed] }));
  assert.match(node('No object, Potato_do3 failed').getAttribute('aria-description') ?? '', /too hot/);
});

test('an edge of another branch is drawn under those of the shown one, whichever came last', async () => {
  const { view, all } = await page();
  view.update(whole(branched()));
  const looks = all('svg.g .e').map(edge => edge.getAttribute('class'));
  assert.equal(looks.length, 3);
  assert.equal(looks[0], 'e e-pale');
  assert.ok(looks.slice(1).every(look => look !== 'e e-pale'));
});

test('two objects of one name on two branches are told apart where they stand', async () => {
  const { view, node } = await page();
  view.update(whole(branched()));
  const state = (name: string): string => node(name).parentElement?.querySelector('.state')?.textContent ?? '';
  assert.equal(state('Potato#3'), 'state 2');
  assert.equal(state('Potato#3 of old'), 'on old: state 2');
});

test('an argument that comes from far away begins at the name of what is given', async () => {
  const { view, all } = await page();
  const rows = chain(4);
  const far = called(5, {
    uses: [
      { parameter: 'Potato', object: 'p4', receiver: true },
      { parameter: 'first', object: 'p1' }
    ]
  });
  view.update(whole({ ...rows, calls: [...(rows.calls ?? []), far], objects: [...(rows.objects ?? []), made('p5', 5)] }));
  assert.deepEqual(all('svg.g .portname').map(name => name.textContent), ['first: Potato#2']);
});

test('a call that was edited bears its pencil also where it begins a row of its own', async () => {
  const { view, all } = await page();
  const rows = branched();
  const calls = (rows.calls ?? []).map(call => (call.id === 'x2' ? { ...call, edited: true } : call));
  view.update(whole({ ...rows, calls }));
  assert.equal(all('svg.g .e-pale .mk').length, 1);
});

test('a thousand calls have one frame over them, about the one that was gone to', async () => {
  const { view, all, one } = await page();
  view.update(whole(chain(1000)));
  const line = one('[aria-label=Overview]');
  assert.equal(all('.tc-overview .frame').length, 1);
  assert.equal(line.getAttribute('aria-valuemax'), '1000');
  assert.ok(Number(line.getAttribute('aria-valuenow')) > 980);
  press(line, 'Home');
  assert.equal(line.getAttribute('aria-valuenow'), '1');
  for (let page = 0; page < 9; page++) press(line, 'ArrowRight');
  assert.equal(all('.tc-overview .frame').length, 1);
  assert.ok(Number(line.getAttribute('aria-valuenow')) > 1);
});
