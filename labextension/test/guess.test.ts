import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GuessRow, Rows, YourTurn } from '../src/generated/contract';
import { chain, delta, page, slide, whole, type Page } from './page';

const TURN: YourTurn = { turn: 3, prompt: 'Make <b>fries</b>.', tools: ['Potato_slice', 'Potato_peel'] };
const SLICE: GuessRow = {
  id: 'g2',
  turn: 2,
  says: 'The right tool, and 1 of 2 arguments.',
  guess: { tool: 'Potato_slice', arguments: { shape: 'SLICES' } },
  came: { tool: 'Potato_slice', arguments: { Potato: 'Potato#2', shape: 'STICKS' } },
  step: 2,
  calls: 1,
  marks: [
    { name: 'Potato', right: true },
    { name: 'shape', right: false }
  ],
  tool: true,
  right: 2,
  of: 3
};

/** Two steps, and then the next one is to be guessed. */
function toGuess(more: Partial<Rows> = {}, turn: YourTurn | null = TURN): Rows {
  return {
    ...chain(2),
    session: [{ phase: 'waiting', says: 'Your guess', turn: 2, guess: turn, score: '2 of 3 points' }],
    tools: [
      {
        id: 'Potato_slice',
        description: 'Cut it.',
        parameters: {
          properties: {
            Potato: { type: 'string', pattern: '^Potato#[1-9][0-9]*$' },
            shape: { enum: ['STICKS', 'SLICES'] }
          },
          required: ['shape']
        }
      },
      { id: 'Potato_peel', parameters: { properties: {} } }
    ],
    ...more
  };
}

const card = (it: Page): HTMLElement => it.one('[role=group][aria-label="Guess"]');
const beside = (it: Page): HTMLElement => it.one('[role=group][aria-label="Your guess"]');

const choose = (it: Page, name: string): void => {
  const found = it.all('ul[aria-label="Tools of this turn"] button').find(one => one.textContent === name);
  if (!found) throw new Error(`No tool ${name}`);
  found.click();
};

test('the card shows what the model is sent, and a guess is a form made from the schema', async () => {
  const it = await page();
  it.view.update(whole(toGuess()));
  assert.match(card(it).textContent, /Make <b>fries<\/b>\./);
  assert.match(card(it).textContent, /turn 3/);
  choose(it, 'Potato_slice');
  assert.match(it.one('[role=dialog]').textContent, /Guess call/);
  const select = it.one('[role=dialog] select') as HTMLSelectElement;
  assert.deepEqual(
    [...select.options].map(option => option.value),
    ['Potato#3', 'Potato#2', 'Potato#1', '']
  );
  const [, slices] = it.all('[role=dialog] input[type=radio]') as HTMLInputElement[];
  if (slices) slices.checked = true;
  select.value = 'Potato#3';
  it.click('Guess');
  const given = { Potato: 'Potato#3', shape: 'SLICES' };
  assert.deepEqual(it.sent, [{ type: 'guess', tool: 'Potato_slice', arguments: given }]);
});

test('what is left out of a guess is no mistake, and what is refused comes back at its field', async () => {
  const it = await page();
  it.view.update(whole(toGuess()));
  choose(it, 'Potato_slice');
  it.click('Guess');
  const left = it.sent.at(-1);
  assert.ok(left?.type === 'guess');
  assert.equal('shape' in (left.arguments ?? {}), false);
  it.view.update({ type: 'refused', command: 'guess', reason: 'no', fields: { shape: 'not so' } });
  assert.equal(it.one('[role=dialog] .tc-field:nth-of-type(2) .tc-wrong').textContent, 'not so');
  assert.equal(it.buttons('Add anyway').length, 0);
});

test('that it calls nothing is a guess too, and a reply or all the rest can be skipped', async () => {
  const it = await page();
  const says = ['No call: it answers', 'Skip', 'Skip the rest'];
  for (const name of says) {
    it.view.update(whole(toGuess()));
    it.click(name);
  }
  assert.deepEqual(it.sent, [
    { type: 'guess', tool: '' },
    { type: 'skip_guess', rest: false },
    { type: 'skip_guess', rest: true }
  ]);
});

