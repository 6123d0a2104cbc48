import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chain, delta, page, slide, whole, type Page } from './page';
import type { GuessRow, Rows, TeachingRow, YourTurn } from './sent';

const TURN: YourTurn = { turn: 3, prompt: 'Make <b>fries</b>.', tools: ['Potato_slice', 'Potato_peel'] };
const SLICE: GuessRow = {
  turn: 2,
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

const teaching = (more: Partial<TeachingRow>): TeachingRow => ({ id: 'teaching', ...more });

/** Two steps, and then the next one is to be guessed. */
function toGuess(more: Partial<TeachingRow> = {}, turn: YourTurn | null = TURN): Rows {
  return {
    ...chain(2),
    session: [{ phase: 'waiting', says: 'Your guess', turn: 2 }],
    extensions: [teaching({ turn, score: '2 of 3 points', ...more })],
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
    ]
  };
}

const card = (it: Page): HTMLElement => it.one('[role=group][aria-label="Guess"]');
const beside = (it: Page): HTMLElement => it.one('[role=group][aria-label="Your guess"]');

const choose = (it: Page, name: string): void => {
  const found = it.all('[role=radiogroup][aria-label=Tool] label').find(one => one.textContent === name);
  const radio = found?.querySelector('input');
  if (!radio) throw new Error(`No tool ${name}`);
  radio.checked = true;
  radio.dispatchEvent(new Event('change', { bubbles: true }));
};

test('one question: the tools to choose from, and a form made from the schema of the chosen one', async () => {
  const it = await page();
  it.view.update(whole(toGuess()));
  assert.match(card(it).textContent, /What will the model call next\?/);
  assert.match(card(it).textContent, /turn 3/);
  assert.match(it.one('details.tc-more').textContent, /Make <b>fries<\/b>\./);
  choose(it, 'Potato_slice');
  assert.match(card(it).textContent, /Cut it\./);
  const select = it.one('.tc-fields select') as HTMLSelectElement;
  assert.deepEqual(
    [...select.options].map(option => option.value),
    ['Potato#3', 'Potato#2', 'Potato#1', '']
  );
  const [, slices] = it.all('.tc-fields input[type=radio]') as HTMLInputElement[];
  if (slices) slices.checked = true;
  select.value = 'Potato#3';
  it.click('Check my guess');
  const given = { Potato: 'Potato#3', shape: 'SLICES' };
  assert.deepEqual(it.sent, [{ type: 'guess', tool: 'Potato_slice', arguments: given }]);
});

test('a guess of nothing is asked for, a field that is left empty is named before it costs a point, and what is refused comes back', async () => {
  const it = await page();
  it.view.update(whole(toGuess()));
  it.click('Check my guess');
  assert.match(it.one('.tc-card [role=alert]').textContent, /Choose a tool/);
  choose(it, 'Potato_slice');
  it.click('Check my guess');
  assert.deepEqual(it.sent, []);
  assert.equal(it.one('.tc-fields .tc-field:nth-of-type(2) .tc-wrong').textContent, 'Enter a value.');
  it.view.update({ type: 'refused', command: 'guess', reason: 'not so', fields: { shape: 'not that' } });
  assert.equal(it.one('.tc-fields .tc-field:nth-of-type(2) .tc-wrong').textContent, 'not that');
  assert.equal(it.all('.tc-card [role=alert]').length, 1);
});

test('what is filled in stays while other things change, and the next turn starts empty', async () => {
  const it = await page();
  it.view.update(whole(toGuess()));
  choose(it, 'Potato_slice');
  const [sticks] = it.all('.tc-fields input[type=radio]') as HTMLInputElement[];
  if (sticks) sticks.checked = true;
  const [row] = toGuess().session ?? [];
  it.view.update(delta(1, { session: [{ ...row, detail: 'something else' }] }));
  assert.equal(sticks?.isConnected && sticks.checked, true);
  it.view.update(delta(2, { extensions: [teaching({ turn: { ...TURN, turn: 4 } })] }));
  assert.equal(it.all('.tc-fields input').length, 0);
});

test('that it calls nothing is a guess too, and the call can be shown, or all the rest', async () => {
  const it = await page();
  it.view.update(whole(toGuess()));
  choose(it, 'no call: it answers');
  for (const name of ['Check my guess', 'Show the call', 'Skip the rest']) {
    it.click(name);
    it.view.update(whole(toGuess()));
  }
  assert.deepEqual(it.sent, [
    { type: 'guess', tool: '', arguments: {} },
    { type: 'skip_guess', rest: false },
    { type: 'skip_guess', rest: true }
  ]);
});

