import assert from 'node:assert/strict';
import { test } from 'node:test';
import { called, chain, delta, made, page, press, slide, waiting, whole } from './page';
import type { ObjectRow } from './sent';

const focused = (): string => document.activeElement?.getAttribute('aria-label') ?? '';

test('the panel has the names that people and checks find it by', async () => {
  const { view, one, all, buttons } = await page();
  view.update(whole(waiting()));
  assert.equal(one('[role=region]').getAttribute('aria-label'), 'Tool calls');
  assert.equal(one('[role=status]').getAttribute('aria-label'), 'Session status');
  assert.match(one('[role=status]').textContent, /Waiting for you/);
  assert.deepEqual(
    all('[role=tab]').map(tab => tab.textContent),
    ['Graph', 'Steps', 'Messages', 'Compare']
  );
  assert.equal(one('svg.g[role]').getAttribute('aria-label'), 'Object lineage');
  assert.equal(one('svg.g[role]').getAttribute('role'), 'graphics-document img');
  for (const name of ['Approve', 'Approve all', 'Edit', 'Reject', 'Answer', 'Step', 'Run', 'Stop'])
    assert.equal(buttons(name).length, 1, name);
});

test('steps stand in their order and begin with the name of the tool', async () => {
  const { view, all, click } = await page();
  const rows = chain(5);
  view.update(whole({ ...rows, calls: [...(rows.calls ?? [])].reverse() }));
  for (const tab of ['Graph', 'Steps']) {
    click(tab);
    assert.deepEqual(all('ol[aria-label=Steps]').length, 1);
    assert.deepEqual(
      all('ol[aria-label=Steps] li').map(item => /^Potato_do\d/.exec(item.textContent)?.[0]),
      [1, 2, 3, 4, 5].map(step => `Potato_do${step}`)
    );
  }
});

test('neighbours that one rule decided fold behind the first of them', async () => {
  const { view, all, click, one } = await page();
  const rows = chain(6);
  view.update(whole({ ...rows, calls: (rows.calls ?? []).map(call => ({ ...call, by_rule: call.step < 5 ? 'all' : '' })) }));
  click('Steps');
  const shown = (): string[] => all('ol[aria-label=Steps] li').filter(item => !item.hidden).map(item => item.dataset.n ?? '');
  assert.deepEqual(shown(), ['1', '5', '6']);
  press(one('ol[aria-label=Steps] li button.tool'), 'ArrowDown');
  assert.equal(document.activeElement?.closest('li')?.getAttribute('data-n'), '5');
  click('3 more by this rule');
  assert.deepEqual(shown(), ['1', '2', '3', '4', '5', '6']);
  click('Hide them');
  assert.deepEqual(shown(), ['1', '5', '6']);
});

test('a step says why a rule left its call to the person, once they have decided', async () => {
  const { view, all, click } = await page();
  const rows = chain(2);
  view.update(whole({ ...rows, calls: (rows.calls ?? []).map(call => ({ ...call, why: call.step < 2 ? 'to from call 1, read_page' : '' })) }));
  click('Steps');
  const [first, second] = all('ol[aria-label=Steps] li').map(item => item.textContent.includes('asked you: to from call 1, read_page'));
  assert.deepEqual([first, second], [true, false]);
});

test('the arrow keys walk the lineage, Enter opens the card, Escape closes it', async () => {
  const { view, node, all, one } = await page();
  view.update(whole(chain(3)));
  assert.equal(all('svg.g [tabindex="0"]').length, 1);
  node('Potato#1').focus();
  press(node('Potato#1'), 'ArrowRight');
  assert.equal(focused(), 'Call 1: Potato_do1');
  press(node('Call 1: Potato_do1'), 'ArrowRight');
  press(node('Potato#2'), 'ArrowRight');
  press(node('Call 2: Potato_do2'), 'ArrowLeft');
  assert.equal(focused(), 'Potato#2');
  assert.equal(all('svg.g [tabindex="0"]').length, 1);
  press(node('Potato#2'), 'Enter');
  assert.equal(node('Potato#2').getAttribute('aria-pressed'), 'true');
  assert.equal(one('.tc-card h3').textContent, 'Potato#2');
  assert.equal(one('[aria-current=step]').textContent.includes('Potato_do1'), true);
  press(node('Potato#2'), 'Escape');
  assert.equal(node('Potato#2').getAttribute('aria-pressed'), 'false');
});

