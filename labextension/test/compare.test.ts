import assert from 'node:assert/strict';
import { test } from 'node:test';
import { called, chain, delta, made, page, press, slide, whole, type Page } from './page';
import type { BranchRow, CallRow, ComparisonRow, DifferenceRow, ObjectRow, PairRow, Rows } from './sent';

const HOSTILE = '</script><img src=x onerror=alert(1)>\u202e';
const HEAD = 'h0';

/** How the second call of both differs, and the third is the same. */
const DIFFERS: PairRow = { left: 'x2', right: 'call2', kind: 'differs', changes: [{ what: 'argument', name: 'n' }] };
const SAME: PairRow = { left: 'x3', right: 'call3' };
const OBJECTS = { left: 'y2', right: 'p2' };

const compared = (more: Partial<ComparisonRow> = {}): ComparisonRow => ({
  id: `${HEAD} current`,
  left: HEAD,
  right: 'current',
  unasked: true,
  shared: 1,
  pairs: [{ ...DIFFERS, objects: [OBJECTS] }, SAME],
  ...more
});

/** A chain of three calls, and another branch that went another way from the second on. */
function forked(other: Partial<CallRow> = {}, object: Partial<ObjectRow> = {}, more: Partial<Rows> = {}): Rows {
  const rows = chain(3);
  return {
    ...rows,
    calls: [
      ...(rows.calls ?? []),
      called(2, { id: 'x2', branch: HEAD, object: 'y2', arguments: { n: 1 }, ...other }),
      called(3, { id: 'x3', branch: HEAD, object: 'y3', uses: [{ parameter: 'Potato', object: 'y2' }] })
    ],
    objects: [
      ...(rows.objects ?? []),
      made('y2', 2, { branch: HEAD, call: 'x2', ...object }),
      made('y3', 3, { branch: HEAD, call: 'x3' })
    ],
    branches: [
      { id: HEAD, name: 'main', shares: 'current', calls: 3, ran: 3, tokens: 1204, ms: 14, cost: '$0.0100' },
      { id: 'h1', name: 'slices', current: true, left: HEAD, calls: 3, ran: 2, remembered: 1, ms: 6 }
    ],
    comparisons: [compared()],
    ...more
  };
}

async function open(rows: Rows, live = true): Promise<Page> {
  const it = await page(live);
  it.view.update(whole(rows, live));
  it.click('Compare');
  return it;
}

const texts = (it: Page, selector: string): string[] => it.all(selector).map(one => one.textContent);

const choose = (it: Page, label: string, value: string): void => {
  const select = it.one(`[aria-label="${label}"]`) as HTMLSelectElement;
  select.value = value;
  select.dispatchEvent(new Event('change', { bubbles: true }));
};

test('what is the same folds to a line, and what differs stands side by side with what differs marked', async () => {
  const parts = [{ name: 'cut', left: 'STICKS', right: 'SLICES' }];
  const it = await open(forked({}, {}, { differences: [{ id: 'y2 p2', parts }] }));
  assert.match(it.one('[role=table]').textContent, /Potato_do1: the same in both, not run again/);
  assert.equal(it.one('.tc-with [role=status]').textContent, '1 of 3 calls differs');
  assert.deepEqual(texts(it, '.diff .tc-call mark'), ['1']);
  assert.deepEqual(texts(it, '.diff .tc-partof mark'), ['STICKS', 'SLICES']);
  const footer = it.one('[role=table]').textContent;
  assert.match(footer, /3 ran · 1,204 tokens · \$0\.0100 · 14 ms in tools/);
  assert.match(footer, /2 ran, 1 cached · 6 ms in tools/);
});

