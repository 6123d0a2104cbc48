import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULTS, preferences } from '../src/lab/settings';
import { tutorialCells, tutorialNotebook } from '../src/lab/tutorial';
import { setTranslation, trans } from '../src/view/text';
import { page, waiting, whole } from './page';

/** A bundle that says everything backwards, with its values in their places. */
const backwards = {
  __: (text: string, ...values: readonly (string | number)[]) =>
    `«${text.replace(/%(\d)/g, (_, at: string) => String(values[Number(at) - 1]))}»`,
  _n: (one: string, many: string, count: number) => `«${(count === 1 ? one : many).replace('%1', String(count))}»`
};

test('a setting of the wrong type counts as not set', () => {
  assert.deepEqual(preferences({}), DEFAULTS);
  assert.deepEqual(preferences({ notifyWhenWaiting: 'yes', confirmApproveAll: true, other: 1 }), {
    ...DEFAULTS,
    confirmApproveAll: true
  });
});

test('the first notebook is one of cells that run one after the other, for a kernel by name', () => {
  const none = { __: (text: string) => text } as Parameters<typeof tutorialCells>[0];
  const cells = tutorialCells(none);
  assert.deepEqual(
    cells.map(([kind]) => kind),
    ['markdown', 'code', 'code', 'markdown', 'code']
  );
  assert.match(cells[1]?.[1] ?? '', /^%load_ext jupyter_toolcall/);
  assert.match(cells[2]?.[1] ?? '', /^%%toolchat -m scripted:kitchen/);
  const { metadata, cells: saved } = tutorialNotebook(none, 'python3', 'Python 3') as Record<string, unknown>;
  assert.deepEqual(metadata, { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } });
  assert.equal((saved as unknown[]).length, cells.length);
});

test('the words of the view are those of the host, and English where it has none', async () => {
  assert.equal(trans.__('%1 of %2', 3, 4), '3 of 4');
  assert.equal(trans._n('%1 call', '%1 calls', 1200), '1,200 calls');
  setTranslation(backwards);
  try {
    const { view, all, one } = await page();
    view.update(whole(waiting()));
    assert.deepEqual(
      all('[role=tab]').map(tab => tab.textContent),
      ['«Graph»', '«Steps»', '«Messages»', '«Compare»']
    );
    assert.ok(all('button').some(button => button.textContent === '«Approve»'));
    assert.equal(one('[role=region]').getAttribute('aria-label'), '«Tool calls»');
  } finally {
    setTranslation();
  }
});
