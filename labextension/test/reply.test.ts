import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldsOf, rawOf, readAll, type Raw } from '../src/view/schema';
import { chain, delta, page, slide, whole, type Page } from './page';
import type { Rows, YourTurn } from './sent';

const TURN: YourTurn = { turn: 3, prompt: 'Make <b>fries</b>.', tools: ['selectTools', 'Potato_slice'] };

/** Two steps, and then it is the model's turn: the person's. */
function yours(more: Partial<YourTurn> = {}): Rows {
  return {
    ...chain(2),
    session: [{ phase: 'waiting', says: 'You are the model', model: 'person', turn: 2, yours: { ...TURN, ...more } }],
    tools: [
      {
        id: 'selectTools',
        description: 'Gets you more tools.\n\nTools:\n- Potato_peel',
        parameters: { properties: { tools: { type: 'array', items: { type: 'string' } } }, required: ['tools'] }
      },
      {
        id: 'Potato_slice',
        description: 'Cut it.',
        parameters: {
          properties: {
            Potato: { type: 'string', pattern: '^Potato#[1-9][0-9]*$' },
            shape: { enum: ['STICKS', 'SLICES'] }
          },
          required: ['Potato', 'shape']
        }
      }
    ]
  };
}

const words = (it: Page): HTMLTextAreaElement => it.one('textarea[aria-label="Your words"]') as HTMLTextAreaElement;

const tool = (it: Page, name: string): void => {
  const found = it.all('ul[aria-label="Tools of this turn"] button').find(one => one.textContent === name);
  if (!found) throw new Error(`No tool ${name}`);
  found.click();
};

test('the card shows what a model is sent: the prompt, the results of the calls, and the tools of the turn', async () => {
  const it = await page();
  it.view.update(
    whole(yours({ told: [{ text: '{"error": "no"}', tool: 'Potato_peel', step: 2, error: true }], system: 'Be brief.' }))
  );
  assert.match(it.one('[role=status]').textContent, /You are the model/);
  const card = it.one('[role=group][aria-label="Reply as the model"]');
  for (const text of ['Make <b>fries</b>.', '2 Potato_peel', '{"error": "no"}', 'Be brief.', '- Potato_peel', 'turn 3'])
    assert.ok(card.textContent.includes(text), text);
  assert.equal(it.all('b').some(one => one.textContent === 'fries'), false);
  assert.equal(it.all('[aria-current=step]').length, 0);
});

test('a call is written in a form, and only objects that there are can be named', async () => {
  const it = await page();
  it.view.update(whole(yours()));
  tool(it, 'Potato_slice');
  const dialog = it.one('[role=dialog]');
  assert.match(dialog.textContent, /Write call/);
  const select = it.one('[role=dialog] select') as HTMLSelectElement;
  assert.deepEqual(
    [...select.options].map(option => option.value),
    ['Potato#3', 'Potato#2', 'Potato#1', '']
  );
  select.value = 'Potato#2';
  const [sticks] = it.all('[role=dialog] input[type=radio]') as HTMLInputElement[];
  if (sticks) sticks.checked = true;
  it.click('Add call');
  const call = { tool: 'Potato_slice', arguments: { Potato: 'Potato#2', shape: 'STICKS' } };
  assert.deepEqual(it.sent, [{ type: 'draft', calls: [call], anyway: false }]);
  it.view.update(delta(1, { session: [{ phase: 'waiting', yours: { ...TURN, calls: [call] } }] }));
  assert.equal(it.all('[role=dialog]').length, 0);
  assert.match(it.one('ol[aria-label="Your calls"]').textContent, /Potato_slice\(Potato="Potato#2", shape="STICKS"\)/);
});

test('a call is added and the reply sent in one click, with the words of the card', async () => {
  const it = await page();
  const calls = [{ tool: 'selectTools', arguments: {} }];
  it.view.update(whole(yours({ calls })));
  words(it).value = 'Now.';
  tool(it, 'Potato_slice');
  const [, slices] = it.all('[role=dialog] input[type=radio]') as HTMLInputElement[];
  if (slices) slices.checked = true;
  [...it.one('[role=dialog]').querySelectorAll('button')].find(one => one.textContent === 'Send')?.click();
  const call = { tool: 'Potato_slice', arguments: { shape: 'SLICES' } };
  assert.deepEqual(it.sent, [{ type: 'draft', calls: [...calls, call], anyway: false, send: true, text: 'Now.' }]);
  it.view.update({ type: 'refused', command: 'draft', reason: 'Potato is missing', fields: { Potato: 'missing' } });
  assert.match(it.one('[role=dialog] .tc-wrong').textContent, /missing/);
});