test('calls that have not run yet on the branch that goes on are no difference', async () => {
  const rows = forked();
  const calls = (rows.calls ?? []).filter(({ id }) => id !== 'call3').map(call => (call.id === 'call2' ? { ...call, status: 'approved' as const } : call));
  const comparisons = [compared({ pairs: [{ ...DIFFERS, objects: [OBJECTS] }, { left: 'x3', kind: 'differs' }] })];
  const it = await open({ ...rows, calls, comparisons, session: [{ phase: 'ready' }] });
  const status = (): string => it.one('.tc-with [role=status]').textContent;
  assert.equal(status(), 'No difference in 1 call');
  assert.match(it.one('[role=table]').textContent, /2–3Potato_do2, Potato_do3: not run yet/);
  it.click('Swap');
  assert.equal(status(), 'No difference in 1 call');
  it.all('.same button').at(-1)?.click();
  assert.match(it.one('[role=table]').textContent, /not run yet/);
  assert.doesNotMatch(it.one('[role=table]').textContent, /no object|returned|not called|differs/);
  assert.equal(it.all('mark').length, 0);
  it.view.update(whole({ ...rows, calls, comparisons, session: [{ phase: 'finished' }] }));
  assert.equal(status(), '2 of 3 calls differ');
  assert.match(it.one('[role=table]').textContent, /not called/);
});

test('swapping mirrors what was told until the kernel has compared in that order', async () => {
  const it = await open(forked());
  const left = texts(it, '.diff:not(.b)');
  const right = texts(it, '.diff.b');
  it.click('Swap');
  assert.deepEqual([texts(it, '.diff:not(.b)'), texts(it, '.diff.b')], [right, left]);
  assert.deepEqual(it.sent, [{ type: 'compare', left: 'current', right: HEAD }]);
});

test('two branches without a difference are said to have none', async () => {
  const it = await open(forked({}, {}, { comparisons: [compared({ same: true, shared: 3, pairs: [] })] }));
  assert.equal(it.one('.tc-with [role=status]').textContent, 'No difference in 3 calls');
  assert.equal(it.all('.diff').length, 0);
});

test('the pairs stand as they were told, whatever the calls are', async () => {
  const pairs: PairRow[] = [{ right: 'call2', kind: 'differs' }, { left: 'x2', right: 'call3', kind: 'same' }, { left: 'x3', kind: 'differs' }];
  const it = await open(forked({}, {}, { comparisons: [compared({ pairs })] }));
  it.click('Show');
  const steps = texts(it, '.tc-crow > .n').filter(Boolean);
  assert.deepEqual(steps, ['1, the same', '2, differs', '2 | 3, the same', '3, differs', 'Totals']);
  assert.match(it.all('.tc-crow')[2]?.textContent ?? '', /not called.*Potato_do2/);
});

test('what is marked in a call is what was told to differ, line by line in a text', async () => {
  const changes: PairRow['changes'] = [
    { what: 'tool' },
    { what: 'argument', name: 'm' },
    { what: 'result', left: [2], right: [2, 3] },
    { what: 'error' }
  ];
  const pairs = [{ ...DIFFERS, changes }];
  const rows = forked({ arguments: { n: 1, m: 2 }, result: 'a\nb', error: 'bad', prints: 'p' }, {}, { comparisons: [compared({ pairs })] });
  const it = await open({ ...rows, calls: (rows.calls ?? []).map(one => (one.id === 'call2' ? { ...one, result: 'a\nc\nd', prints: 'q' } : one)) });
  assert.deepEqual(texts(it, '.diff:not(.b) mark'), ['Potato_do2', '2', 'bad', 'b']);
  assert.deepEqual(texts(it, '.diff.b mark'), ['Potato_do2', 'c', 'd']);
  assert.equal(it.all('.tc-came .k').length, 0, 'what was printed is not told to differ');
});

test('a failed call has its traceback unmarked and names no object, and a reason stands once', async () => {
  const prints = 'Traceback (most recent call last):\n  my_tool';
  const changes: PairRow['changes'] = [{ what: 'status' }, { what: 'prints', left: [1, 2], right: [] }, { what: 'error' }, { what: 'reason' }];
  const pairs = [{ ...DIFFERS, changes, objects: [{ right: 'p2' }] }];
  const it = await open(forked({ status: 'failed', object: '', error: 'bad', prints }, {}, { comparisons: [compared({ pairs })] }));
  assert.deepEqual(texts(it, '.tc-came .k'), ['Traceback']);
  assert.deepEqual(it.all('.tc-came').flatMap(one => [...one.querySelectorAll('mark')].map(mark => mark.textContent)), ['bad']);
  assert.doesNotMatch(it.one('.diff:not(.b)').textContent, /no object/);
  const rejected = { status: 'rejected', object: '', error: 'no, please', reason: 'no, please' } as const;
  const other = await open(forked(rejected, {}, { comparisons: [compared({ pairs })] }));
  assert.equal(texts(other, '.tc-came').filter(text => text.includes('no, please')).length, 1);
});