test('the score stands beside the question, guess by guess, and in the card when all is over', async () => {
  const it = await page();
  const shown: GuessRow = { turn: 1, came: { tool: 'Potato_peel' } };
  it.view.update(whole(toGuess({ guesses: [shown, SLICE], score: '2 of 3 points' })));
  const pane = it.one('.tc-body > [aria-label="Your score"]');
  for (const text of ['2 of 3 points', 'Right tool1 of 1', 'Right arguments1 of 2'])
    assert.ok(pane.textContent.includes(text), text);
  const items = [...pane.querySelectorAll('ol[aria-label="Your guesses"] li')].map(one => one.textContent);
  assert.deepEqual(items, ['Potato_sliceshape: STICKS', 'Potato_peelshown']);
  it.view.update(
    delta(1, { session: [{ phase: 'finished' }], extensions: [teaching({ guesses: [shown, SLICE], score: '2 of 3 points', turn: null })] })
  );
  const places = it.all('[aria-label="Your score"]').map(one => one.parentElement?.getAttribute('aria-label'));
  assert.deepEqual(places, ['Details']);
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

test('how a guess came out is one sentence', async () => {
  const it = await page();
  const right = [{ name: 'shape', right: true }];
  const none = { came: null, guess: { tool: '' }, marks: [], calls: 0 };
  const results: [Partial<GuessRow>, string][] = [
    [{ marks: right }, 'Right, all of it.'],
    [{ marks: [] }, 'Right: that is the call.'],
    [{}, 'The right tool, and 1 of 2 arguments.'],
    [{ marks: [{ name: 'shape', right: false }] }, 'The right tool, with another argument.'],
    [{ tool: false }, 'Not this time: it called Potato_slice.'],
    [{ guess: null }, 'Skipped: it called Potato_slice.'],
    [{ ...none, tool: true }, 'Right: it answered, and called nothing.'],
    [{ ...none, guess: { tool: 'Potato_peel' }, tool: false }, 'Not this time: it answered.'],
    [{ ...none, guess: null }, 'Skipped: it answered.']
  ];
  for (const [more, sentence] of results) {
    it.view.update(whole(toGuess({ guesses: [{ ...SLICE, ...more }] })));
    assert.equal(it.one('[aria-label="Your guess"] h3').textContent, sentence);
  }
});

test('of another tool both calls stand there whole, and of an answer that it is one', async () => {
  const it = await page();
  const other: GuessRow = { ...SLICE, tool: false, came: { tool: 'Potato_peel' }, marks: [], right: 0, of: 1 };
  it.view.update(whole(toGuess({ guesses: [SLICE, other] })));
  assert.match(beside(it).textContent, /Potato_slice\(shape="SLICES"\)Potato_peel\(\)/);
  const answers: GuessRow = { ...other, came: null, guess: { tool: '' }, tool: true };
  it.view.update(delta(1, { extensions: [teaching({ guesses: [SLICE, other, answers] })] }));
  assert.match(beside(it).textContent, /no call: it answersno call: it answers/);
  const skipped = { ...answers, id: 'g5', guess: null };
  it.view.update(delta(2, { extensions: [teaching({ guesses: [SLICE, other, answers, skipped] })] }));
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
  const row = { ...SLICE, guess: { tool: evil, arguments: { [evil]: evil } }, marks: [{ name: evil, right: false }] };
  const task = { title: evil, says: `✗ \`${evil}\``, passed: false };
  it.view.update(whole(toGuess({ guesses: [row], task })));
  assert.equal(it.all('img').length, 0);
  assert.match(beside(it).textContent, /<img/);
});

test('a saved turn shows what the model is sent, and nothing that acts', async () => {
  const it = await page(false);
  it.view.update(whole(toGuess(), false));
  assert.deepEqual(it.all('.tc-bar:not([hidden])').map(bar => bar.textContent), ['Saved copy. Run the cell to continue.']);
  assert.equal(it.all('.tc-reply button').length, 0);
});

test('an exercise is checked by a button, and says how it stands', async () => {
  const it = await page();
  const extensions = [teaching({ task: { title: 'Fries in `sticks`' } })];
  it.view.update(whole({ ...chain(1), session: [{ phase: 'finished' }], extensions }));
  assert.match(it.one('.tc-task').textContent, /Exercise: Fries in sticks/);
  it.click('Check');
  assert.deepEqual(it.sent, [{ type: 'check' }]);
  const says = '✗ `fries.food` is `"fries: sticks"`\nHint 1 of 2: Look.';
  it.view.update(delta(1, { extensions: [teaching({ task: { title: 'Fries in `sticks`', says } })] }));
  assert.equal(it.one('[role=status][aria-label=Exercise]').textContent, '✗ fries.food is "fries: sticks"Hint 1 of 2: Look.');
  it.view.update(delta(2, { extensions: [teaching({ task: { title: 'Fries in `sticks`', passed: true } })] }));
  assert.match(it.one('.tc-task').textContent, /Passed: Fries in sticks/);
  it.view.update(delta(3, { extensions: [teaching({ task: null })] }));
  assert.equal(it.all('.tc-task').length, 0);
});
