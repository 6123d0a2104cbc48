/** The guesses of a page, beside the answers that the kernel saved (tests/teaching/test_guess_scores.py). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from '../src/generated/contract';
import { chain, page, whole } from './page';
import type { CallRow, Rows, TeachingRow } from './sent';

const stored = new Map<string, string>();
Object.defineProperty(globalThis, 'localStorage', {
  value: { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, value: string) => void stored.set(key, value) },
  configurable: true
});

const NAME = { type: 'string', pattern: '^Potato#[1-9][0-9]*$' };
const call = (step: number, turn: number, more: Partial<CallRow>): CallRow =>
  ({ id: `r${turn}.${step}`, call: `call_${step}`, tool: 'Potato_slice', step, turn, status: 'succeeded', ...more });

const POTATO = { name: 'Potato', values: ['"Potato#1"', ''] };
const TURN = { told: [], system: '', calls: [] };
const ANSWERS: TeachingRow['answers'] = [
  {
    turn: { ...TURN, turn: 1, prompt: 'Cut it.', tools: ['selectTools'] },
    calls: [
      {
        step: 1, call: { tool: 'selectTools', arguments: { tools: ['Potato_peel', 'Potato_slice'] } },
        arguments: [{ name: 'tools', values: ['["Potato_peel", "Potato_slice"]'] }]
      }
    ]
  },
  {
    turn: { ...TURN, turn: 2, prompt: 'Cut it.', tools: ['selectTools', 'Potato_peel', 'Potato_slice'] },
    calls: [
      { step: 2, call: { tool: 'Potato_peel' }, arguments: [POTATO] },
      {
        step: 3, call: { tool: 'Potato_slice', arguments: { shape: 'SLICES' } },
        arguments: [POTATO, { name: 'shape', values: ['"SLICES"'] }, { name: 'thick', values: ['3', ''], optional: true }]
      }
    ]
  },
  { turn: { ...TURN, turn: 3, prompt: 'Cut it.', tools: ['selectTools', 'Potato_peel', 'Potato_slice'] }, calls: [] }
];

/** A session of three replies: tools are selected, two calls, and an answer. */
function recorded(): Rows {
  return {
    ...chain(0),
    session: [{ phase: 'finished', says: 'Finished', turn: 3 }],
    objects: [
      { id: 'p', name: 'Potato#1', kind: 'Potato', role: 'input' },
      { id: 'q', name: 'Potato#2', kind: 'Potato', step: 2, call: 'r2.2', saved: 'dinner' }
    ],
    calls: [
      call(1, 1, { tool: 'selectTools', scheme: true, arguments: { tools: ['Potato_peel', 'Potato_slice'] } }),
      call(2, 2, { tool: 'Potato_peel', arguments: { Potato: 'Potato#1' }, filled: ['Potato'] }),
      call(3, 2, { arguments: { Potato: 'Potato#1', shape: 'SLICES', thick: 3 } })
    ],
    extensions: [{ id: 'teaching', answers: ANSWERS }],
    turns: [1, 2, 3].map(turn => ({ id: `r${turn}`, turn })),
    messages: [
      { id: 'm1', turn: 1, role: 'user', text: 'Cut it.' },
      { id: 'm2', turn: 2, role: 'assistant', text: 'I peel it.' },
      { id: 'm3', turn: 3, role: 'tool', text: 'Potato#2', step: 2 }
    ],
    tools: [
      { id: 'selectTools', parameters: { properties: { tools: { type: 'array', items: { type: 'string' } } }, required: ['tools'] } },
      { id: 'Potato_peel', parameters: { properties: { Potato: NAME } } },
      {
        id: 'Potato_slice',
        parameters: {
          properties: { Potato: NAME, shape: { enum: ['STICKS', 'SLICES'] }, thick: { type: 'integer', default: 3 } }, required: ['shape']
        }
      }
    ]
  };
}

/** The guesses of a session that nobody has guessed in yet. */
async function begun(key = 'test') {
  await page();
  const { RecordedGuesses } = await import('../src/recorded_guesses');
  const { applyNotice, EMPTY_MODEL } = await import('../src/view/model');
  const all = applyNotice(EMPTY_MODEL, whole(recorded()));
  return new RecordedGuesses(all, key);
}