test('what the model said last is shown where that differs', async () => {
  const text: ComparisonRow['text'] = { what: 'text', left: [1], right: [1] };
  const rows = forked({}, {}, { comparisons: [compared({ pairs: [SAME], text })] });
  const session = rows.session?.map(row => ({ ...row, text: 'slices\nend' }));
  const it = await open({ ...rows, ...(session ? { session } : {}), branches: (rows.branches ?? []).map(one => ({ ...one, text: 'sticks\nend' })) });
  assert.equal(it.one('.tc-with [role=status]').textContent, 'The same 2 calls');
  assert.deepEqual(texts(it, '.diff mark'), ['sticks', 'slices']);
});

test('an object that a call only returned is named where it differs', async () => {
  const pairs: PairRow[] = [{ ...DIFFERS, changes: [{ what: 'result' }] }];
  const it = await open(forked({ object: 'p0' }, {}, { comparisons: [compared({ pairs })] }));
  assert.deepEqual(texts(it, '.diff .tc-came'), ['returned Potato#1', 'returned Potato#3']);
});

const CELLS: DifferenceRow = {
  id: 'y2 p2',
  parts: [
    { name: '', says: '1 cell differs', cells: [{ row: '7', column: 'n', left: '1', right: '2' }] },
    {
      name: 'text',
      lines: [{ sign: 'same', left: 'a', left_at: 1, right_at: 1 }, { sign: 'changed', left: 'b', right: 'c', left_at: 2, right_at: 2 }]
    },
    { name: 'size', says: '+2', left: '1', right: '3' },
    { name: 'lid', left: null, right: '"red"' }
  ]
};

test('values that are told are shown in their kind on either side, whichever was asked for first', async () => {
  const it = await open(forked({}, {}, { differences: [CELLS] }));
  const left = it.one('.diff:not(.b)');
  const right = it.one('.diff.b');
  assert.match(left.textContent, /n: 1/);
  assert.match(right.textContent, /n: 2/);
  assert.deepEqual([...left.querySelectorAll('th, td')].map(cell => cell.textContent), ['', 'n', '7', '1']);
  assert.deepEqual([...right.querySelectorAll('th, td')].map(cell => cell.textContent), ['', 'n', '7', '2']);
  assert.deepEqual([...left.querySelectorAll('.ln mark')].map(one => one.textContent), ['b']);
  assert.deepEqual([...right.querySelectorAll('.ln mark')].map(one => one.textContent), ['c']);
  assert.match(left.textContent, /size1lid/);
  assert.match(right.textContent, /size3\+2/);
  assert.match(left.textContent, /lidnot there/);
  it.click('Swap');
  assert.deepEqual([...it.one('.diff:not(.b)').querySelectorAll('th, td')].map(cell => cell.textContent), ['', 'n', '7', '2']);
});

test('the first difference is open from the start, in the same words on both sides, which open and close together', async () => {
  const it = await open(forked({}, {}, { differences: [CELLS] }));
  const both = it.all('.diff details') as HTMLDetailsElement[];
  assert.deepEqual(both.map(one => [one.open, one.querySelector('summary')?.textContent]), [[true, 'n: 1'], [true, 'n: 2']]);
  assert.equal(it.all('.diff td').every(td => td.closest('details') !== null), true);
  const [left, right] = both;
  assert.ok(left && right);
  left.open = false;
  left.dispatchEvent(new Event('toggle'));
  assert.equal(right.open, false);
  it.click('Swap');
  assert.equal((it.one('.diff details') as HTMLDetailsElement).open, false);
  left.open = true;
  left.dispatchEvent(new Event('toggle'));
  assert.equal(right.open, true);
});

test('the difference of a saved result is open too', async () => {
  const rows = forked({}, {}, { differences: [CELLS, { ...CELLS, id: 'y3 p3' }] });
  const pairs = [{ ...DIFFERS, objects: [OBJECTS] }, { ...SAME, kind: 'differs' as const, objects: [{ left: 'y3', right: 'p3' }] }];
  const open3 = async (saves: boolean): Promise<boolean[]> => {
    const calls = (rows.calls ?? []).map(one => (one.step === 3 ? { ...one, saves } : one));
    const it = await open({ ...rows, calls, comparisons: [compared({ pairs })] });
    return it.all('.diff details').slice(2).map(one => (one as HTMLDetailsElement).open);
  };
  assert.deepEqual(await open3(false), [false, false]);
  assert.deepEqual(await open3(true), [true, true]);
});

