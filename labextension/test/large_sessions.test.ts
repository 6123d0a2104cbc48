/** Large sessions are read in slices, and forged ones in which rows lead in a circle are drawn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Notice } from '../src/generated/contract';
import { applyNotice, EMPTY_MODEL } from '../src/view/model';
import { called, chain, delta, made, page, type Page, whole } from './page';
import type { Rows } from './sent';

const LARGE = 6000;

/** Waits until a panel shows its status, which it does not while it reads. */
async function shown({ root }: Page): Promise<void> {
  while (
    root.querySelector('.tc-page')?.hasAttribute('hidden') || !root.querySelector('svg.g .node')
  ) await new Promise(resume => setTimeout(resume, 1));
}

const nodes = ({ all }: Page): string[] => all('svg.g [role=button]').map(node => node.getAttribute('aria-label') ?? '');

/** What a panel shows of its session: the nodes, the steps and the status. */
const picture = (it: Page): unknown => [nodes(it), it.all('.tc-steps .tc-step').map(step => step.textContent), it.one('[role=status]').textContent];

const LATER: readonly Notice[] = [
  delta(1, { objects: [made(`p${LARGE + 1}`, LARGE + 1)], calls: [called(LARGE + 1)] }),
  delta(2, { calls: [called(3, { status: 'failed', error: 'no knife' })], drop: [{ table: 'objects', id: 'p3' }] }),
  delta(3, { session: [{ phase: 'failed', says: 'Failed at last' }] })
];

test('a large session that is read in slices shows what one that is read at once shows, with the changes that arrive meanwhile', async () => {
  const sliced = await page();
  const first = whole(chain(LARGE));
  for (const notice of [first, ...LATER]) sliced.view.update(notice);
  await shown(sliced);
  const seen = picture(sliced);
  const model = [first, ...LATER].reduce(applyNotice, EMPTY_MODEL);
  const atOnce = await page();
  atOnce.view.update(first, model);
  assert.deepEqual(seen, picture(atOnce));
  assert.match(sliced.root.textContent, /Failed at last/);
});

test('while a large session is read the panel says so, and no more after it', async () => {
  const it = await page();
  it.view.update(whole(chain(LARGE)));
  assert.equal(it.one('.tc-unreadable').textContent, 'Reading the session.');
  assert.deepEqual(it.buttons('Export'), []);
  await shown(it);
  assert.deepEqual(it.all('.tc-unreadable'), []);
  assert.equal(it.buttons('Export').length, 1);
});

test('what a panel shows stays while it reads a large session', async () => {
  const it = await page();
  it.view.update(whole(chain(2)));
  it.view.update(whole(chain(LARGE)));
  assert.deepEqual(nodes(it).length, 5);
  assert.deepEqual(it.all('.tc-unreadable'), []);
});

test('a panel that is removed while it reads shows nothing more, and draws nothing', async () => {
  const it = await page();
  it.view.update(whole(chain(LARGE)));
  it.view.update(delta(1, { objects: [made('late', 1)] }));
  it.view.dispose();
  // Another panel that began later has read its session: the first one had the time.
  const next = await page();
  next.view.update(whole(chain(LARGE)));
  await shown(next);
  assert.equal(it.root.childElementCount, 0);
  assert.ok(nodes(next).length > 0);
});

/** Waits until something holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resume => setTimeout(resume, 1));
}

test('a search in a large saved session finds what it finds in a small one', async () => {
  const it = await page(false);
  it.view.update(whole(chain(LARGE), false));
  await shown(it);
  const field = it.one('input[type=search]') as HTMLInputElement;
  field.value = `do${LARGE - 1}`;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  await until(() => it.one('[aria-label="Search results"]').textContent === '1 found');
});

test('a session of a thousand calls is drawn at once', async () => {
  const it = await page(false);
  it.view.update(whole(chain(1000), false));
  assert.ok(nodes(it).length > 0);
});

const use = (object: string): { parameter: string; object: string } => ({ parameter: 'Potato', object });
/** More objects than are drawn without folding. */
const COUNT = 64;

/** The other step of two: 1 and 2, 3 and 4. */
const partner = (step = 0): number => (step % 2 ? step + 1 : step - 1);

/** A chain of which these calls are changed. */
function withCalls(change: (step: number) => Partial<ReturnType<typeof called>>): Rows {
  const rows = chain(COUNT);
  return { ...rows, calls: rows.calls?.map(call => ({ ...call, ...change(call.step) })) };
}

const branches = [
  { id: 'b', name: 'main', current: true, left: 'c', shares: 'c' },
  { id: 'c', name: 'other', left: 'b', shares: 'b' }
];

const FORGED: Readonly<Record<string, () => Rows>> = {
  'an object is made from itself': () => withCalls(step => ({ uses: [use(`p${step}`)] })),
  'two objects are made from each other': () => withCalls(step => ({ uses: [use(`p${partner(step)}`)] })),
  'all objects are made in a circle': () => withCalls(step => ({ uses: [use(`p${step === 1 ? COUNT : step - 1}`)] })),
  'each object is made from a later one': () => withCalls(step => ({ uses: [use(`p${step + 1}`)] })),
  'every object is made from every other': () => withCalls(() => ({ uses: Array.from({ length: COUNT }, (_, index) => use(`p${index}`)) })),
  'calls use what does not exist': () => withCalls(step => ({ uses: [use(`none ${step}`)], object: `none ${step + 1}`, before: 'none' })),
  'objects are of calls that do not exist': () => ({ ...chain(COUNT), calls: [] }),
  'failed calls use objects in a circle': () => withCalls(step => ({ status: 'failed', uses: [use(`p${COUNT - step}`)] })),
  'branches were left from each other': () => ({ ...withCalls(step => (step % 2 ? { branch: 'c' } : {})), branches }),
  'objects are the same as each other': () => ({
    ...chain(COUNT),
    branches,
    objects: chain(COUNT).objects?.map(object => ({ ...object, branch: (object.step ?? 0) % 2 ? 'c' : '', same: `p${partner(object.step)}` }))
  }),
  'objects and calls are the same as themselves': () => ({
    ...withCalls(step => ({ same: `call${step}`, branch: 'c' })),
    branches,
    objects: chain(COUNT).objects?.map(object => ({ ...object, same: object.id }))
  }),
  'branches and objects that do not exist are named': () => ({ ...withCalls(() => ({ branch: 'none', same: 'none' })), branches })
};

for (const [name, rows] of Object.entries(FORGED)) {
  test(`a saved session in which ${name} is shown in every tab`, async () => {
    const it = await page(false);
    it.view.update(whole(rows(), false));
    for (const tab of ['Steps', 'Messages', 'Compare', 'Graph']) it.click(tab);
    for (const node of it.all('svg.g .node').slice(0, 2)) {
      node.dispatchEvent(new MouseEvent('click', { bubbles: true }));
      const [lineage] = it.buttons('Lineage');
      lineage?.click();
      lineage?.click();
    }
    assert.ok(nodes(it).length > 0);
  });
}