test('the time slider takes every tab back, and nothing can be decided meanwhile', async () => {
  const it = await page();
  it.view.update(
    whole({
      ...waiting(),
      messages: [1, 2, 3].map(turn => ({
        id: `m${turn}`,
        turn,
        role: 'tool' as const,
        text: `told in ${turn}`,
        step: turn - 1
      }))
    })
  );
  slide(it, 1);
  assert.deepEqual(
    it.all('svg.g [role=button]').map(node => node.getAttribute('aria-label')),
    ['Call 1: Potato_do1', 'Potato#1', 'Potato#2']
  );
  assert.equal(it.all('ol[aria-label=Steps] li').length, 1);
  assert.match(it.one('[role=status]').textContent, /Looking back at call 1/);
  for (const name of ['Approve', 'Reject', 'Answer']) assert.equal(it.buttons(name).length, 0, name);
  assert.match(it.one('.tc-card').textContent, /To decide, choose Back to now/);
  it.click('Messages');
  assert.doesNotMatch(it.root.textContent, /told in [23]/);
  it.click('Back to now');
  it.click('Graph');
  assert.equal(it.buttons('Approve').length, 1);
  assert.equal(it.one('input[type=range]').getAttribute('aria-valuetext'), 'now, call 3');
});

test('after the end Step and Step back walk through the calls, with a kernel and without one', async () => {
  for (const live of [true, false]) {
    const it = await page(live);
    it.view.update(whole(chain(3)));
    const place = (): string =>
      `${it.one('[role=status]').textContent}, ${it.all('ol[aria-label=Steps] li').length} calls, ${it.one('.tc-card').textContent}`;
    const [now, tip] = [place(), (name: string): string => it.buttons(name)[0]?.title ?? ''];
    // At the last call there is no further step: another button starts over.
    assert.match(it.one('.tc-meta').textContent, /call 3 of 3$/);
    assert.deepEqual([it.buttons('Step')[0]?.disabled, tip('Step')], [true, '']);
    for (const step of [1, 2]) {
      it.click(step === 1 ? 'First call' : 'Step');
      assert.match(it.one('.tc-meta').textContent, new RegExp(`call ${step} of 3$`));
      assert.match(place(), new RegExp(`^Looking back at call ${step}, ${step} calls, .*Potato#${step + 1}`));
      // It keeps its place: the button beside it does not slide under the pointer.
      assert.equal(it.buttons('First call')[0]?.disabled, step === 1);
    }
    assert.equal(tip('Step'), 'Shows call 3. Nothing runs.');
    it.click('Step');
    assert.equal(place(), now);
    for (const step of [2, 1]) {
      it.click('Step back');
      assert.match(place(), new RegExp(`^Looking back at call ${step}, ${step} calls, .*Potato#${step + 1}`));
    }
    it.click('Step back');
    assert.match(place(), /^Before the first call, 0 calls, /);
    assert.match(it.one('.tc-meta').textContent, /call 0 of 3$/);
    assert.equal(it.buttons('Step back')[0]?.disabled, true);
    it.click('Back to now');
    assert.equal(place(), now);
    // A step goes on from the call that the card shows.
    it.all('ol[aria-label=Steps] li button')[1]?.click();
    assert.match(it.one('.tc-meta').textContent, /selected: call 2 of 3$/);
    it.click('Step back');
    assert.match(place(), /^Looking back at call 1, /);
    assert.deepEqual([it.sent, it.buttons('Export').length], [[], Number(live)]);
  }
});

