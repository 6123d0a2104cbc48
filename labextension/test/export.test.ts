import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileName } from '../src/view/head';
import { chain, page, waiting, whole } from './page';

test('what has ended can be taken home in each format, and what goes on is driven', async () => {
  const { view, sent, click, buttons } = await page();
  view.update(whole(waiting()));
  assert.deepEqual([buttons('Export').length, buttons('Run').length], [0, 1]);
  view.update(whole({ ...chain(2), session: [{ phase: 'finished' }] }));
  assert.deepEqual([buttons('Export').length, buttons('Run').length], [1, 0]);
  click('Export');
  click('Notebook');
  assert.deepEqual(sent.at(-1), { type: 'export', to: 'ipynb' });
});

test('a saved session has nobody to export it', async () => {
  const { view, buttons } = await page(false);
  view.update(whole({ ...chain(2), session: [{ phase: 'finished' }] }));
  assert.equal(buttons('Export').length, 0);
});

test('a file has the name of its session, whatever that holds', () => {
  assert.equal(fileName('fries', 'py'), 'fries.py');
  assert.equal(fileName('../../etc/pass wd', 'messages'), 'etc-pass-wd.messages.json');
  assert.equal(fileName('', 'ipynb'), 'session.ipynb');
});
