/** What has changed since: marked at the step and on the card, with a way on. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { called, chain, made, page, whole } from './page';
import type { Rows } from './sent';

const WARNING = { kind: 'asked before a change', text: 'The model asked for this before the results changed.', action: 'Ask it again.' } as const;
const STALE = `${WARNING.text} ${WARNING.action}`;

/** A chain of three: the first outdated, the last asked for by an outdated reply. */
function changed(): Rows {
  const why = 'its tool <b>Potato_do1</b> was changed';
  const rows = chain(3);
  return {
    ...rows,
    calls: [
      called(1, { outdated: why, memory: true, notes: ['Potato#1 was changed in place'] }),
      called(2),
      called(3, { stale: true, warning: WARNING })
    ],
    objects: (rows.objects ?? []).map(object => (object.id === 'p1' ? made('p1', 1, { outdated: why, note: 'not reproducible' }) : object)),
    messages: [
      { id: 'a', turn: 1, role: 'user', text: 'Go.' },
      { id: 'b', turn: 3, role: 'assistant', text: 'It weighs 50.', stale: true }
    ]
  };
}

test('a step that is outdated says so, and its card says why', async () => {
  const { view, all, one, node } = await page();
  view.update(whole(changed()));
  assert.deepEqual(
    all('ol[aria-label=Steps] .end').map(end => end.textContent),
    ['outdated', '', 'asked before a change']
  );
  node('Potato#2').dispatchEvent(new MouseEvent('click', { bubbles: true }));
  const card = one('.tc-card').textContent;
  for (const said of ['its tool <b>Potato_do1</b> was changed', 'Potato#1 was changed in place', 'not reproducible'])
    assert.ok(card.includes(said), said);
  assert.equal(all('.tc-card b').some(b => b.textContent === 'Potato_do1'), false);
});

test('the model can be asked again in place of an outdated reply, from its call or its turn', async () => {
  const { view, sent, click, one, buttons } = await page();
  view.update(whole(changed()));
  assert.ok(one('.tc-card').textContent.includes(STALE));
  click('Ask the model from here');
  assert.deepEqual(sent.at(-1), { type: 'ask', turn: 3 });
  view.update(whole(changed()));
  click('Messages');
  click('Ask the model from here');
  assert.deepEqual(sent.at(-1), { type: 'ask', turn: 3 });
  click('Turn 1');
  assert.equal(buttons('Ask the model from here').length, 0);
});

test('a saved session marks what is outdated, and asks nobody', async () => {
  const { view, all, click, buttons } = await page(false);
  view.update(whole(changed(), false));
  assert.equal(buttons('Ask the model from here').length, 0);
  click('Messages');
  assert.equal(all('.tc-msg.stale').length, 1);
  assert.equal(buttons('Ask the model from here').length, 0);
});

test('a warning has one mark on step, node and card, and the card says what to do', async () => {
  const { view, all, one, node } = await page();
  view.update(whole(changed()));
  const step = all('ol[aria-label=Steps] li')[2];
  assert.equal(step?.querySelector('.end')?.getAttribute('title'), STALE);
  assert.match(step?.querySelector('.what')?.textContent ?? '', /^warning, /);
  assert.match(node('Potato#4').getAttribute('aria-description') ?? '', /asked before a change/);
  const triangle = step?.querySelector('.i path')?.getAttribute('d');
  node('Potato#4').dispatchEvent(new MouseEvent('click', { bubbles: true }));
  assert.equal(one('.tc-card [role=note] path').getAttribute('d'), triangle);
  assert.equal(one('.tc-card [role=note]').getAttribute('aria-label'), 'Warning: asked before a change');
});

test('a saved call keeps the order of arguments of its tool, and an edited one that failed its pencil', async () => {
  const { view, all } = await page(false);
  const rows = chain(1);
  const call = called(1, { arguments: { amount: 5, to: 'bob' }, edited: true, status: 'failed', error: 'too much' });
  view.update(whole({ ...rows, calls: [call], tools: [{ id: call.tool, order: ['to', 'amount'] }] }, false));
  assert.deepEqual(all('.tc-args dt').map(name => name.textContent), ['to', 'amount']);
  assert.equal(all('ol[aria-label=Steps] .end svg').length, 1);
});