test('between two steps the card shows what the last one did, and looking back changes nothing until Step has come forward again', async () => {
  const it = await page();
  const rows = chain(4);
  const calls = (rows.calls ?? []).map(call => (call.step === 4 ? { ...call, status: 'approved' as const } : call));
  const detail = 'The next step repeats call 4.';
  it.view.update(whole({ ...rows, calls, session: [{ phase: 'ready', says: 'Ready for the next step', detail, next_call: 'call4', recorded_calls: 4 }] }));
  const shown = (): string => `${it.one('[role=status]').textContent}: ${it.one('.tc-title').textContent}, ${it.all('ol[aria-label=Steps] li').length}`;
  const now = shown();
  assert.match(now, /^Ready for the next step: Potato#4.*, 4$/);
  for (const step of [2, 1]) {
    it.click('Step back');
    assert.match(shown(), new RegExp(`^Looking back at call ${step}: Potato#${step + 1}.*, ${step}$`));
  }
  it.click('Step');
  assert.match(shown(), /^Looking back at call 2: /);
  it.click('Step');
  assert.deepEqual([shown(), it.sent], [now, []]);
  it.click('Step');
  assert.deepEqual(it.sent, [{ type: 'step' }]);
  it.view.update(delta(1, { session: [{ phase: 'ready', detail, next_call: 'call4', recorded_calls: 4 }] }));
  assert.match(it.one('.tc-bar:not([hidden])').textContent, /^The next step repeats call 4\./);
  it.click('Step back');
  it.click('Step');
  assert.match(it.one('.tc-bar:not([hidden])').textContent, /^The next step repeats call 4\./);
});

test('the list of steps scrolls as little as shows the selected step clear of the faded edge, and not while the focus is in it', async () => {
  const it = await page();
  it.view.update(whole(chain(9)));
  const list = it.one('ol[aria-label=Steps]');
  Object.defineProperties(list, { scrollHeight: { value: 270 }, clientHeight: { value: 90 } });
  const scrolled = async (step: number): Promise<number> => {
    for (const [index, item] of it.all('ol[aria-label=Steps] li').entries())
      Object.defineProperties(item, { offsetTop: { value: 30 * index, configurable: true }, offsetHeight: { value: 30, configurable: true } });
    it.view.update(delta(step, { session: [{ phase: 'ready', next_call: `call${step + 1}` }] }));
    await new Promise(resume => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resume))));
    return list.scrollTop;
  };
  list.scrollTop = 60;
  assert.deepEqual([await scrolled(1), await scrolled(2), await scrolled(3), await scrolled(4)], [0, 0, 24, 54]);
  list.querySelector('button')?.focus();
  assert.equal(await scrolled(5), 54);
});

test('a decision carries what it is bound to, and a double click sends it once', async () => {
  const { view, buttons, sent } = await page();
  view.update(whole(waiting()));
  const [approve] = buttons('Approve');
  approve?.click();
  approve?.click();
  buttons('Approve')[0]?.click();
  assert.deepEqual(sent, [{ type: 'approve', call: 'c3', approval_digest: '7c1e90ab' }]);
  view.update({ type: 'refused', command: 'approve', reason: 'It was decided already.', fields: {} });
  assert.equal(buttons('Approve')[0]?.disabled, false);
});

test('rejecting asks for a reason, with one button of that name at a time', async () => {
  const { view, buttons, click, one, sent } = await page();
  view.update(whole(waiting()));
  click('Reject');
  assert.equal(buttons('Reject').length, 1);
  assert.equal(buttons('Answer').length, 0);
  (one('input[aria-label=Reason]') as HTMLInputElement).value = 'too thick';
  view.update(delta(1, { session: [{ phase: 'waiting', pending: ['call3'], tokens: 9 }] }));
  assert.equal((one('input[aria-label=Reason]') as HTMLInputElement).value, 'too thick');
  click('Reject');
  assert.deepEqual(sent, [{ type: 'reject', call: 'c3', reason: 'too thick', approval_digest: '7c1e90ab' }]);
});

test('an answer is JSON where it is JSON, else text', async () => {
  for (const [text, result] of [
    ['{"a": 1}', { a: 1 }],
    ['Potato#2', 'Potato#2']
  ] as const) {
    const { view, click, one, sent } = await page();
    view.update(whole(waiting()));
    click('Answer');
    (one('textarea[aria-label=Result]') as HTMLTextAreaElement).value = text;
    click('Answer');
    assert.deepEqual(sent, [{ type: 'answer', result, call: 'c3', reason: '', approval_digest: '7c1e90ab' }]);
  }
});

test('the dialog says what is missing in place of what an invalid form would run', async () => {
  const it = await page();
  const rows = waiting();
  const parameters = { properties: { amount: { type: 'integer' } }, required: ['amount'] };
  const calls = (rows.calls ?? []).map(call => (call.id === 'call3' ? { ...call, arguments: { amount: 5 } } : call));
  it.view.update(whole({ ...rows, calls, tools: [{ id: 'Potato_slice', parameters }] }));
  it.click('Edit');
  const dialog = it.one('[role=dialog]');
  const field = dialog.querySelector<HTMLInputElement>('.tc-field input');
  if (!field) assert.fail('no field');
  field.value = '';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  assert.match(dialog.textContent, /To run, give a valid amount\./);
  assert.doesNotMatch(dialog.textContent, /amount=/);
});

