import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setLanguage } from '../src/view/text';
import { delta, page, whole, type Page } from './page';
import type { Rows, TeachingRow } from './sent';

/** Every text of the interface in guillemets, the last one cut off where there is no room; the texts of a session below have no small letters. */
const MARKED = /«[^«»]*(»|…)/g;
/** Names of the parts of a request, as providers name them, and units. */
const NAMES = /\b(system|tools|user|session|assistant|call|tool|ms|min|s|true|false|null)\b/g;

const SCHEMA = {
  properties: {
    P: { type: 'string', pattern: '^P#[1-9][0-9]*$', description: 'D' },
    SHAPE: { enum: ['STICKS', 'SLICES'] },
    COUNT: { type: 'integer' },
    FLAG: { type: 'boolean' },
    LINES: { type: 'array', items: { type: 'string' } }
  },
  required: ['SHAPE']
};

const ROWS: Rows = {
  session: [
    {
      phase: 'waiting', says: ['WAITS'], detail: 'DETAIL', pending: ['c4'], model: 'M', tokens: 1200, remembered: 1, ran: 2, cost: '$1',
      turn: 3, stops: ['B'], text: 'REPLY'
    }
  ] as unknown as Rows['session'],
  objects: [
    {
      id: 'p0', name: 'P#1', kind: 'P', role: 'input',
      preview: { caption: 'RAW', columns: ['A'], cells: [['1']], empty_cells: [['A', '3']], empty_columns: 1, more: true }
    },
    { id: 'p1', name: 'P#2', kind: 'P', step: 1, call: 'c1', equals: 'P#1', note: 'NOTE', outdated: 'WHY', saved: 'OUT' },
    { id: 'p2', name: 'P#3', kind: 'P', step: 2, call: 'c2', preview: { image: 'data:image/png;base64,AA==', text: 'T' } },
    { id: 'p4', name: 'P#4', kind: 'P', role: 'pending', call: 'c4' },
    { id: 'x2', name: 'P#3', kind: 'P', step: 2, call: 'x2', branch: 'h0' },
    { id: 'o', name: 'OUT', kind: 'P', role: 'output', description: 'D' },
    { id: 'i', name: 'Q#1', kind: 'Q', role: 'input' }
  ],
  calls: [
    {
      id: 'c1', call: 'c1', tool: 'A', step: 1, turn: 1, status: 'succeeded', object: 'p1', before: 'p0', change: 'CHANGE', memory: true,
      outdated: 'WHY', notes: ['N', 'N2'], uses: [{ parameter: 'P', object: 'p0' }], arguments: { P: 'P#1' }, filled: ['P'],
      prints: 'PRINT', by: 'CLIENT'
    },
    {
      id: 'c2', call: 'c2', tool: 'A', step: 2, turn: 2, status: 'succeeded', object: 'p2', edited: true, asked: { P: 'P#2', GONE: 1 },
      arguments: { P: 'P#2', N: 2 }, uses: [{ parameter: 'P', object: 'p1' }], ms: 2100,
      warning: { kind: 'asked before a change', text: 'TEXT', action: 'ACT' }, stale: true, result: 'R', reason: 'BECAUSE'
    },
    { id: 'c3', call: 'c3', tool: 'B', step: 3, turn: 2, status: 'failed', error: 'ERROR', uses: [{ parameter: 'P', object: 'p1' }] },
    {
      id: 'c4', call: 'c4', tool: 'A', step: 4, turn: 3, status: 'proposed', object: 'p4', approval_digest: 'X',
      arguments: { P: 'P#2', SHAPE: 'STICKS' }, filled: ['SHAPE'], uses: [{ parameter: 'P', object: 'p1' }], why: 'WHY',
      downstream: 'CREATES'
    },
    { id: 'c5', call: 'c5', tool: 'B', step: 5, turn: 3, status: 'proposed', approval_digest: 'Y' },
    {
      id: 'x2', call: 'c2', tool: 'A', step: 2, turn: 2, status: 'succeeded', branch: 'h0', object: 'x2',
      uses: [{ parameter: 'P', object: 'p1' }], arguments: { P: 'P#2', N: 1 }
    }
  ],
  tools: [
    { id: 'A', description: 'DOES A.', parameters: SCHEMA, returns: 'P' },
    { id: 'B', description: 'DOES B.', read_only: true }
  ],
  messages: [
    { id: 'm1', turn: 1, role: 'system', text: 'SYS' },
    { id: 'm2', turn: 1, role: 'tools', text: 'A, B' },
    { id: 'm3', turn: 1, role: 'user', text: 'PROMPT' },
    { id: 'm4', turn: 1, role: 'assistant', text: 'SAYS' },
    { id: 'm5', turn: 2, role: 'tool', text: 'RESULT', step: 1 },
    { id: 'm6', turn: 3, role: 'assistant', text: 'SAYS', stale: true }
  ],
  turns: [
    { id: 't1', turn: 1, input: 1000, cached: 500, output: 20, ms: 1200, attempts: ['TRY'] },
    { id: 't2', turn: 2, input: 1000, output: 20, cost: '$1' }
  ],
  branches: [
    { id: 'h0', name: 'OLD', shares: 'current', calls: 2, ran: 2, tokens: 7, ms: 14, differs: 'N 1' },
    { id: 'h1', name: 'NEW', current: true, left: 'h0', calls: 5, ran: 2, remembered: 1, ms: 6 },
    { id: 'h2', name: 'GONE', hidden: true, calls: 1 }
  ],
  comparisons: [
    {
      id: 'h0 current',
      left: 'h0',
      right: 'current',
      unasked: true,
      shared: 1,
      pairs: [
        {
          left: 'x2', right: 'c2', kind: 'differs', changes: [{ what: 'argument', name: 'N' }, { what: 'result' }],
          objects: [{ left: 'x2', right: 'p2' }]
        },
        { left: '', right: 'c3', kind: 'differs' }
      ]
    }
  ],
  differences: [
    { id: 'p0 p1', parts: [{ says: 'SAYS', cells: [{ row: '1', column: 'A', left: '', right: '2' }] }] },
    { id: 'x2 p2', parts: [{ name: 'F', says: 'SAYS', left: null, right: '2' }, { name: 'G', says: 'SAYS', cells: [{ row: '1', column: 'A' }] }] }
  ]
};