test('first rows of tables with other columns are shown on both sides without a click, and once more where they are saved', async () => {
  const table = (side: string, column: string, value: string): NonNullable<DifferenceRow['parts']>[number] => ({
    name: `only here: ${column}`, says: '+ 4 columns', unfolded: true, cells: [{ row: '0', column, [side]: value, [`${side}_at`]: 1 }]
  });
  const differences = [{ id: 'y2 p2', parts: [table('left', 'city', 'Porto'), table('right', 'item', 'lamp')] }];
  const saving: PairRow = { left: 'x3', right: 'call3', kind: 'differs', objects: [{ ...OBJECTS, repeated: true }] };
  const rows = forked({}, {}, { differences, comparisons: [compared({ pairs: [{ ...DIFFERS, objects: [OBJECTS] }, saving] })] });
  const it = await open({ ...rows, calls: (rows.calls ?? []).map(one => (one.step === 3 ? { ...one, saves: true } : one)) });
  const shown = (where: string): string[] => texts(it, `${where} details[open] > div`);
  assert.deepEqual(shown('.diff:not(.b)'), ['city0Porto+ 4 columns', 'city0Porto+ 4 columns']);
  assert.deepEqual(shown('.diff.b'), ['item0lamp+ 4 columns', 'item0lamp+ 4 columns']);
  assert.doesNotMatch(it.root.textContent, /the same difference as above/);
});

test('an object that an older branch shares has the name of the chosen branch', async () => {
  const shared = forked({}, { branch: 'older' }, { differences: [CELLS] });
  const it = await open({ ...shared, branches: [{ id: 'older', name: 'older one', calls: 3 }, ...(shared.branches ?? [])] });
  assert.deepEqual(texts(it, '.tc-mini .muted').map(text => text.split(' · ')[0]), ['main', 'slices']);
  assert.deepEqual(it.all('.diff').map(cell => cell.dataset.branch), ['main', 'slices']);
});

test('two pictures stand side by side, and what differs in them on the right, from either side', async () => {
  const images = ['A', 'B', 'C'].map(each => `data:image/webp;base64,${each}AAA`);
  const it = await open(forked({}, {}, { differences: [{ id: 'y2 p2', parts: [{ says: 'about 5 % of the pixels differ', images }] }] }));
  const shown = (where: string): (string | null)[] => it.all(`${where} .tc-picture`).map(one => one.getAttribute('src'));
  assert.deepEqual([shown('.diff:not(.b)'), shown('.diff.b')], [images.slice(0, 1), images.slice(1)]);
  it.click('Swap');
  assert.deepEqual([shown('.diff:not(.b)'), shown('.diff.b')], [[images[1]], [images[0], images[2]]]);
});

test('cells that stand in the small picture of a table are marked there, each side in its own row', async () => {
  const preview = { columns: ['n', 'm'], cells: [['1', '5'], ['1', '6']], rows: ['5', '7'] };
  const cells = [{ row: '1 | 0', column: 'n', left: '1', right: '2', left_at: 2, right_at: 1 }];
  const rows = forked({}, { preview }, { differences: [{ id: 'y2 p2', parts: [{ says: '1 cell differs', cells }] }] });
  const it = await open({ ...rows, objects: (rows.objects ?? []).map(one => (one.id === 'p2' ? { ...one, preview } : one)) });
  const marked = (where: string): boolean[] => it.all(`${where} tbody td`).map(td => td.querySelector('mark') !== null);
  assert.deepEqual(texts(it, '.diff:not(.b) tbody th'), ['5', '7']);
  assert.deepEqual(marked('.diff:not(.b)'), [false, false, true, false]);
  assert.deepEqual(marked('.diff.b'), [true, false, false, false]);
});