test('the dialog edits a call, and a refusal is said at its field with the values kept', async () => {
  const it = await page();
  it.view.update(whole(waiting()));
  it.buttons('Edit')[0]?.focus();
  it.click('Edit');
  const dialog = it.one('[role=dialog][aria-modal=true]');
  assert.deepEqual(
    [...dialog.querySelectorAll('.tc-label')].map(label => label.textContent),
    ['Potato', 'shape', 'Reason']
  );
  assert.deepEqual(
    [...dialog.querySelectorAll('option')].map(option => option.textContent),
    ['Potato#3: state 2', 'Potato#2: state 1', 'Potato#1: state 0', 'none (the newest is used)']
  );
  const slices = dialog.querySelectorAll<HTMLInputElement>('input[type=radio]')[1];
  if (!slices) assert.fail('no second shape');
  slices.click();
  slices.dispatchEvent(new Event('input', { bubbles: true }));
  assert.match(dialog.textContent, /the model asked for "STICKS"/);
  it.click('Run with these values');
  it.click('Run with these values');
  assert.deepEqual(it.sent, [
    { type: 'edit', call: 'c3', arguments: { shape: 'SLICES' }, left_out: [], reason: '', approval_digest: '7c1e90ab' }
  ]);
  it.view.update({
    type: 'refused',
    command: 'edit',
    reason: 'The arguments do not fit.',
    fields: { shape: 'There are no slices today.' }
  });
  assert.match(
    dialog.querySelector('[aria-invalid=true]')?.parentElement?.parentElement?.textContent ?? '',
    /no slices today/
  );
  assert.equal(slices.checked, true);
  const { session = [], calls = [] } = waiting();
  it.view.update(delta(1, { session, calls: calls.map(call => ({ ...call, note: 'drawn anew' })) }));
  press(dialog, 'Escape');
  assert.equal(it.all('[role=dialog]').length, 0);
  assert.equal(document.activeElement?.textContent, it.buttons('Edit')[0]?.textContent);
});

test('what arrives while a mouse button is down takes no click away', async () => {
  const { view, all } = await page();
  view.update(whole(chain(3)));
  const [step] = all('ol[aria-label=Steps] li');
  step?.dispatchEvent(new Event('pointerdown', { bubbles: true }));
  view.update(delta(1, { calls: [called(1, { tool: 'Potato_renamed' })] }));
  assert.equal(all('ol[aria-label=Steps] li')[0], step);
  step?.dispatchEvent(new Event('pointerup', { bubbles: true }));
  step?.querySelector('button')?.click();
  const [redrawn] = all('ol[aria-label=Steps] li');
  assert.equal(redrawn?.getAttribute('aria-current'), 'step');
  assert.match(redrawn?.textContent ?? '', /Potato_renamed/);
});

test('the dialog of a call that ran names the calls that run again, and no others', async () => {
  const it = await page();
  const rows = chain(2);
  const other = called(3, { tool: 'weigh', object: '', uses: [{ parameter: 'Potato', object: 'p0' }] });
  const save = called(4, { tool: 'save', object: '', uses: [{ parameter: 'fries', object: 'p2' }] });
  const edited = (rows.calls ?? []).map(call => ({ ...call, arguments: { grams: 5 } }));
  const tools = ['Potato_do1', 'Potato_do2'].map(id => ({ id, parameters: { properties: { grams: { type: 'integer' } }, required: ['grams'] } }));
  it.view.update(whole({ ...rows, calls: [...edited, other, save], tools }));
  const consequence = (name: string): string => {
    it.node(name).dispatchEvent(new MouseEvent('click', { bubbles: true }));
    it.click('Edit');
    const dialog = it.one('[role=dialog]');
    const field = dialog.querySelector<HTMLInputElement>('.tc-field input');
    if (!field) assert.fail('no field');
    field.value = '7';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    const text = dialog.querySelector('.tc-note')?.textContent ?? '';
    press(dialog, 'Escape');
    return text;
  };
  assert.match(consequence('Potato#2'), /new branch: Potato_do1\(grams=7\)\. Then 2 calls run again \(2, 4\)\./);
  assert.match(consequence('Potato#3'), /Then 1 call runs again \(4\)\./);
  it.view.update(delta(1, { calls: [{ ...save, uses: [] }] }));
  assert.match(consequence('Potato#3'), /No other call uses its result\./);
});

