/** What is found among many calls where nothing failed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { called, chain, page, press, whole } from './page';

test('among many calls the one with another argument is one click away, and says why', async () => {
  const { view, all, one } = await page();
  const rows = chain(120);
  const calls = (rows.calls ?? []).map((_, index) =>
    called(index + 1, { tool: 'Potato_slice', arguments: { shape: index === 69 ? 'SLICES' : 'STICKS', field: index } })
  );
  view.update(whole({ ...rows, calls }));
  one('.tc-chip.unusual').click();
  assert.equal(one('ol[aria-label=Steps] [aria-current=step]').dataset.n, '70');
  assert.equal(one('.tc-why').textContent, 'shape "SLICES", "STICKS" in 119 of 120 calls');
  assert.equal(all('svg.g .hit[aria-pressed=true]')[0]?.getAttribute('aria-label'), 'Potato#71');
});

test('where each call has its own argument none is unusual', async () => {
  const { view, all } = await page();
  const rows = chain(120);
  const calls = (rows.calls ?? []).map((_, index) => called(index + 1, { tool: 'dig', arguments: { field: index, word: `w${index}` } }));
  view.update(whole({ ...rows, calls }));
  assert.deepEqual(all('.tc-chip.unusual'), []);
});

test('a call with a large result is one click away, and says how large it is', async () => {
  const { view, all, one } = await page();
  const rows = chain(120);
  const objects = (rows.objects ?? []).map(
    object => (object.step === 40 ? { ...object, preview: { caption: 'big', large: '2,000,000 × 3 cells' } } : object)
  );
  view.update(whole({ ...rows, objects }));
  assert.equal(one('.tc-chip.large').textContent, '1 large');
  one('.tc-chip.large').click();
  assert.equal(one('ol[aria-label=Steps] [aria-current=step]').dataset.n, '40');
  assert.equal(one('.tc-why').textContent, '2,000,000 × 3 cells');
  assert.equal(all('.tc-chip[aria-pressed=true]').length, 1);
});

test('a call that took much longer than the others is one click away', async () => {
  const { view, one } = await page();
  const rows = chain(120);
  const calls = (rows.calls ?? []).map(call => ({ ...call, ms: call.step === 77 ? 900 : 2 }));
  view.update(whole({ ...rows, calls }));
  one('.tc-chip.slow').click();
  assert.equal(one('ol[aria-label=Steps] [aria-current=step]').dataset.n, '77');
});

test('the page scrolls to the hit that Enter chooses: the graph may be taller than the window', async () => {
  const { view, all, one } = await page();
  view.update(whole(chain(30)));
  const shown: (string | null)[] = [];
  for (const node of all('svg.g .hit')) node.scrollIntoView = () => void shown.push(node.getAttribute('aria-label'));
  const field = one('[aria-label="Search calls and objects"]') as HTMLInputElement;
  field.value = 'do20';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  press(field, 'Enter');
  assert.deepEqual(shown, ['Potato#21']);
});