test('the guess stands beside the call, argument by argument, and the score in the head', async () => {
  const it = await page();
  it.view.update(whole(toGuess({ guesses: [SLICE] })));
  const rows = [...beside(it).querySelectorAll('tbody tr')].map(row => row.textContent);
  assert.deepEqual(rows, [
    'righttoolPotato_slicePotato_slice',
    'rightPotatoby defaultPotato#2',
    'not rightshapeSLICESSTICKS'
  ]);
  assert.match(beside(it).textContent, /turn 2, 2 of 3 points/);
  assert.match(it.one('.tc-meta').textContent, /2 of 3 points/);
});

test('of another tool both calls stand there whole, and of an answer that it is one', async () => {
  const it = await page();
  const other: GuessRow = { ...SLICE, id: 'g3', says: 'Not this time', tool: false, came: { tool: 'Potato_peel' }, marks: [], right: 0, of: 1 };
  it.view.update(whole(toGuess({ guesses: [SLICE, other] })));
  assert.match(beside(it).textContent, /Potato_slice\(shape="SLICES"\)Potato_peel\(\)/);
  const answers: GuessRow = { ...other, id: 'g4', came: null, guess: { tool: '' }, tool: true };
  it.view.update(delta(1, { guesses: [answers] }));
  assert.match(beside(it).textContent, /no call: it answersno call: it answers/);
  it.view.update(delta(2, { guesses: [{ ...answers, id: 'g5', guess: null, says: 'Skipped: it answered.' }] }));
  assert.equal(it.all('.tc-beside').length, 0);
});

test('a call that is looked at shows the guess of it, and one without a guess none', async () => {
  const it = await page();
  it.view.update(whole(toGuess({ guesses: [SLICE] }, null)));
  const [first, second] = it.all('ol[aria-label=Steps] button');
  first?.click();
  assert.equal(it.all('[aria-label="Your guess"]').length, 0);
  second?.click();
  assert.match(beside(it).textContent, /The right tool/);
  slide(it, 1);
  assert.equal(it.all('[aria-label="Your guess"]').length, 0);
});

test('a step that is looked at takes the place of the card, with the way back', async () => {
  const it = await page();
  it.view.update(whole(toGuess()));
  it.one('ol[aria-label=Steps] button').click();
  assert.equal(it.all('[aria-label="Guess"]').length, 0);
  it.click('Show');
  assert.ok(card(it));
});

test('hostile words of a guess stay words', async () => {
  const it = await page();
  const evil = '<img src=x onerror=alert(1)>';
  const row = { ...SLICE, says: evil, guess: { tool: evil, arguments: { [evil]: evil } }, marks: [{ name: evil, right: false }] };
  const task = { title: evil, says: `✗ \`${evil}\``, passed: false };
  it.view.update(whole(toGuess({ guesses: [row], session: [{ phase: 'waiting', guess: TURN, task }] })));
  assert.equal(it.all('img').length, 0);
  assert.match(beside(it).textContent, /<img/);
});

test('a saved turn shows what the model is sent, and nothing that acts', async () => {
  const it = await page(false);
  it.view.update(whole(toGuess(), false));
  assert.match(card(it).textContent, /run its cell to guess/);
  assert.equal(it.all('.tc-reply button').length, 0);
});

test('an exercise is checked by a button, and says how it stands', async () => {
  const it = await page();
  const session = { phase: 'finished' as const, task: { title: 'Fries in sticks' } };
  it.view.update(whole({ ...chain(1), session: [session] }));
  assert.match(it.one('.tc-task').textContent, /Exercise: Fries in sticks/);
  it.click('Check');
  assert.deepEqual(it.sent, [{ type: 'check' }]);
  const says = '✗ `fries.food` is `"fries: sticks"`\nHint 1 of 2: Look.';
  it.view.update(delta(1, { session: [{ ...session, task: { title: 'Fries in sticks', says } }] }));
  assert.equal(it.one('[role=status][aria-label=Exercise]').textContent, '✗ fries.food is "fries: sticks"Hint 1 of 2: Look.');
  it.view.update(delta(2, { session: [{ ...session, task: { title: 'Fries in sticks', passed: true } }] }));
  assert.match(it.one('.tc-task').textContent, /Passed: Fries in sticks/);
  it.view.update(delta(3, { session: [{ phase: 'finished', task: null }] }));
  assert.equal(it.all('.tc-task').length, 0);
});