test('a choice and a flag take the name of plain data that fits them', async () => {
  const it = await page();
  const rows = waiting();
  const input = (name: string, caption: string): ObjectRow =>
    made(name, 0, { name, kind: name.split('#')[0] ?? '', role: 'input', call: '', preview: { caption } });
  const objects = [input('Shape#1', 'Shape.STICKS'), input('str#1', 'SLICES'), input('str#2', 'other'), input('bool#1', 'True')];
  const parameters = {
    $defs: { Shape: { title: 'Shape', enum: ['STICKS', 'SLICES'] } },
    properties: { shape: { $ref: '#/$defs/Shape' }, dry: { type: 'boolean' } },
    required: ['shape', 'dry']
  };
  const calls = (rows.calls ?? []).map(call => (call.id === 'call3' ? { ...call, arguments: { shape: 'STICKS', dry: false } } : call));
  it.view.update(whole({ ...rows, calls, objects: [...(rows.objects ?? []), ...objects], tools: [{ id: 'Potato_slice', parameters }] }));
  it.click('Edit');
  const labels = it.all('[role=dialog] .tc-field label, [role=dialog] .tc-field option').map(one => one.textContent);
  assert.ok(labels.includes('Shape#1: Shape.STICKS') && labels.includes('str#1: SLICES') && labels.includes('bool#1: True'));
  assert.ok(!labels.some(one => one.startsWith('str#2')));
  const choice = it.one('[role=dialog] select') as HTMLSelectElement;
  choice.value = '"Shape#1"';
  choice.dispatchEvent(new Event('input', { bubbles: true }));
  const radios = it.all('[role=dialog] input[type=radio]') as HTMLInputElement[];
  radios.find(one => one.value === '"bool#1"')?.click();
  it.click('Run with these values');
  assert.deepEqual(it.sent.at(-1), {
    type: 'edit',
    call: 'c3',
    arguments: { shape: 'Shape#1', dry: 'bool#1' },
    left_out: [],
    reason: '',
    approval_digest: '7c1e90ab'
  });
});

test('a delta rebuilds only what changed', async () => {
  const { view, node, all } = await page();
  view.update(whole(chain(3)));
  const before = [node('Potato#2'), ...all('ol[aria-label=Steps] li')];
  view.update(delta(1, { objects: [made('p4', 4)], calls: [called(4)] }));
  assert.deepEqual(
    [node('Potato#2'), ...all('ol[aria-label=Steps] li').slice(0, 3)].map(
      (element, index) => element === before[index]
    ),
    [true, true, true, true]
  );
  assert.equal(all('ol[aria-label=Steps] li').length, 4);
  assert.ok(node('Potato#5'));
});

test('nodes keep their places when one is added', async () => {
  const { view, node } = await page();
  view.update(whole(chain(3)));
  const place = (): (string | null)[] =>
    ['Potato#1', 'Potato#2', 'Potato#3', 'Potato#4'].map(name => node(name).parentElement?.getAttribute('transform') ?? null);
  const before = place();
  view.update(delta(1, { objects: [made('p4', 4)], calls: [called(4)] }));
  assert.deepEqual(place(), before);
});

test('a call that gives a value and no object is a pill behind what it used', async () => {
  const { view, all } = await page();
  const rows = chain(2);
  view.update(whole({ ...rows, calls: [...(rows.calls ?? []), called(3, { object: '', result: '12' })] }));
  assert.equal(all('svg.g .e').length, 5);
  assert.equal(all('ol[aria-label=Steps] li').length, 3);
});

test('a saved session is complete and has no button that acts', async () => {
  const { view, all, node } = await page(false);
  view.update(whole({ ...waiting(), session: [{ phase: 'waiting', pending: ['call3'] }] }));
  assert.ok(node('Potato#2'));
  const acting = [
    'Approve',
    'Approve all',
    'Edit',
    'Reject',
    'Answer',
    'Step',
    'Run',
    'Stop',
    'Replay from here',
    'Fork from here'
  ];
  assert.deepEqual(
    all('button')
      .map(button => button.textContent)
      .filter(name => acting.includes(name)),
    []
  );
});

test('what begins to wait is said once, and a lost delta asks for everything', async () => {
  const { view, root, sent } = await page();
  view.update(whole(chain(2)));
  view.update(delta(1, waiting()));
  assert.match(root.querySelector('[aria-live=polite]')?.textContent ?? '', /Potato_slice waits/);
  view.update(delta(5, {}));
  assert.deepEqual(sent, [{ type: 'hello' }]);
});

