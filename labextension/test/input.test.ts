import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Refused } from '../src/generated/contract';
import { called, chain, page, whole, type Page } from './page';
import type { QuestionRow, Rows } from './sent';

const WHO: QuestionRow = {
  key: 'who',
  message: 'Who <b>books</b>?',
  form: {
    type: 'object',
    properties: { name: { type: 'string' }, guests: { type: 'integer' }, music: { type: 'boolean' } },
    required: ['name']
  },
  values: { guests: 2 }
};

/** A call whose tool asks; another call of its turn waits. */
const asking = (...questions: QuestionRow[]): Rows => ({
  ...chain(1),
  session: [{ phase: 'waiting', says: 'Waiting for you', pending: ['call2', 'call3'] }],
  calls: [
    called(1),
    called(2, { tool: 'book', status: 'input required', approval_digest: '7c1e', object: '', questions }),
    called(3, { turn: 2, tool: 'send', status: 'proposed', approval_digest: 'aa01', object: '' })
  ]
});

const field = (it: Page, name: string): HTMLInputElement => {
  const label = it.all('form label').find(one => one.textContent === name);
  return it.one(`#${label?.getAttribute('for') ?? ''}`) as HTMLInputElement;
};

const submit = (it: Page): void => {
  it.one('form.tc-form').dispatchEvent(new Event('submit', { cancelable: true }));
};

test('what a tool asks is a form, and Answer sends its fields by question', async () => {
  const it = await page();
  it.view.update(whole(asking(WHO, { key: 'why', message: 'Why?' })));
  assert.equal(it.all('form b').length, 0);
  assert.match(it.one('form').textContent, /Who <b>books<\/b>\?.*Never enter passwords or keys\./);
  assert.equal(field(it, 'guests').value, '2');
  field(it, 'name').value = 'Ada';
  submit(it);
  assert.deepEqual(it.sent.at(-1), {
    type: 'answer',
    call: 'c2',
    approval_digest: '7c1e',
    result: { who: { name: 'Ada', guests: 2 }, why: {} }
  });
});

test('a field that cannot be read is marked, and nothing is sent', async () => {
  const it = await page();
  it.view.update(whole(asking(WHO)));
  field(it, 'guests').value = 'two';
  submit(it);
  assert.deepEqual(it.sent, []);
  assert.equal(field(it, 'guests').getAttribute('aria-invalid'), 'true');
});

test('a refusal is shown at its field, and what was typed stays', async () => {
  const it = await page();
  it.view.update(whole(asking(WHO)));
  field(it, 'name').value = 'Ada';
  submit(it);
  const refused: Refused = { type: 'refused', command: 'answer', reason: 'book: guests: too many', fields: { guests: 'too many' } };
  it.view.update(refused);
  assert.equal(field(it, 'name').value, 'Ada');
  assert.ok(it.all('.tc-wrong').some(one => one.textContent === 'too many'));
  assert.equal(it.all('.tc-acts > .tc-error').length, 0);
});

test('Reject declines, and nothing approves a call that asks', async () => {
  const it = await page();
  it.view.update(whole(asking(WHO)));
  assert.deepEqual([...it.buttons('Approve'), ...it.buttons('Approve all')], []);
  assert.match(it.buttons('Reject')[0]?.title ?? '', /continues without your input/);
  it.click('Reject');
  assert.deepEqual(it.sent.at(-1), { type: 'reject', call: 'c2', approval_digest: '7c1e' });
});

test('a page to open is a link that shows its host, and no other address is one', async () => {
  const it = await page();
  it.view.update(whole(asking({ key: 'pay', message: 'Pay.', url: 'https://pay.example/t?to=1', host: 'pay.example' })));
  const link = it.one('form a');
  assert.equal(link.getAttribute('href'), 'https://pay.example/t?to=1');
  assert.equal(link.getAttribute('rel'), 'noopener');
  assert.equal(link.textContent, 'https://pay.example/t?to=1');
  assert.equal(it.one('form a b').textContent, 'pay.example');
  const bad = await page();
  bad.view.update(whole(asking({ key: 'pay', message: 'Pay.', url: 'javascript:alert(1)', host: 'alert' })));
  assert.equal(bad.all('form a').length, 0);
});

test('a question of the wrong shape is shown as far as it can be', async () => {
  const it = await page();
  const wrong = { key: 'k', message: ['x'], form: 'no', values: null, url: 3 } as unknown as QuestionRow;
  it.view.update(whole(asking(wrong, 5 as unknown as QuestionRow)));
  submit(it);
  assert.deepEqual(it.sent.at(-1), { type: 'answer', call: 'c2', approval_digest: '7c1e', result: { k: {} } });
});

test('a saved copy shows no form', async () => {
  const it = await page(false);
  it.view.update(whole(asking(WHO)));
  assert.equal(it.all('form').length, 0);
});
