/** What a person sees before a decision and after it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallRow } from '../src/generated/contract';
import { jsonLines, parsedJson } from '../src/view/exact';
import { namedColumns, oddRows } from '../src/view/full_preview';
import { printsLabel } from '../src/view/labels';
import { called, chain, delta, made, page, waiting, whole } from './page';
import type { ObjectRow, Rows } from './sent';

const COLUMNS = ['id', 'city', 'price'];
const CELLS = Array.from({ length: 40 }, (_, row) => [
  `${row}`, row === 30 ? '"Bern "' : 'Bern', row === 20 ? '' : row === 33 ? '87999.12' : `${10 + (row % 5)}.5`
]);
const SMALL = { caption: '40 × 3', columns: COLUMNS.slice(0, 2), cells: CELLS.slice(0, 4).map(row => row.slice(0, 2)), more: true };
const LARGE = { ...SMALL, columns: COLUMNS, cells: CELLS, more: false };
const displayed = (object = 'p2'): unknown => ({ type: 'displayed', object, preview: LARGE });

/** A session whose third call waits, on a table, with a text argument. */
function onTable(column: string, table: Partial<ObjectRow> = {}): Rows {
  const rows = waiting();
  const calls = (rows.calls ?? []).map(
    call => (call.id === 'call3'
      ? { ...call, tool: 'fill', arguments: { table: 'Potato#3', column }, uses: [{ parameter: 'table', object: 'p2' }] }
      : call)
  );
  const objects = (rows.objects ?? []).map(one => (one.id === 'p2' ? { ...one, preview: SMALL, ...table } : one));
  const parameters = {
    properties: { table: { type: 'string', pattern: '^Potato#[1-9][0-9]*$' }, column: { type: 'string' } }, required: ['table', 'column']
  };
  return { ...rows, calls, objects, tools: [{ id: 'fill', parameters, returns: 'kitchen.Potato' }] };
}

test('the columns that a call names are those in its texts, at any depth', () => {
  const names = (value: unknown): string[] =>
    namedColumns(CallRow.of(called(1, { arguments: { id: value } })), [...COLUMNS, '" a"']).map(column => [...COLUMNS, ' a'][column] ?? '');
  assert.deepEqual(names('price'), ['price']);
  assert.deepEqual(names(['city', { price: 'sum' }]), ['city', 'price']);
  assert.deepEqual(names('price > 10'), ['price']);
  assert.deepEqual(names(' a'), [' a']);
  assert.deepEqual(names(5), []);
});

test('the largest and the smallest number stand out, one empty cell, blanks that are not seen, and what is no number', () => {
  assert.deepEqual(oddRows(CELLS, [2]), [33, 20, 0]);
  assert.deepEqual(oddRows(CELLS, [1, 2]), [30, 33, 20, 0]);
  assert.deepEqual(oddRows(CELLS, [0]), [0, 39]);
  assert.deepEqual(oddRows([['1'], ['2'], ['two']], [0]), [0, 2, 1]);
  const prices = ['39.5', '', '80', '41', '8000', '210', '', '199'].map(price => [price]);
  assert.deepEqual(oddRows(prices, [0]), [4, 1, 0]);
  assert.deepEqual(oddRows([['2'], ['2'], ['']], [0]), [2]);
  assert.deepEqual(oddRows([['2026-01-02'], ['2026-01-03'], ['" "'], ['03/14/26'], ...CELLS.map(() => ['2026-02-01'])], [0]), [2, 3]);
  assert.deepEqual(oddRows([], [0]), []);
});