test('another branch can be checked out, and compared call by call', async () => {
  const it = await page();
  const rows = chain(2);
  const other = called(2, { id: 'x2', branch: 'old', object: 'y2', arguments: { n: 1 } });
  it.view.update(
    whole({
      ...rows,
      calls: [...(rows.calls ?? []), other],
      objects: [...(rows.objects ?? []), made('y2', 2, { branch: 'old', call: 'x2' })],
      branches: [
        { id: 'b', name: 'new', current: true },
        { id: 'h', name: 'old' }
      ],
      comparisons: [
        {
          id: 'h current', left: 'h', right: 'current', unasked: true, shared: 1,
          pairs: [{ left: 'x2', right: 'call2', kind: 'differs', made: 'same' }]
        }
      ]
    })
  );
  assert.ok(it.node('Potato#3 of old'));
  it.click('Compare');
  assert.equal(it.all('.tc-cmp .diff').length, 2);
  assert.match(it.one('.tc-cmp').textContent, /Potato_do1: the same in both/);
  it.one('.tc-branch').click();
  it.all('.tc-goto')[1]?.click();
  assert.deepEqual(it.sent, [{ type: 'checkout', branch: 'h' }]);
});

test('what was started and never finished is not called approval', async () => {
  const { view, buttons, one } = await page();
  const rows = waiting();
  view.update(
    whole({
      ...rows,
      calls: (rows.calls ?? []).map(
        call => (call.id === 'call3'
          ? {
              ...call, status: 'unknown' as const,
              warning: { kind: 'outcome unknown' as const, text: 'Nothing says how it ended.', action: 'Check what it did.' }
            }
          : call)
      )
    })
  );
  assert.deepEqual(
    ['Approve', 'Run again', 'Answer', 'Reject'].map(name => buttons(name).length),
    [0, 1, 1, 1]
  );
  assert.equal(one('.tc-card [role=note]').getAttribute('aria-label'), 'Warning: outcome unknown');
  assert.match(one('.tc-card [role=note]').textContent, /Nothing says how it ended. Check what it did./);
});