/** The texts that a person reads or hears of the panel, without those of the catalogue. */
function untranslated({ root }: Page): string[] {
  const texts: string[] = [];
  for (const element of root.querySelectorAll('*')) {
    for (
      const name of ['aria-label', 'title', 'placeholder', 'aria-valuetext', 'aria-description', 'alt']
    ) texts.push(element.getAttribute(name) ?? '');
    for (const node of element.childNodes) if (node.nodeType === 3 && element.localName !== 'style') texts.push(node.textContent ?? '');
  }
  return texts.filter(text => {
    let rest = text;
    for (let before = ''; before !== rest; ) [before, rest] = [rest, rest.replace(MARKED, '')];
    return /[a-z]/.test(rest.replace(NAMES, ''));
  });
}

async function withMarks(check: () => Promise<void>): Promise<void> {
  setLanguage('en-US', (text, many = text, count = 1) => `«${count === 1 ? text : many}»`);
  try {
    await check();
  } finally {
    setLanguage('en-US', () => undefined);
  }
}

test('every text of a waiting session, in every tab, menu, form and card, is in the catalogue', () =>
  withMarks(async () => {
    const it = await page();
    it.view.update(whole(ROWS));
    const look = (where: string): void => assert.deepEqual([...new Set(untranslated(it))], [], where);
    const open = (name: string, where = name): void => {
      it.click(`«${name}»`);
      look(where);
    };
    look('the waiting call');
    open('Edit');
    const [dialog] = it.all('[role=dialog]');
    assert.ok(dialog);
    it.click('«Cancel»');
    open('Reject');
    it.click('«Cancel»');
    open('Answer');
    it.click('«Cancel»');
    open('More');
    open('Legend');
    open('Search');
    for (const chip of it.all('.tc-chip')) chip.click();
    look('search');
    for (const tab of ['Steps', 'Messages', 'Compare']) open(tab);
    open('Graph');
    it.one('.tc-branch').click();
    look('the list of branches');
    it.one('details.tc-toolbox summary').click();
    look('tools');
    for (const step of it.all('ol.tc-steps li')) {
      step.click();
      look(`the card of step ${step.dataset.n ?? ''}`);
    }
    for (const turn of ['1', '2', '3']) {
      open('Messages');
      it.click(`«Turn ${turn}»`.replace(turn, '%1').replace('%1', turn));
      look(`turn ${turn}`);
    }
  }));

test('every text of a saved session and of a look back is in the catalogue', () =>
  withMarks(async () => {
    const it = await page(false);
    it.view.update(whole(ROWS, false));
    assert.deepEqual(untranslated(it), []);
    const slider = it.one('input[type=range]') as HTMLInputElement;
    slider.value = '2';
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    assert.deepEqual(untranslated(it), []);
  }));

test('every text of the cards in which a person replies, guesses and solves an exercise is in the catalogue', () =>
  withMarks(async () => {
    const yours = { turn: 3, prompt: 'P', tools: ['A', 'B'], told: [{ text: 'T' }], calls: [{ tool: 'A', arguments: {} }], system: 'S' };
    const it = await page();
    it.view.update(whole({ ...ROWS, session: [{ phase: 'waiting', says: 'S', yours }] }));
    assert.deepEqual(untranslated(it), []);
    it.all('.tc-tools-now button')[0]?.click();
    assert.deepEqual(untranslated(it), [], 'Write call');
    const guess = {
      id: 'g', turn: 2, guess: { tool: 'A', arguments: { N: 1 } }, came: { tool: 'A', arguments: {} }, step: 2, calls: 2,
      marks: [{ name: 'N', right: false }], tool: true, right: 1, of: 2
    };
    const others = [
      { ...guess, id: 'g2', tool: false }, { ...guess, id: 'g3', guess: null },
      { ...guess, id: 'g4', came: { tool: '', arguments: {} }, tool: false }
    ];
    const task = { title: 'T', says: 'S' };
    const teaching = { id: 'teaching' as const, turn: yours, score: 'S', guesses: [...others, guess], task } satisfies TeachingRow;
    const other = await page();
    other.view.update(whole({ ...ROWS, session: [{ phase: 'waiting', says: 'S' }], extensions: [teaching] }));
    assert.deepEqual(untranslated(other), []);
    other.click('«Check my guess»');
    assert.deepEqual(untranslated(other), []);
  }));

test('a text of the kernel is translated with its values, also those that are texts themselves', () =>
  withMarks(async () => {
    const it = await page();
    const says = ['Running: %1', [['%1 cell', '%1 cells'], 1200]];
    it.view.update(whole({ session: [{ phase: 'ready', says }] } as unknown as Rows));
    assert.equal(it.one('[role=status]').textContent, '«Running: «1,200 cells»»');
    it.view.update(delta(1, { session: [{ id: 'session', says: ['', ['saved'], ', ', '%1'] }] } as unknown as Rows));
    assert.equal(it.one('[role=status]').textContent, '«saved», %1');
  }));
