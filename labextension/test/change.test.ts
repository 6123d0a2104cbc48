import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chain, delta, page, waiting, whole } from './page';

const EVIL = '<img src=x>';

/** A chain of two calls, of which the last says what it changed. */
function changing(): ReturnType<typeof chain> {
  const rows = chain(2);
  const calls = (rows.calls ?? []).map(call => (call.step === 2 ? { ...call, before: 'p1', change: 'price: 1 cell filled' } : call));
  return { ...rows, calls };
}

const parts = [
  { name: 'price', says: EVIL, cells: [{ row: '4', column: EVIL, left: 'nan', right: EVIL }] },
  {
    name: 'note',
    lines: [
      { sign: 'same' as const, left: 'a' }, { sign: 'changed' as const, left: 'b', right: EVIL }, { sign: 'right' as const, right: 'd' }
    ]
  },
  { name: 'picture', images: ['javascript:alert(1)', 'data:image/png;base64,AAAA'] },
  { name: 'owner', left: '"alice"', right: null }
];

test('what a call changed is asked for once, and shown with the old beside the new', async () => {
  const { view, sent, all, one } = await page();
  view.update(whole(changing()));
  assert.match(one('[aria-label=Steps] li:nth-child(2)').textContent, /price: 1 cell filled/);
  view.update(delta(1, { calls: [] }));
  assert.deepEqual(sent.filter(command => command.type === 'show_difference'), [{ type: 'show_difference', left: 'p1', right: 'p2' }]);
  view.update(delta(2, { differences: [{ id: 'change p1 p2', parts }] }));
  const change = one('[aria-label="What the call changed"]');
  assert.match(change.textContent, /^Potato#2 → Potato#3 price: 1 cell filled/);
  assert.deepEqual(all('.tc-change del').map(old => old.textContent), ['nan', 'b', '"alice"']);
  assert.deepEqual(all('.tc-change mark').map(fresh => fresh.textContent), [EVIL, EVIL, 'd']);
  assert.equal(change.querySelectorAll('script, iframe, [onerror]').length, 0);
  assert.deepEqual([...change.querySelectorAll('img')].map(image => image.getAttribute('src')), ['data:image/png;base64,AAAA']);
});

test('the pill of a call shows what the call changed, as its step does', async () => {
  const { view, all, one } = await page();
  view.update(whole(changing()));
  view.update(delta(1, { differences: [{ id: 'change p1 p2', parts }] }));
  const shown = one('[aria-label="What the call changed"]').textContent;
  all('svg.g [role=button]').find(node => node.getAttribute('aria-label')?.startsWith('Call 2'))
    ?.dispatchEvent(new MouseEvent('click', { bubbles: true }));
  assert.equal(one('[aria-label=Details] h3').textContent, 'Potato_do2');
  assert.equal(one('[aria-label="What the call changed"]').textContent, shown);
});

test('a saved notebook shows what it holds of a change, and asks nobody', async () => {
  const { view, sent, one } = await page(false);
  view.update(whole(changing(), false));
  assert.match(one('[aria-label="What the call changed"]').textContent, /price: 1 cell filled$/);
  assert.deepEqual(sent, []);
});

test('while a call waits its card stands above the tabs, and below them when the run has ended', async () => {
  const { view, root, one, buttons } = await page();
  view.update(whole(waiting()));
  const isAboveTabs = (): boolean => {
    const [card, tabs] = [one('[aria-label=Details]'), one('[role=tablist]')];
    return (card.compareDocumentPosition(tabs) & 4) !== 0;
  };
  assert.ok(isAboveTabs());
  for (const name of ['Step', 'Run']) assert.ok(buttons(name)[0]?.disabled, name);
  view.update(delta(1, { session: [{ phase: 'thinking', says: '', pending: [] }] }));
  assert.ok(isAboveTabs());
  view.update(delta(2, { session: [{ phase: 'finished', says: 'Finished' }] }));
  assert.ok(!isAboveTabs());
  assert.ok(root.contains(one('[aria-label=Details]')));
});