test('a difference is summed up once: on one side, and at the first calls with the same two objects', async () => {
  const pairs: PairRow[] = [
    { ...DIFFERS, objects: [OBJECTS] }, { left: 'x3', right: 'call3', kind: 'differs', objects: [{ ...OBJECTS, repeated: true }] }
  ];
  const differences = [{ id: 'y2 p2', parts: [{ says: '40 rows only right' }] }];
  const it = await open(forked({}, {}, { comparisons: [compared({ pairs })], differences }));
  const says = (row: number): string => it.all('.tc-crow')[row]?.textContent ?? '';
  assert.equal(it.one('[role=table]').textContent.split('40 rows only right').length, 2);
  assert.match(says(2), /40 rows only right/);
  assert.match(says(3), /the same difference as above/);
});

test('of results that are data, all is marked from the first word that differs to the last one', async () => {
  const rows = forked({ result: '{"rows":41,"of":[1,2],"ok":true}' }, {}, {
    comparisons: [compared({ pairs: [{ ...DIFFERS, changes: [{ what: 'result', name: '' }] }] })]
  });
  const it = await open({
    ...rows, calls: rows.calls?.map(call => (call.id === 'call2' ? { ...call, result: '{"rows":21,"of":[1,3],"ok":true}' } : call))
  });
  assert.deepEqual(texts(it, '.tc-came mark'), ['41,"of":[1,2', '21,"of":[1,3']);
  assert.deepEqual(texts(it, '.tc-came .ln'), ['{"rows":41,"of":[1,2],"ok":true}', '{"rows":21,"of":[1,3],"ok":true}']);
});

test('a call breaks between a name and its value', async () => {
  const it = await open(forked());
  const [first] = it.all('.diff .tc-call wbr');
  assert.equal(first?.previousSibling?.textContent, 'n=');
  assert.equal(first.nextSibling?.textContent, '1');
});

test('what differs beyond what is compared in detail, or is not known, is said to', async () => {
  const it = await open(forked());
  assert.match(it.one('.diff').textContent, /Only the first objects that differ are compared/);
  it.view.update(delta(1, { differences: [{ id: 'y2 p2', unknown: 'its value is not in this kernel' }] }));
  assert.match(it.one('.diff').textContent, /not in this kernel/);
});

test('the kernel is asked once, again after all rows were sent or withdrawn, and hears when nobody looks', async () => {
  const rows = forked({}, {}, { comparisons: [] });
  const it = await open(rows);
  const ask = { type: 'compare', left: '', right: '' };
  assert.deepEqual(it.sent, [ask]);
  assert.match(it.root.textContent, /Comparing the branches/);
  it.view.update(delta(1, { comparisons: [compared()] }));
  assert.equal(it.one('.tc-with [role=status]').textContent, '1 of 3 calls differs');
  it.view.update(delta(2, { comparisons: [compared({ pairs: [SAME] })] }));
  assert.equal(it.one('.tc-with [role=status]').textContent, 'The same 2 calls');
  assert.deepEqual(it.sent, [ask], 'what changes is told unasked');
  it.view.update(delta(3, { drop: [{ table: 'comparisons', id: `${HEAD} current` }] }));
  assert.deepEqual(it.sent, [ask, ask]);
  it.view.update(whole(rows));
  assert.deepEqual(it.sent, [ask, ask, ask]);
  it.click('Graph');
  assert.deepEqual(it.sent.at(-1), { ...ask, on: false });
  it.click('Compare');
  assert.deepEqual(it.sent.at(-1), ask);
});

test('where a saved notebook has no comparison it is said so, and of which branches', async () => {
  const it = await open(forked({}, {}, { comparisons: [] }), false);
  assert.match(it.root.textContent, /No comparison is saved\. Run the cell/);
  assert.equal(it.sent.length, 0);
});

test('another branch is asked for in a live session; a saved notebook says that it has not kept it', async () => {
  const old: BranchRow = { id: 'old', name: 'old try', calls: 3 };
  const rows = { ...forked(), branches: [old, ...(forked().branches ?? [])] };
  const saved = await open(rows, false);
  choose(saved, 'Left branch', 'old');
  assert.match(saved.root.textContent, /No comparison is saved/);
  choose(saved, 'Left branch', HEAD);
  assert.equal(saved.one('.tc-with [role=status]').textContent, '1 of 3 calls differs');
  const live = await open(rows);
  choose(live, 'Left branch', 'old');
  assert.deepEqual(live.sent, [{ type: 'compare', left: 'old', right: 'current' }]);
  assert.match(live.root.textContent, /Comparing the branches/);
  live.view.update({ type: 'refused', command: 'compare', reason: 'out of view', fields: {} });
  assert.match(live.root.textContent, /out of view/);
  assert.equal(live.sent.length, 1);
});