const guess = (tool: string, given: Readonly<Record<string, unknown>> = {}): Command => ({ type: 'guess', tool, arguments: given });

/** The points of a guess of the second reply. */
async function points(command: Command): Promise<readonly number[]> {
  const it = await begun(`${JSON.stringify(command)}`);
  it.take({ type: 'skip_guess', rest: false });
  it.take(command);
  const last = it.model.teaching.guesses.at(-1);
  return [last?.right ?? -1, last?.of ?? -1];
}

test('before a reply there is nothing of it, of later ones, and of tools that are offered later', async () => {
  const it = await begun();
  const first = it.model;
  assert.deepEqual([...first.calls.keys(), ...first.objects.keys(), ...first.tools.keys()], ['p', 'selectTools']);
  assert.deepEqual(first.teaching.turn?.tools, ['selectTools']);
  assert.equal(first.teaching.turn?.prompt, 'Cut it.');
  it.take(guess('selectTools', { tools: ['Potato_slice', 'Potato_peel'] }));
  assert.equal(it.model.teaching.score, '2 of 2 points');
  const second = it.model;
  assert.deepEqual([...second.calls.keys(), ...second.objects.keys()], ['r1.1', 'p']);
  assert.deepEqual([...second.messages.keys()], ['m1']);
  assert.deepEqual(second.teaching.turn?.tools, ['selectTools', 'Potato_peel', 'Potato_slice']);
});

test('an object counts whether it is named or left to the default, and so does a default value', async () => {
  assert.deepEqual(await points(guess('Potato_peel')), [2, 2]);
  assert.deepEqual(await points(guess('Potato_peel', { Potato: 'Potato#1' })), [2, 2]);
  assert.deepEqual(await points(guess('Potato_peel', { Potato: 'Potato#2' })), [1, 2]);
  assert.deepEqual(await points(guess('Potato_slice', { shape: 'SLICES', thick: 3 })), [3, 3]);
  assert.deepEqual(await points(guess('Potato_slice', { Potato: 'Potato#1', shape: 'STICKS', thick: 4 })), [2, 4]);
});

test('an argument too much costs a point, a wrong tool all of them', async () => {
  assert.deepEqual(await points(guess('Potato_peel', { knife: 1 })), [2, 3]);
  assert.deepEqual(await points(guess('selectTools', { tools: [] })), [0, 2]);
  assert.deepEqual(await points(guess('')), [0, 2]);
});

test('the last reply calls nothing; then the whole session is there, with the score', async () => {
  const it = await begun('last');
  it.take(guess('selectTools', { tools: ['Potato_peel'] }));
  it.take(guess('Potato_peel'));
  assert.equal(it.model.objects.get('q')?.saved, '');
  it.take(guess(''));
  const { teaching, session, calls, objects } = it.model;
  assert.deepEqual(teaching.guesses.map(row => [row.tool, row.right, row.of]), [[true, 1, 2], [true, 2, 2], [true, 1, 1]]);
  assert.deepEqual([teaching.turn, teaching.score, session.phase, calls.size, objects.get('q')?.saved], [
    null, '4 of 5 points', 'finished', 3, 'dinner'
  ]);
});

test('guesses are kept for the next visit, and not for another recording', async () => {
  const first = await begun('kept');
  first.take(guess('selectTools', { tools: [] }));
  assert.equal((await begun('kept')).model.teaching.guesses.length, 1);
  stored.set('kept', JSON.stringify([{ id: '9', turn: 9 }]));
  assert.equal((await begun('kept')).hasGuesses, false);
  stored.set('kept', '{');
  assert.equal((await begun('kept')).hasGuesses, false);
  const skipped = await begun('skipped');
  skipped.take({ type: 'skip_guess', rest: true });
  assert.equal(skipped.model.teaching.guesses.length, 3);
  assert.equal(skipped.model.teaching.score, '');
  skipped.startOver();
  assert.equal(skipped.hasGuesses, false);
});
