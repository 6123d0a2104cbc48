/** What is drawn where calls failed, and where there are branches: each mark has its place and its source. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rows } from '../src/generated/contract';
import { pushedApart, stripPlaces } from '../src/view/graph/branch_strip';
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

test('two objects of one name on two branches have the names of their branches beside them', async () => {
  const { view, node, all } = await page();
  view.update(whole(branched()));
  const state = (name: string): string => node(name).parentElement?.querySelector('.state')?.textContent ?? '';
  assert.equal(state('Potato#3'), 'state 2');
  assert.equal(state('Potato#3 of old'), 'state 2');
  const strip = all('[aria-label="Branches in the graph"] button');
  assert.deepEqual(strip.map(name => name.textContent), ['new', 'old']);
  assert.deepEqual(strip.map(name => name.getAttribute('aria-current')), ['true', null]);
});

test('a click on the name of a branch beside the graph checks it out; one on the current branch does nothing', async () => {
  const { view, all, sent } = await page();
  view.update(whole(branched()));
  const [current, other] = all('[aria-label="Branches in the graph"] button');
  current?.click();
  assert.deepEqual(sent, []);
  other?.click();
  assert.deepEqual(sent, [{ type: 'checkout', branch: 'h' }]);
});

test('a saved view names its branches beside the graph and checks none out', async () => {
  const { view, all } = await page(false);
  view.update(whole(branched(), false));
  const names = all('[aria-label="Branches in the graph"] button') as HTMLButtonElement[];
  assert.deepEqual(names.map(name => name.disabled), [false, true]);
});

/** A fixed sequence that looks random. */
function* numbers(): Generator<number> {
  for (let seed = 7; ; seed = (seed * 16807) % 2147483647) yield seed / 2147483647;
}

test('heights that are pushed apart keep their order, a distance and the limits; what has room does not move', () => {
  const random = numbers();
  const next = (below: number): number => (random.next().value as number) * below;
  for (let round = 0; round < 2000; round++) {
    const [gap, high] = [8 + next(30), 200 + next(800)];
    const own = Array.from({ length: Math.floor(next(high / gap)) }, () => next(high)).sort((a, b) => a - b);
    const places = pushedApart(own, gap, 0, high);
    assert.equal(places.length, own.length);
    for (const [index, y] of places.entries()) {
      assert.ok(y >= -1e-6 && y <= high + 1e-6);
      if (index > 0) assert.ok(y - (places[index - 1] ?? 0) >= gap - 1e-6);
    }
    const before = (index: number): number => (own[index] ?? 0) - (own[index - 1] ?? -Infinity);
    if (own.every((_, index) => before(index) >= gap)) assert.deepEqual(places.map(y => y.toFixed(6)), own.map(y => y.toFixed(6)));
  }
});

test('of the names of branches all are shown or counted; the current one is shown if its node is in sight', () => {
  const random = numbers();
  const next = (below: number): number => (random.next().value as number) * below;
  for (let round = 0; round < 2000; round++) {
    const height = 60 + next(600);
    const own = Array.from({ length: 1 + Math.floor(next(60)) }, () => next(3 * height) - height).sort((a, b) => a - b);
    const current = Math.floor(next(own.length));
    const { above, middles } = stripPlaces(own, height, current, 24);
    const y = own[current] ?? 0;
    if (y >= 0 && y <= height) assert.ok(above <= current && current < above + middles.length);
    for (const middle of middles) assert.ok(middle >= 12 - 1e-6 && middle <= height - 12 + 1e-6, `${middle} of ${height}`);
    const inSight = own.filter(one => one >= 0 && one <= height).length;
    assert.ok(middles.length <= inSight && (middles.length === inSight || (middles.length + 2) * 24 > height - 24));
  }
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

/** The sides of the frame in the overview: left, top, width, height. */
const frameOf = (frame: Element): number[] => ['x', 'y', 'width', 'height'].map(name => Number(frame.getAttribute(name)));

test('the overview of a thousand calls has one frame, which Home moves to the first call and arrow keys move on', async () => {
  const { view, all, one } = await page();
  view.update(whole(chain(1000)));
  const map = one('[aria-label=Overview]');
  assert.equal(map.getAttribute('aria-valuemax'), '1000');
  assert.ok(Number(map.getAttribute('aria-valuenow')) > 980);
  assert.match(map.getAttribute('aria-valuetext') ?? '', /^showing 99\d to 1,000 of 1,000 calls$/);
  press(map, 'Home');
  assert.equal(map.getAttribute('aria-valuenow'), '1');
  for (let page = 0; page < 9; page++) press(map, 'ArrowRight');
  assert.equal(all('.tc-overview .frame').length, 1);
  assert.ok(Number(map.getAttribute('aria-valuenow')) > 1);
});

/** Eight lanes of forty objects, with calls that failed, were slow, or took another argument than all others. */
function lanes(): Rows {
  const rows = chain(320);
  const calls = (rows.calls ?? []).map(call => ({
    ...call,
    tool: 'Potato_slice',
    ms: call.step === 90 ? 5000 : 1,
    arguments: { shape: call.step === 130 ? 'SLICES' : 'STICKS' },
    ...(call.step === 50 ? { status: 'failed' as const, object: '', column: 9, lane: 1 } : {})
  }));
  const objects = (rows.objects ?? []).filter(object => object.id !== 'p50');
  return { ...rows, calls, objects: objects.map((object, index) => ({ ...object, column: index % 40, lane: Math.floor(index / 40) })) };
}

test('the overview moves in both directions, and marks what failed and what is unusual or slow', async () => {
  const { view, all, one } = await page();
  view.update(whole(lanes()));
  const map = one('[aria-label=Overview]');
  press(map, 'Home');
  const [left = 0, top = 0] = frameOf(one('.tc-overview .frame'));
  press(map, 'ArrowRight');
  const [further = 0, level = 0] = frameOf(one('.tc-overview .frame'));
  assert.ok(further > left && level === top, `${further} ${left}`);
  const marks = (look: string): number => (one(`.tc-overview path.${look}`).getAttribute('d') ?? '').split('M').length - 1;
  assert.equal(marks('failed'), 1);
  assert.ok(marks('odd') >= 1);
  assert.ok(marks('own') > 1);
  assert.equal(marks('hit'), 0);
  one('.tc-chip.failed').click();
  assert.equal(marks('hit'), 1);
  assert.equal(all('.tc-overview path').length, 6);
});

test('a graph that is wholly in sight has no overview', async () => {
  const { view, all } = await page();
  view.update(whole(chain(4)));
  assert.deepEqual(all('[aria-label=Overview]'), []);
});