test('what is chosen goes along with the other tabs', async () => {
  const it = await open(forked());
  it.all('.diff:not(.b) .tc-call')[0]?.click();
  assert.equal(it.one('.diff:not(.b) .tc-call').getAttribute('aria-pressed'), 'true');
  it.click('Graph');
  assert.match(it.one('.tc-card').textContent, /Potato#3/);
  assert.equal(it.node('Potato#3 of main').getAttribute('aria-pressed'), 'true');
  it.node('Potato#2').dispatchEvent(new MouseEvent('click', { bubbles: true }));
  it.click('Compare');
  it.click('Show');
  assert.equal(it.all('.both[aria-colspan="2"] .tc-call[aria-pressed=true]').length, 1, 'a shared call stands once, across both sides');
});

test('the comparison keeps the keyboard where it was while the session goes on', async () => {
  const it = await open(forked());
  const call = it.all('.diff.b .tc-call')[0];
  call?.focus();
  it.view.update(delta(1, { calls: [called(2, { result: 'new' })] }));
  assert.equal(document.activeElement?.getAttribute('data-k'), 'right call2');
  assert.notEqual(document.activeElement, call);
});

test('the time slider takes the comparison back', async () => {
  const it = await open(forked());
  slide(it, 1);
  assert.equal(it.one('.tc-with [role=status]').textContent, 'No difference in 1 call');
});

test('hostile text of a comparison is text', async () => {
  const parts = [{ name: HOSTILE, left: HOSTILE, right: HOSTILE, images: ['javascript:alert(1)', 'data:text/html,x'] }];
  const rows = forked(
    { tool: HOSTILE, arguments: { [HOSTILE]: HOSTILE }, error: HOSTILE, prints: HOSTILE, result: HOSTILE },
    { name: HOSTILE, preview: { caption: HOSTILE, text: HOSTILE, columns: [HOSTILE], cells: [[HOSTILE]], image: 'javascript:x' } },
    { differences: [{ id: 'y2 p2', parts }] }
  );
  const it = await open({
    ...rows,
    branches: (rows.branches ?? []).map(branch => ({ ...branch, name: HOSTILE, text: HOSTILE, cost: HOSTILE, last: HOSTILE }))
  });
  it.one('.tc-branch').click();
  assert.equal(it.all('img, script').length, 0);
  const words = [...it.root.querySelectorAll('*')].flatMap(one => [...one.attributes].map(attribute => attribute.value));
  assert.doesNotMatch([it.root.textContent, ...words].join('\n'), /\u202e/);
});

test('a comparison that names what is not there, or is of the wrong shape, breaks nothing', async () => {
  const pairs = [{ left: 'nowhere', right: '__proto__' }, { left: 'x2', kind: 'odd', changes: 7, objects: [{ left: 'gone' }] }, 'x'];
  const wrong = { id: `${HEAD} current`, left: HEAD, right: 'current', unasked: true, shared: -4, pairs, text: 'x' } as unknown as ComparisonRow;
  const it = await open(forked({}, {}, { comparisons: [wrong] }));
  assert.match(it.one('.tc-with [role=status]').textContent, /1 call/);
});

// -- the list of branches ---------------------------------------------------------------------

async function listed(live = true, more: Partial<Rows> = {}): Promise<Page> {
  const it = await page(live);
  it.view.update(whole(forked({}, {}, more), live));
  it.one('.tc-branch').click();
  return it;
}

test('the list says in what a branch differs from the one that it left', async () => {
  const branches: BranchRow[] = [
    { id: HEAD, name: 'main', calls: 3 },
    { id: 'h1', name: 'n=2 (call 2)', differs: 'Potato_slice: n 2 instead of 1', current: true, left: HEAD, calls: 3 }
  ];
  const it = await listed(true, { branches });
  assert.deepEqual(texts(it, '.tc-goto'), ['main3 calls', 'n=2 (call 2)Potato_slice: n 2 instead of 1 · 3 calls']);
});

test('a branch is gone to, named and hidden from the list', async () => {
  const it = await listed();
  assert.deepEqual(texts(it, '.tc-goto'), ['main3 calls · 1,204 tokens', 'slices3 calls']);
  assert.equal(document.activeElement, it.all('.tc-goto')[1]);
  press(it.all('.tc-goto')[1] as HTMLElement, 'ArrowUp');
  assert.equal(document.activeElement, it.all('.tc-goto')[0]);
  it.click('Hide main');
  assert.deepEqual(it.sent.at(-1), { type: 'hide_branch', branch: HEAD, hidden: true });
  assert.equal(it.buttons('Hide slices').length, 0, 'what is on show can not be hidden');
  it.view.update(delta(1, {}));
  it.click('Rename main');
  const field = it.one('input[aria-label="New name of main"]') as HTMLInputElement;
  assert.equal(document.activeElement, field);
  field.value = ' as asked ';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  it.click('Save');
  assert.deepEqual(it.sent.at(-1), { type: 'name_branch', branch: HEAD, name: 'as asked' });
});

test('a name that is refused says why beside it, and one that is taken in ends the naming', async () => {
  const it = await listed();
  it.click('Rename main');
  const field = (): HTMLInputElement => it.one('input[aria-label="New name of main"]') as HTMLInputElement;
  field().value = 'slices';
  field().dispatchEvent(new Event('input', { bubbles: true }));
  it.click('Save');
  it.view.update({ type: 'refused', command: 'name_branch', reason: "a branch is called 'slices' already", fields: {} });
  assert.match(it.one('.tc-list [role=alert]').textContent, /already/);
  assert.equal(field().value, 'slices');
  assert.doesNotMatch(it.one('.tc-card').textContent, /already/);
  field().value = 'mine';
  field().dispatchEvent(new Event('input', { bubbles: true }));
  it.click('Save');
  const rows = forked();
  it.view.update(whole({ ...rows, branches: (rows.branches ?? []).map(one => (one.id === HEAD ? { ...one, name: 'mine' } : one)) }));
  await Promise.resolve();
  assert.equal(it.all('input[aria-label^="New name"]').length, 0);
  assert.deepEqual(texts(it, '.tc-goto .strong, .tc-goto span:nth-child(2)')[0], 'mine');
});

test('Escape leaves the naming first and the list then', async () => {
  const it = await listed();
  it.click('Rename main');
  press(it.one('input'), 'Escape');
  assert.equal(it.all('input[aria-label^="New name"]').length, 0);
  press(it.all('.tc-goto')[0] as HTMLElement, 'Escape');
  assert.equal(it.all('.tc-list').length, 0);
  assert.equal(document.activeElement, it.one('.tc-branch'));
});

test('hidden branches leave the list and the comparison, and a quiet line brings them back', async () => {
  const branches: BranchRow[] = [
    { id: HEAD, name: 'main', hidden: true, calls: 3 },
    { id: 'h1', name: 'slices', current: true, left: HEAD, calls: 3 }
  ];
  const it = await listed(true, { branches, calls: chain(3).calls ?? [], objects: chain(3).objects ?? [] });
  assert.deepEqual(texts(it, '.tc-goto'), ['slices3 calls']);
  assert.match(it.one('.tc-branch').textContent, /1 hidden/);
  press(it.all('.tc-goto')[0] as HTMLElement, 'Escape');
  it.click('Compare');
  assert.match(it.root.textContent, /One branch in view/);
  it.all('.tc-nothing button')[0]?.click();
  it.click('Show main');
  assert.deepEqual(it.sent.at(-1), { type: 'hide_branch', branch: HEAD, hidden: false });
});

test('in a saved notebook branches are listed, and nothing can be sent', async () => {
  const it = await listed(false);
  assert.deepEqual(texts(it, '.tc-goto').length, 2);
  assert.equal(it.buttons('Rename main').length, 0);
  assert.equal(it.buttons('Hide main').length, 0);
  assert.equal((it.all('.tc-goto')[0] as HTMLButtonElement).disabled, true);
  assert.equal(it.sent.length, 0);
});

test('an edited call before the fork counts for both branches', async () => {
  const rows = forked();
  const it = await open({ ...rows, calls: (rows.calls ?? []).map(one => (one.step === 1 ? { ...one, edited: true } : one)) });
  const heads = texts(it, '[role=columnheader]').slice(1);
  for (const head of heads) assert.match(head, /edited at call 1/);
});