test('beside a call that waits its table has the named column marked, and the rows that are odd there', async () => {
  const it = await page();
  it.view.update(whole(onTable('price')));
  assert.deepEqual(it.sent, [{ type: 'show_object', object: 'p2' }]);
  it.view.update(displayed());
  const rows = (): string[][] => it.all('.tc-data tr').map(row => [...row.children].map(cell => cell.textContent));
  assert.deepEqual(rows(), [
    ['', 'id', 'city', 'price'], ['0', '0', 'Bern', '10.5'], ['1', '1', 'Bern', '11.5'], ['20', '20', 'Bern', 'empty'],
    ['33', '33', 'Bern', '87999.12']
  ]);
  assert.deepEqual(it.all('.tc-data th.named').map(head => head.textContent), ['price']);
  assert.match(it.one('.tc-data').textContent, /rows that stand out in price/);
  it.click('Show all');
  assert.deepEqual([rows().length, rows()[0]], [41, ['', 'price', 'id', 'city']]);
  assert.equal(it.sent.length, 1);
  it.click('Show less');
  assert.equal(rows().length, 5);
});

test('beside a call that waits a small table is shown whole, though rows of it are odd', async () => {
  const it = await page();
  it.view.update(whole(onTable('price', { preview: { ...LARGE, cells: [0, 20, 1, 2].map(row => CELLS[row] ?? []) } })));
  assert.equal(it.all('.tc-data tbody tr').length, 4);
  assert.doesNotMatch(it.one('.tc-data').textContent, /Show all/);
});

test('a table on a cluster is not fetched unasked', async () => {
  const it = await page();
  it.view.update(whole(onTable('price', { note: 'on the cluster' })));
  assert.deepEqual(it.sent, []);
});