test('a call that the person edited is looked at when all has run, until something else is chosen', async () => {
  const { view, node, click, one } = await page();
  view.update(whole({ ...waiting(), session: [{ phase: 'waiting', says: 'Waiting for you', pending: ['call3'] }] }));
  click('Edit');
  click('Approve as it is');
  const rest = [called(3, { call: 'c3', edited: true }), called(4)];
  const objects = [made('p3', 3, { name: 'Potato#4' }), made('p4', 4)];
  view.update(delta(1, { session: [{ phase: 'finished', says: 'Finished', pending: [] }], calls: rest, objects }));
  assert.equal(node('Call 3: Potato_do3').getAttribute('aria-pressed'), 'true');
  node('Potato#5').dispatchEvent(new MouseEvent('click', { bubbles: true }));
  assert.match(one('[aria-label=Details] h3').textContent, /Potato#5/);
});

test('the end says what the kernel tells of it, and nothing where no call failed', async () => {
  const { view, one } = await page();
  const rows = chain(3);
  view.update(whole(rows));
  assert.equal(one('[role=status]').textContent, 'Finished');
  const ending = ['3 calls, 1 failed', 'saved Potato#1 as peeled: an input, unchanged; 1 call failed before'];
  view.update(whole({ ...rows, session: (rows.session ?? []).map(row => ({ ...row, ending })) }));
  assert.equal(one('[role=status]').textContent, `Finished · ${ending.join(' · ')}`);
});

test('a tool that happens to be named save is not said to have saved', async () => {
  const { view, all } = await page();
  const calls = [called(1, { tool: 'save', ms: 3 }), called(2, { tool: 'save', ms: 3, saves: true })];
  view.update(whole({ ...chain(2), calls }));
  assert.deepEqual(
    all('.tc-step .end').map(end => end.textContent),
    ['3 ms', 'saved']
  );
});

test('Approve all sends each call that waits now with its own digest, and no other', async () => {
  const { view, buttons, sent } = await page();
  const rows = waiting();
  view.update(whole(rows));
  const canAll = (): boolean => buttons('Approve all')[0]?.disabled === false;
  assert.equal(buttons('Approve')[0]?.disabled, false);
  assert.equal(canAll(), false);
  const open = called(4, { turn: 3, status: 'proposed', object: '', approval_digest: 'aa' });
  view.update(delta(1, { calls: [open] }));
  assert.equal(canAll(), false, 'it does not wait: a policy lets it run');
  const session = (rows.session ?? [])[0];
  const pending = [...(session?.pending ?? []), open.id];
  view.update(delta(2, { session: [{ ...session, pending }] }));
  assert.equal(canAll(), true);
  buttons('Approve all')[0]?.click();
  assert.deepEqual(sent.at(-1), {
    type: 'approve_all',
    calls: [
      { call: 'c3', approval_digest: '7c1e90ab' },
      { call: open.call, approval_digest: 'aa' }
    ]
  });
});

test('a call that may have run is kept or run again, and never approved as a new one', async () => {
  const { view, buttons, sent } = await page();
  const rows = waiting();
  const calls = (rows.calls ?? []).map(call =>
    call.call === 'c3' ? { ...call, may_have_run: true, recorded: 'sent to Ann', why: 'It may have run already.' } : call
  );
  view.update(whole({ ...rows, calls }));
  assert.equal(buttons('Approve').length, 0);
  for (const name of ['Run again', 'Begin a new session', 'Keep the recorded result']) assert.equal(buttons(name).length, 1, name);
  buttons('Keep the recorded result')[0]?.click();
  assert.deepEqual(sent, [{ type: 'keep_result', call: 'c3', approval_digest: '7c1e90ab', rest: false }]);
});

test('what a tool is for is told to the end of the sentence, and whole where one points at it', async () => {
  const { view, one } = await page();
  const description = 'Hand over what was asked for, with all of:\nfries: Plate.\n\nOnce, at the end.';
  view.update(whole({ ...waiting(), tools: [{ id: 'Potato_slice', description }] }));
  const [card] = one('.tc-card').querySelectorAll('.tc-cardbody p span');
  assert.equal(card?.textContent, 'Hand over what was asked for, with all of: fries: Plate.');
  assert.match(card?.getAttribute('title') ?? '', /Once, at the end\./);
  const toolbox = one('details.tc-toolbox') as HTMLDetailsElement;
  toolbox.open = true;
  toolbox.dispatchEvent(new Event('toggle'));
  assert.equal(one('.tc-toolbox .what').textContent, 'Hand over what was asked for, with all of: fries: Plate.');
  assert.match(one('.tc-toolbox .what').getAttribute('title') ?? '', /Once, at the end\./);
});

test('the tooltip of Approve says which arguments it applies to', async () => {
  const { view, buttons } = await page();
  view.update(whole(waiting()));
  assert.equal(buttons('Approve')[0]?.title, 'Applies to exactly these arguments');
});

test('the card asks once for a sharp picture of an image, and only where a kernel has it', async () => {
  const preview = { image: 'data:image/png;base64,AAAA', more: true };
  const rows = chain(1);
  const pictured = { ...rows, objects: (rows.objects ?? []).map(one => (one.id === 'p1' ? { ...one, preview } : one)) };
  for (const live of [true, false]) {
    const it = await page(live);
    it.view.update(whole(pictured, live));
    it.node('Potato#2').dispatchEvent(new MouseEvent('click', { bubbles: true }));
    it.click('Steps');
    it.click('Graph');
    assert.deepEqual(it.sent.filter(one => one.type === 'show_object'), live ? [{ type: 'show_object', object: 'p1' }] : []);
    assert.equal(it.buttons('Show larger').length, 0);
  }
});

test('a waiting call begins with what the calls since the last decision changed, and how one failed', async () => {
  const failed = { status: 'failed', object: '', error: 'ValueError: too thin. Try:\n- a thick one' } as const;
  const fails = 'Potato_do2 failed: ValueError: too thin. Try:\n- a thick one';
  for (const [second, said] of [[failed, ['Potato_do1: PEELED', fails]], [{ ...failed, who: 'ada' }, [fails]], [{ who: 'ada' }, []], [{ status: 'rejected', object: '', who: 'ada' }, ['Potato_do2: rejected']]] as const) {
    const { view, one, all, buttons } = await page();
    const rows = waiting();
    const before = [{ who: 'ada', change: 'PEELED' }, second, {}];
    view.update(whole({ ...rows, calls: rows.calls?.map((call, index) => ({ ...call, ...before[index] })) }));
    assert.deepEqual(all('.tc-cardbody > :is(p.small, .tc-error)').map(line => line.textContent), said);
    assert.equal(buttons('Approve').length, 1);
    const [error] = all('.tc-cardbody > .tc-error');
    error?.click();
    assert.equal(one('.tc-card h3').textContent, error ? 'Potato_do2' : 'Potato_slice');
  }
});

test('a table says which part of it is shown, aligns its numbers right, and shortens long decimals, which are whole in the tooltip', async () => {
  const it = await page();
  const preview = { columns: ['day', 'price'], cells: [['2025-01-01', '-4.5'], ['2025-01-02', 'nan'], ['2025-01-03', '3066.6666666666665']], text: 'first 2 of 9 rows' };
  const rows = chain(1);
  it.view.update(whole({ ...rows, objects: (rows.objects ?? []).map(one => (one.id === 'p1' ? { ...one, preview } : one)) }));
  assert.match(it.one('.tc-card').textContent, /first 2 of 9 rows/);
  assert.deepEqual(it.all('.tc-card .num:not([scope=row])').map(one => one.textContent), ['price', '-4.5', 'nan', '3066.666…']);
  assert.equal(it.one('.tc-card td.num > span').title, '3066.6666666666665');
});

test('card and form name the default of an argument that is left out, and the form describes the tool', async () => {
  const it = await page();
  const properties = { shape: { type: 'string' }, factor: { type: 'number', default: 1.5 } };
  const tools = [{ id: 'Potato_slice', description: 'Cut it: STICKS or SLICES.', parameters: { type: 'object', properties } }];
  it.view.update(whole({ ...waiting(), tools }));
  assert.match(it.one('.tc-card .tc-args').textContent, /factordefault: 1\.5/);
  it.click('Edit');
  const dialog = it.one('[role=dialog]');
  assert.match(dialog.textContent, /Cut it: STICKS or SLICES\./);
  assert.match(dialog.textContent, /Nothing is changed: the call runs as it is\.(?!.*told)/);
  assert.ok([...dialog.querySelectorAll('label')].some(label => label.textContent === 'default (1.5)'));
});

test('plain keys in the panel stay there, and those with Ctrl, Alt or Meta, and Shift+Enter, go on to the notebook', async () => {
  const { view, root, one, sent } = await page();
  view.update(whole(waiting()));
  const reached: string[] = [];
  /** What Notebook 7 reads before the panel does, and JupyterLab after it. */
  const before = ({ target, key }: Event & { readonly key?: string }): void =>
    void ((target as Element).hasAttribute('data-lm-suppress-shortcuts') || reached.push(`before ${key ?? ''}`));
  document.addEventListener('keydown', before, true);
  root.addEventListener('keydown', event => reached.push(`after ${event.key}`));
  const strike = (init: KeyboardEventInit): void =>
    void one('[role=tab]').dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...init }));
  strike({ key: 'y' });
  assert.deepEqual(sent, [{ type: 'approve', call: 'c3', approval_digest: '7c1e90ab' }]);
  for (const key of 'abcdefghijklmnopqrstuvwxyz0123456789'.split('').concat('Escape', 'ArrowUp', 'Enter', ' ')) strike({ key });
  assert.deepEqual(reached, []);
  for (const init of [{ key: 's', ctrlKey: true }, { key: 'r', altKey: true }, { key: 'y', metaKey: true }, { key: 'Enter', shiftKey: true }]) {
    strike(init);
    assert.deepEqual(reached.splice(0), [`before ${init.key}`, `after ${init.key}`]);
  }
  view.dispose();
  document.removeEventListener('keydown', before, true);
});

test('where an object comes from stands on a card once', async () => {
  const { view, one, click, node } = await page();
  const rows = waiting();
  const [input, ...others] = rows.objects ?? [];
  assert.ok(input);
  const calls = (rows.calls ?? []).map(call => ({
    ...call,
    arguments: { Potato: 'Potato#1' },
    uses: [{ parameter: 'Potato', object: 'p0' }],
    origins: [{ id: '1', parameter: 'Potato', says: 'from the notebook' }]
  }));
  view.update(whole({ ...rows, calls, objects: [{ ...input, preview: {} }, ...others] }));
  const times = (words: RegExp): number => [...one('.tc-card').textContent.matchAll(words)].length;
  assert.equal(times(/from the notebook/g), 1);
  click('Graph');
  node('Potato#2').focus();
  press(node('Potato#2'), 'Enter');
  assert.match(one('.tc-card').textContent, /made by Potato_do1, call 1/);
  assert.equal(times(/call 1/g), 1);
  node('Potato#1').focus();
  press(node('Potato#1'), 'Enter');
  assert.equal(times(/from the notebook/g), 1);
});
