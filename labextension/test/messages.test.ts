/** The tab Messages: which requests there were, what fills each, what each took. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chain, page, slide, whole } from './page';
import type { MessageRow, Rows, TurnRow } from './sent';

const said = (id: string, turn: number, role: MessageRow['role'], text: string, more: Partial<MessageRow> = {}): MessageRow => ({
  id,
  turn,
  role,
  text,
  ...more
});

/** Two requests: a prompt and a call, its result and a second call, and its result. */
const TALK: MessageRow[] = [
  said('u', 1, 'user', 'Bake it.'),
  said('s', 1, 'system', 'You work.'),
  said('t', 1, 'tools', '2 tools: a, b', { size: 700 }),
  said('c1', 1, 'call', 'peel()', { step: 1, tool: 'peel' }),
  said('r1', 2, 'tool', '{"result": 1}', { step: 1 }),
  said('c2', 2, 'call', 'save()', { step: 2, tool: 'save' }),
  said('r2', 3, 'tool', '{"result": "ok"}', { step: 2 })
];

const TOOK: TurnRow[] = [
  { id: 'x1', turn: 1, input: 1115, output: 60, cost: '$0.0059' },
  { id: 'x2', turn: 2, input: 1204, cached: 1044, output: 67, cost: '$0.0023', ms: 1240 }
];

const rows = (phase: 'finished' | 'ready', turns: TurnRow[] = []): Rows => ({
  ...chain(2),
  session: [{ phase, tokens: turns.length ? 2446 : 0, cost: turns.length ? '$0.0082' : '' }],
  messages: TALK,
  turns
});

const shown = (it: Awaited<ReturnType<typeof page>>): string[] =>
  it.all('.tc-msg.new').map(row => row.textContent ?? '');

test('a session that has ended has no request that was not sent, and shows what followed the last reply', async () => {
  const it = await page();
  it.view.update(whole(rows('finished')));
  it.click('Messages');
  assert.deepEqual(it.all('.tc-turns .turn').map(turn => turn.textContent), ['Turn 1', 'Turn 2']);
  assert.doesNotMatch(it.one('.tc-pages').textContent ?? '', /not sent yet/);
  assert.match(it.one('.tc-pages').textContent ?? '', /Results.*"ok"/);
});

test('a session that stands before a request says that it was not sent', async () => {
  const it = await page();
  it.view.update(whole(rows('ready')));
  it.click('Messages');
  assert.deepEqual(it.all('.tc-turns .turn').map(turn => turn.textContent), ['Turn 1', 'Turn 2', 'Turn 3']);
  it.all('.tc-turns .turn')[2]?.click();
  assert.match(it.one('.tc-pages').textContent ?? '', /not sent yet/);
});

test('tokens and cost stand in the head and at each turn, as the model counted them', async () => {
  const it = await page();
  it.view.update(whole(rows('finished', TOOK)));
  assert.match(it.one('.tc-meta').textContent ?? '', /2,446 tokens · \$0\.0082/);
  it.click('Messages');
  assert.match(it.one('.tc-pane .tc-h').textContent ?? '', /tokens in/);
  assert.deepEqual(it.all('.tc-turns li > .small').map(size => size.textContent), ['1,115', '1,204']);
  const heads = it.all('.tc-subhead').map(head => head.textContent ?? '');
  assert.match(heads[0] ?? '', /1,204 tokens in \(87 % cached\) · 2 new messages since turn 1/);
  assert.match(heads[1] ?? '', /67 tokens out · \$0\.0023 in all · 1\.2 s/);
  assert.deepEqual(
    it.all('.tc-total > *').map(one => one.textContent),
    ['2 requests', '2,319', 'from the cache', '1,044', 'tokens out', '127', 'cost', '$0.0082']
  );
});

test('where nobody counted tokens the characters stand there, and no tokens are made up', async () => {
  const it = await page();
  it.view.update(whole(rows('finished')));
  assert.doesNotMatch(it.one('.tc-meta').textContent ?? '', /tokens|\$/);
  it.click('Messages');
  assert.match(it.one('.tc-pane .tc-h').textContent ?? '', /characters/);
  // The first holds prompt, system text and tools; the second the first call and its result too.
  assert.deepEqual(it.all('.tc-turns li > .small').map(size => size.textContent), ['717', '736']);
  assert.doesNotMatch(it.one('.tc-two').textContent ?? '', /tokens|\$/);
});

test('a request says what fills it and what is new, in as many characters as it has', async () => {
  const it = await page();
  it.view.update(whole(rows('finished')));
  it.click('Messages');
  const fills = (): string[] => it.all('.tc-share .small span').map(part => part.textContent ?? '');
  assert.deepEqual(fills(), ['system 9', 'tools 700', 'earlier 8', 'new 19', 'characters']);
  assert.deepEqual(shown(it), ['+callpeel()6', '+tool{"result": 1}13']);
  it.all('.tc-turns .turn')[0]?.click();
  assert.deepEqual(fills(), ['system 9', 'tools 700', 'new 8', 'characters']);
  assert.equal(it.all('.tc-share .bar i').length, 3);
});

test('the turn of the chosen call is shown', async () => {
  const it = await page();
  const calls = chain(2).calls?.map((call, n) => ({ ...call, turn: n + 1 }));
  it.view.update(whole({ ...rows('finished'), calls }));
  it.one('.tc-step[data-n="1"] > .tool').click();
  it.click('Messages');
  assert.equal(it.one('.tc-turns [aria-current] .turn').textContent, 'Turn 1');
});

test('looking back, the requests are those that there were', async () => {
  const it = await page();
  it.view.update(whole(rows('finished', TOOK)));
  slide(it, 1);
  assert.match(it.one('.tc-meta').textContent ?? '', /1,175 tokenscall 1 of 2$/);
  it.click('Messages');
  assert.deepEqual(it.all('.tc-turns .turn').map(turn => turn.textContent), ['Turn 1']);
  assert.deepEqual(it.all('.tc-turns li > .small').map(size => size.textContent), ['1,115']);
});

test('tools that were sent later stand with the first ones, and not among the messages', async () => {
  const it = await page();
  const later = [
    ...TALK.slice(0, 5), said('t2', 2, 'tools', '1 tool: c'), ...TALK.slice(5), said('c3', 3, 'call', 'rest()', { step: 3, tool: 'rest' })
  ];
  it.view.update(whole({ ...rows('finished'), messages: later }));
  it.click('Messages');
  const old = it.all('.tc-msg.old').map(row => row.textContent ?? '');
  const tools = '=tools2 tools: a, b · 1 tool: c2 tools: a, b\n1 tool: c709';
  assert.deepEqual(old.filter(row => row.includes('tool')), [tools, '=2 messagescall: peel() · tool: {"result": 1}19']);
});

test('the exact request opens below its button, before the messages, and has the focus', async () => {
  const it = await page();
  it.view.update(whole(rows('finished')));
  it.click('Messages');
  it.buttons('Exact request')[0]?.focus();
  it.click('Exact request');
  assert.deepEqual(it.sent.at(-1), { type: 'show_request', turn: 2 });
  it.view.update({ type: 'shown', turn: 2, text: '{"model": "a"}' });
  const exact = it.one('.tc-exact');
  assert.equal(exact.textContent, '{"model": "a"}');
  assert.equal(exact.closest('details')?.previousElementSibling?.classList.contains('tc-subhead'), true);
  assert.equal(document.activeElement, exact);
});