test('Enter in the form of a call does what its primary button says, and an error at its field stands there alone', async () => {
  const it = await page();
  it.view.update(whole(yours()));
  tool(it, 'Potato_slice');
  it.one('[role=dialog] form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
  assert.equal((it.sent.at(-1) as { send?: boolean }).send, true);
  it.view.update({ type: 'refused', command: 'draft', reason: 'shape is missing', fields: { shape: 'missing' } });
  assert.equal(it.all('[role=dialog] [role=alert]').length, 0);
  assert.equal(it.all('[role=dialog] .tc-wrong').map(one => one.textContent).join(''), 'missing');
});

test('a list of texts from a closed set is chosen with checkboxes', () => {
  const parameters = { properties: { tools: { type: 'array', items: { type: 'string', enum: ['peel', 'cut'] } } }, required: ['tools'] };
  const [field] = fieldsOf(parameters, {});
  assert.deepEqual([field?.kind, field?.options], ['choices', ['peel', 'cut']]);
});

test('what does not fit is said at its field, and can be added as it stands', async () => {
  const it = await page();
  it.view.update(whole(yours()));
  tool(it, 'Potato_slice');
  assert.equal(it.buttons('Add with the mistake').length, 0);
  it.click('Add call');
  it.view.update({ type: 'refused', command: 'draft', reason: 'shape is missing', fields: { shape: 'missing' } });
  it.view.update(delta(1, { session: [{ phase: 'waiting', yours: TURN }] }));
  assert.equal(it.one('[role=dialog] .tc-field:nth-of-type(2) .tc-wrong').textContent, 'missing');
  assert.equal(it.all('.tc-card [role=alert]').length, 0);
  it.click('Add with the mistake');
  assert.deepEqual(it.sent.at(-1), { type: 'draft', calls: [{ tool: 'Potato_slice', arguments: {} }], anyway: true });
});

test('the reply carries the words and the calls that are shown, and a call can be taken back', async () => {
  const it = await page();
  const calls = [
    { tool: 'Potato_slice', arguments: {} },
    { tool: 'selectTools', arguments: {} }
  ];
  it.view.update(whole(yours({ calls })));
  words(it).value = 'Now.';
  it.click('Remove Potato_slice');
  assert.deepEqual(it.sent, [{ type: 'draft', calls: calls.slice(1), anyway: true }]);
  it.view.update(delta(1, { session: [{ phase: 'waiting', yours: { ...TURN, calls: calls.slice(1) } }] }));
  assert.equal(words(it).value, 'Now.');
  it.click('Send');
  assert.deepEqual(it.sent.at(-1), { type: 'say', text: 'Now.', calls: calls.slice(1) });
  it.view.update({ type: 'refused', command: 'say', reason: 'not your turn', fields: {} });
  assert.match(it.one('.tc-card [role=alert]').textContent, /not your turn/);
  assert.equal(words(it).value, 'Now.');
  it.view.update(delta(2, { session: [{ phase: 'waiting', yours: { ...TURN, turn: 4 } }] }));
  assert.equal(words(it).value, '');
});

test('a step that is looked at takes the place of the card, with the way back', async () => {
  const it = await page();
  it.view.update(whole(yours()));
  it.one('ol[aria-label=Steps] button').click();
  assert.equal(it.all('[aria-label="Reply as the model"]').length, 0);
  it.click('Show');
  assert.equal(it.all('[aria-label="Reply as the model"]').length, 1);
  slide(it, 1);
  assert.equal(it.all('[aria-label="Reply as the model"]').length, 0);
});

test('a saved turn shows the same, and nothing that acts', async () => {
  const it = await page(false);
  it.view.update(whole(yours({ calls: [{ tool: 'Potato_slice' }] }), false));
  assert.deepEqual(it.all('.tc-bar:not([hidden])').map(bar => bar.textContent), ['Saved copy. Run the cell to continue.']);
  assert.match(it.one('.tc-status').textContent, /Not finished/);
  assert.match(it.one('.tc-reply').textContent, /Potato_slice\(\)/);
  assert.equal(it.all('.tc-reply button, .tc-reply textarea').length, 0);
});

test('a list of texts is written one a line, or as JSON, and survives untouched', () => {
  const parameters = { properties: { tools: { type: 'array', items: { type: 'string' } } } };
  const [field] = fieldsOf(parameters, { tools: ['a', 'b c'] });
  assert.ok(field);
  assert.equal(field.kind, 'texts');
  const read = (raw: Raw): unknown => readAll([field], new Map([['tools', raw]])).arguments.tools;
  assert.deepEqual(read(rawOf(field, field.initial)), ['a', 'b c']);
  assert.deepEqual(read(' x \n\ny'), ['x', 'y']);
  assert.deepEqual(read('["x", "y"]'), ['x', 'y']);
  assert.equal(fieldsOf(parameters, { tools: ['a\nb'] })[0]?.kind, 'json');
});