test('the form of a call offers the columns of its table, and an answer the objects that fit', async () => {
  const it = await page();
  it.view.update(whole(onTable('price')));
  it.view.update(displayed());
  it.click('Edit');
  const offered = (): string[] => it.all('datalist option').map(option => option.getAttribute('value') ?? '');
  assert.deepEqual(offered(), COLUMNS);
  it.click('Cancel');
  it.click('Answer');
  assert.deepEqual(offered(), ['Potato#3', 'Potato#2', 'Potato#1']);
  assert.match(it.one('form').textContent, /the name of an object, such as Potato#3/);
  const result = it.one('input[aria-label=Result]') as HTMLInputElement;
  result.value = 'Potato#1';
  it.one('form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
  assert.deepEqual(it.sent.at(-1), { type: 'answer', call: 'c3', result: 'Potato#1', reason: '', approval_digest: '7c1e90ab' });
});

test('a list of columns is chosen among those of its table; those of a very wide one can be typed too', async () => {
  const it = await page();
  const labels = (): HTMLElement[] => it.all('.tc-dialog .tc-check');
  const boxes = (): string[] => labels().map(label => (label.querySelector('input')?.checked ? `+${label.textContent}` : label.textContent));
  const tick = (name: string): void => labels().find(label => label.textContent === name)?.querySelector('input')?.click();
  const edit = (columns: readonly string[]): void => {
    const rows = onTable('', { preview: { ...LARGE, columns, cells: [] } });
    const parameters = { properties: { columns: { type: 'array', items: { type: 'string' } } }, required: ['columns'] };
    const calls = (rows.calls ?? []).map(call => (call.id === 'call3' ? { ...call, arguments: { columns: ['price', 'day'] } } : call));
    it.view.update(whole({ ...rows, calls, tools: [{ id: 'fill', parameters, returns: 'kitchen.Potato' }] }));
    it.click('Edit');
  };
  const send = (): unknown => {
    it.one('.tc-dialog form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
    return (it.sent.at(-1) as { arguments: unknown }).arguments;
  };
  edit(COLUMNS);
  assert.deepEqual(boxes(), ['+price', '+day', 'id', 'city']);
  assert.doesNotMatch(it.one('.tc-dialog').textContent, /the model asked for/);
  tick('city');
  tick('day');
  assert.deepEqual(boxes(), ['+price', 'day', 'id', '+city']);
  assert.equal(it.all('[aria-label="Other columns"]').length, 0);
  assert.deepEqual(send(), { columns: ['price', 'city'] });
  it.view.update(delta(1, {}));
  edit(Array.from({ length: 60 }, (_, number) => `c${number}`));
  assert.equal(boxes().length, 62);
  const others = it.one('[aria-label="Other columns"]') as HTMLTextAreaElement;
  others.value = 'c70\nc71';
  others.dispatchEvent(new Event('input', { bubbles: true }));
  assert.deepEqual(send(), { columns: ['price', 'day', 'c70', 'c71'] });
});

test('a column that the table does not have is named beside the argument, and the form offers those that it has', async () => {
  const it = await page();
  const offered = (): string[] => it.all('datalist option').map(option => option.getAttribute('value') ?? '');
  const warning = (): string => it.all('.tc-lacks').map(one => one.textContent).join();
  it.view.update(whole(onTable('chf')));
  assert.equal(warning(), '');
  it.view.update(displayed());
  assert.equal(warning(), 'Potato#3 has no column chf');
  it.click('Edit');
  assert.deepEqual(offered(), COLUMNS);
  const column = it.all('.tc-dialog input')[0] as HTMLInputElement;
  const wrong = (): string => it.all('.tc-dialog .tc-wrong').map(one => one.textContent).join('');
  assert.equal(wrong(), 'Potato#3 has no column chf');
  assert.equal(column.getAttribute('aria-invalid'), 'true');
  column.value = 'city';
  column.dispatchEvent(new Event('input', { bubbles: true }));
  assert.deepEqual([wrong(), column.getAttribute('aria-invalid')], ['', null]);
  it.click('Cancel');
  const rows = onTable('price', { preview: LARGE });
  it.view.update(whole(rows));
  assert.equal(warning(), '');
  const { calls = [], tools = [] } = onTable('total', { preview: LARGE });
  it.view.update(whole({ ...rows, calls, tools: tools.map(tool => ({ ...tool, description: 'Add a column.' })) }));
  assert.equal(warning(), '');
});

test('a failed call is run with its changed tool, and as it is where the tool has not changed or no cell can change it', async () => {
  const it = await page();
  const rows = chain(2);
  const calls = [...(rows.calls ?? []).slice(0, 1), called(2, { status: 'failed', object: '', error: 'ValueError: no' })];
  const retry = (unchanged: boolean): unknown => ({ type: 'retry', call: 'c2', approval_digest: '', unchanged });
  it.view.update(whole({ ...rows, calls, tools: [{ id: 'Potato_do2', can_change: true }] }));
  it.all('[aria-label=Steps] button')[1]?.click();
  assert.equal(it.one('.tc-cardbody .tc-title + .tc-error').textContent, 'ValueError: no');
  it.view.update(delta(1, { session: [{ phase: 'waiting', holds_kernel: true }] }));
  it.click('Fix and retry');
  assert.match(it.one('.tc-acts').textContent, /Stop the run first/);
  assert.deepEqual(it.sent, []);
  it.view.update(delta(2, { session: [{ phase: 'stopped' }] }));
  it.click('Fix and retry');
  assert.deepEqual(it.sent.at(-1), retry(false));
  it.view.update({ type: 'refused', command: 'retry', reason: 'The tool has not changed since the call failed.', fields: {} });
  assert.match(it.one('.tc-acts [role=alert]').textContent, /has not changed/);
  it.click('Run again');
  assert.deepEqual(it.sent.at(-1), retry(true));
  it.view.update(whole({ ...rows, calls, tools: [{ id: 'Potato_do2' }] }));
  assert.deepEqual([it.buttons('Fix and retry').length, it.buttons('Run again').length], [0, 1]);
  it.view.update(whole({ ...rows, calls }));
  assert.deepEqual([it.buttons('Fix and retry').length, it.buttons('Run again').length], [0, 0]);
});

test('that a tool has not changed is said of the call that was pressed alone, until a cell has run', async () => {
  const it = await page();
  const rows = chain(2);
  const calls = [1, 2].map(step => called(step, { status: 'failed', object: '', error: 'ValueError: no' }));
  it.view.update(whole({ ...rows, calls, tools: calls.map(({ tool }) => ({ id: tool, can_change: true })) }));
  const steps = (): HTMLElement[] => it.all('[aria-label=Steps] button');
  const shown = (): unknown => [it.all('.tc-acts [role=alert]').length, it.buttons('Fix and retry').length, it.buttons('Run again').length];
  const refused = { type: 'refused', command: 'retry', reason: 'The tool has not changed.', fields: {} } as const;
  steps()[1]?.click();
  it.click('Fix and retry');
  it.view.update(refused);
  assert.deepEqual(shown(), [1, 0, 1]);
  steps()[0]?.click();
  assert.deepEqual(shown(), [0, 1, 0]);
  it.click('Fix and retry');
  it.view.update(refused);
  it.view.update({ ...refused, command: '', reason: '' });
  assert.deepEqual(shown(), [0, 1, 0]);
});

test('wrong arguments are edited, no fix of the tool is offered, and the form opens at the first of them', async () => {
  const it = await page();
  const rows = chain(2);
  const error = { status: 'failed', object: '', error: 'Potato_do2: hot: there is no such argument', arguments: { cool: 2, hot: 1 }, wrong: { hot: 'there is no such argument' } } as const;
  const calls = [called(1), called(2, error)];
  it.view.update(whole({ ...rows, calls, tools: [{ id: 'Potato_do2', can_change: true }] }));
  it.all('[aria-label=Steps] button')[1]?.click();
  assert.deepEqual(it.all('.tc-act button').map(one => one.textContent).slice(0, 2), ['Edit', 'Replay from here']);
  it.click('Edit');
  assert.equal(it.one('.tc-dialog .tc-field:has([aria-invalid]) .tc-wrong').textContent, 'there is no such argument');
  assert.equal(document.activeElement?.getAttribute('aria-invalid'), 'true');
});

test('a call that is looked back at is edited as it is now, with the calls after it', async () => {
  for (const session of [{ phase: 'finished' }, { phase: 'ready', detail: 'Nothing ran.', recorded_calls: 5 }] as const) {
    const it = await page();
    const rows = chain(3);
    const calls = (rows.calls ?? []).map(call => ({ ...call, arguments: { note: 'a' } }));
    it.view.update(whole({ ...rows, calls, session: [session] }));
    it.click('Step back');
    it.click('Step back');
    assert.match(it.one('[role=status]').textContent, /Looking back at call 1/);
    it.click('Edit');
    assert.match(it.one('.tc-dialog').textContent, /Potato_do1/);
    assert.doesNotMatch(it.one('[role=status]').textContent, /Looking back/);
    assert.match(it.one('.tc-meta').textContent, /selected: call 1 of/);
    const input = it.one('.tc-dialog .tc-in') as HTMLTextAreaElement;
    input.value = '7';
    input.dispatchEvent(new Event('input', { bubbles: true }));
    assert.match(it.one('.tc-dialog .tc-note').textContent, /Then 2 calls run again \(2-3\)/);
  }
});

test('a call of a tool that does not exist opens the form of the one that was meant, with the arguments that fit', async () => {
  const it = await page();
  const failed = called(2, { tool: 'pell', status: 'failed', object: '', arguments: { depth: 2, hot: 1 }, suggested_tool: 'peel' });
  const unknown = called(3, { tool: 'xyz', status: 'failed', object: '', turn: 3, suggested_tool: '' });
  const tools = [{ id: 'peel', order: ['depth'], parameters: { properties: { depth: { type: 'integer' } }, required: ['depth'] } }];
  it.view.update(whole({ ...chain(1), calls: [called(1), failed, unknown], tools, session: [{ phase: 'finished' }] }));
  const offered = (): string[] => it.all('.tc-act button').map(one => one.textContent);
  it.all('[aria-label=Steps] button')[1]?.click();
  assert.deepEqual(offered(), ['Use peel', 'Replay from here', 'Fork from here', 'Ask the model from here']);
  it.click('Use peel');
  assert.deepEqual(it.all('.tc-dialog .tc-label').map(one => one.textContent), ['depth', 'Reason']);
  assert.match(it.one('.tc-dialog .tc-note').textContent, /Runs on a new branch: peel\(depth=2\)/);
  it.one('.tc-dialog form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
  assert.deepEqual(it.sent.at(-1), {
    type: 'edit', call: 'c2', approval_digest: '', tool: 'peel', arguments: { depth: 2 }, left_out: [], reason: ''
  });
  it.view.update(delta(1, {}));
  it.all('[aria-label=Steps] button')[2]?.click();
  assert.deepEqual(offered(), ['Replay from here', 'Fork from here', 'Ask the model from here']);
});

test('what an edited call made is shown, and saved in place of an older object with one press where the call had failed', async () => {
  const it = await page();
  const rows = chain(1);
  const failed = called(2, { status: 'failed', object: '', error: 'no' });
  const save = called(3, { tool: 'save', saves: true, object: '', arguments: { clean: 'Potato#2' }, uses: [{ parameter: 'clean', object: 'p1' }], approval_digest: 'd3' });
  const session: Rows['session'] = [{ phase: 'finished' }];
  it.view.update(whole({ ...rows, calls: [called(1), failed, save], session }));
  it.all('[aria-label=Steps] button')[1]?.click();
  it.click('Edit');
  it.one('.tc-dialog form').dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }));
  const branches = [{ id: 'b1', name: 'main' }, { id: 'b2', name: 'edit', current: true }];
  const calls = [called(1), called(2, { edited: true }), save, { ...failed, id: 'b1 call2', branch: 'b1' }];
  const repair = { call: called(2).id, object: 'Potato#3', is_unused: true, ask_turn: 3, save: save.id, output: 'clean' };
  it.view.update(whole({ ...rows, calls, session: [{ ...session[0], repair }], branches, objects: [...(rows.objects ?? []), made('p2', 2)] }));
  assert.equal(it.one('.tc-card h3').textContent, 'Potato#3');
  assert.match(it.one('.tc-act').textContent, /^Nothing uses Potato#3 yet\.Save Potato#3 as clean/);
  it.click('Ask the model from here');
  assert.deepEqual(it.sent.at(-1), { type: 'ask', turn: 3 });
  it.view.update(delta(1, {}));
  it.all('[aria-label=Steps] button')[1]?.click();
  it.click('Save Potato#3 as clean');
  assert.deepEqual(it.sent.at(-1), { type: 'edit', call: 'c3', approval_digest: 'd3', arguments: { clean: 'Potato#3' } });
  it.all('[aria-label=Steps] button')[2]?.click();
  assert.equal(it.buttons('Save Potato#3 as clean').length, 1);
  const saved = { ...save, arguments: { clean: 'Potato#3' }, uses: [{ parameter: 'clean', object: 'p2' }] };
  it.view.update(delta(2, { calls: [saved], session }));
  assert.equal(it.buttons('Save Potato#3 as clean').length, 0);
});

test('a run that was stopped before a decision says that Approve continues it, and a key that is missing is shown as code', async () => {
  const it = await page();
  const bar = (): string => it.all('.tc-bar').map(one => one.textContent).join();
  const stopped = { phase: 'stopped', says: 'Stopped', detail: 'Press Run, or run %toolchat next, to continue.' } as const;
  it.view.update(whole({ ...waiting(), session: [{ ...stopped, pending: ['call3'] }] }));
  assert.equal(bar(), 'Approve continues the run.');
  it.view.update(delta(1, { session: [stopped] }));
  assert.equal(bar(), stopped.detail);
  it.view.update(delta(2, { session: [{ phase: 'failed', says: 'Failed', detail: 'KEY is not set: use `-m scripted`' }] }));
  assert.equal(it.one('.tc-bar code').textContent, '-m scripted');
});

test('above what a failed call printed stands whether that is its traceback', () => {
  assert.equal(printsLabel('Traceback (most recent call last):\n'), 'Traceback');
  assert.equal(printsLabel('1\nTraceback (most recent call last):\n'), 'Printed, and traceback');
  assert.equal(printsLabel('1'), 'Printed');
});

test('of a new table no cell has changed: its first rows are shown', async () => {
  const it = await page();
  const rows = chain(2);
  const calls = (rows.calls ?? []).map(call => (call.step === 2 ? { ...call, before: 'p1', change: 'a new table, 40 × 3' } : call));
  it.view.update(whole({ ...rows, calls, objects: (rows.objects ?? []).map(one => (one.id === 'p2' ? { ...one, preview: SMALL } : one)) }));
  assert.equal(it.all('.tc-tablepart').length, 0);
  it.view.update(delta(1, { differences: [{ id: 'change p1 p2', parts: [{ name: '', says: 'a new table' }] }] }));
  assert.deepEqual(it.all('.tc-tablepart thead th').map(one => one.textContent), ['id', 'city']);
});

test('a run with failures has no tick', async () => {
  const it = await page();
  const icon = (): string => it.all('[role=status] path').map(path => path.getAttribute('d')).join();
  it.view.update(whole(chain(1)));
  const tick = icon();
  it.view.update(whole({ ...chain(1), session: [{ phase: 'finished', says: 'Finished', ending: ['1 call, 1 failed'] }] }));
  assert.notEqual(icon(), tick);
});

test('a step shows why its call was rejected, and what save tells the model is not shown to the person', async () => {
  const it = await page();
  const rows = chain(2);
  const rejected = called(3, { status: 'rejected', object: '', arguments: { count: 9 }, reason: 'too many' });
  const save = called(4, { tool: 'save', saves: true, object: '', arguments: { peeled: 'Potato#3' } });
  it.view.update(
    whole({
      ...rows, calls: [...(rows.calls ?? []), rejected, save], tools: [{ id: 'save', description: 'Hand over what was asked for.' }]
    })
  );
  assert.equal(it.one('[aria-label=Steps] li:nth-child(3) .what').textContent, 'count 9');
  assert.equal(it.one('[aria-label=Steps] li:nth-child(3) .change').textContent, 'Reason: too many');
  assert.match(it.one('.tc-card').textContent, /Saves the result as peeled/);
  assert.doesNotMatch(it.one('.tc-card').textContent, /Hand over/);
});

test('in a step the values of arguments stand apart from their names, in quotes where they could be several, with the old value of an edit', async () => {
  const it = await page();
  const values = { customer: 'Anna Müller', method: 'median', note: '', count: 3, Potato: 'Potato#1' };
  it.view.update(whole({
    ...chain(0),
    calls: [called(1, { edited: true, uses: [{ parameter: 'Potato', object: 'p0' }], arguments: values, asked: { ...values, method: 'mean' } })],
    tools: [{ id: 'Potato_do1', order: ['customer', 'method', 'note', 'count', 'Potato'] }]
  }));
  const what = it.one('[aria-label=Steps] li .what');
  assert.match(what.textContent, /customer "Anna Müller", method median \(was mean\), note "", count 3, Potato#1$/);
  assert.deepEqual([...what.querySelectorAll('.v')].map(one => one.textContent), ['"Anna Müller"', 'median', '""', '3', 'Potato#1']);
});

test('what the next step of a replay does stands above the tabs, also while it runs; the buttons of the head take it, or go back', async () => {
  const it = await page();
  it.view.update(whole(chain(3)));
  const bar = (): string => it.all('.tc-page > .tc-bar:not([hidden])').map(one => one.textContent).join();
  const shown = (): string[] => it.all('.tc-drive button:not([hidden])').map(one => one.textContent);
  it.click('Replay from here');
  const replay = { phase: 'ready', says: 'Ready for the next step', detail: 'Nothing ran.', recorded_calls: 8, can_go_back: true } as const;
  it.view.update(delta(1, { session: [replay] }));
  assert.deepEqual([bar(), it.one('.tc-meta').textContent], ['Nothing ran.', 'call 3 of 8']);
  assert.deepEqual(shown(), ['Run', 'Go back', 'Step back', 'Step']);
  it.click('Step back');
  // What is said of the next step is not said of the call that is looked back at.
  assert.equal(bar(), '');
  it.click('Back to now');
  it.click('Step');
  it.view.update(delta(2, { session: [{ phase: 'running', says: 'Running', recorded_calls: 8 }] }));
  assert.equal(bar(), 'Nothing ran.');
  it.view.update(delta(3, { session: [replay] }));
  it.click('Go back');
  assert.deepEqual(it.sent.map(({ type }) => type), ['replay', 'step', 'stop']);
  it.view.update(delta(4, { session: [{ phase: 'finished', says: 'Finished', detail: 'Replayed: everything came out as it was recorded.' }] }));
  assert.equal(bar(), 'Replayed: everything came out as it was recorded.');
  it.view.update(delta(5, { session: [{ phase: 'finished', says: 'Finished', detail: 'It differs.', differs: true }] }));
  it.click('Compare shows where.');
  assert.equal(it.one('[role=tab][aria-selected=true]').textContent, 'Compare');
});

test('of a step that changed nothing, that stands beside its time', async () => {
  const it = await page();
  const rows = chain(2);
  const calls = (rows.calls ?? []).map(call => ({ ...call, ms: 23, ...(call.step === 1 ? { change: 'clean: yes' } : { change: 'changed nothing', changes_nothing: true }) }));
  it.view.update(whole({ ...rows, calls }));
  const texts = (part: string): string[] => it.all(`[aria-label=Steps] li .${part}`).map(one => one.textContent);
  assert.deepEqual([texts('end'), texts('change')], [['23 ms', 'changed nothing, 23 ms'], ['clean: yes']]);
});

test('a copy of a session that was stopped gives one advice', async () => {
  const it = await page(false);
  it.view.update(whole({ ...chain(1), session: [{ phase: 'stopped', says: 'Stopped', detail: 'Interrupted. Press Run to continue.' }] }, false));
  assert.deepEqual(it.all('.tc-bar').map(one => one.textContent), ['Saved copy. Run the cell to continue.']);
});

test('nested values stand on as few lines as are good to read, each exact', () => {
  const text = '{"retry": {"times":3,"wait":[1,5.0,25]}, "to": ["anna@example.com", "bob@example.com"], "labels": {"team":"sales","owner":"bob"}}';
  const lines = jsonLines(parsedJson(text)).split('\n');
  assert.deepEqual(lines, [
    '{', '  "retry": {"times":3,"wait":[1,5.0,25]},', '  "to": ["anna@example.com","bob@example.com"],',
    '  "labels": {"team":"sales","owner":"bob"}', '}'
  ]);
  assert.equal(jsonLines({ a: 'x'.repeat(90), b: [] }), `{\n  "a": "${'x'.repeat(90)}",\n  "b": []\n}`);
});

test('a call that waits for a budget of calls offers as many again', async () => {
  const { view, click, sent } = await page();
  const rows = waiting();
  view.update(whole({ ...rows, calls: rows.calls?.map(call => (call.status === 'proposed' ? { ...call, budget_calls: 40 } : call)) }));
  click('Go on with 40 more calls');
  assert.deepEqual(sent, [{ type: 'add_budget', calls: 40 }]);
});

test('a budget that was raised offers as much more as the first time', async () => {
  const { view, click, sent } = await page();
  const budget = { why: 'Too little is left.', used: 4000, tokens: 5000, more_tokens: 2500 };
  view.update(whole({ ...chain(1), session: [{ phase: 'waiting', budget }] }));
  click('Go on with 2,500 more');
  assert.deepEqual(sent, [{ type: 'add_budget', tokens: 2500, cost: 0 }]);
});

test('a call that waits behind one that runs cannot be decided before that has ended', async () => {
  const it = await page();
  const rows = waiting();
  const isOff = (): boolean[] => ['Approve', 'Edit', 'Reject', 'Answer'].flatMap(name => it.buttons(name).map(button => button.disabled));
  const session = (rows.session ?? []).map(one => ({ ...one, phase: 'running' as const, pending: [] }));
  it.view.update(whole({ ...rows, session }));
  assert.deepEqual(isOff(), [true, true, true, true]);
  it.view.update(delta(1, { session: rows.session ?? [] }));
  assert.deepEqual(isOff(), [false, false, false, false]);
});
