/** What is drawn where calls failed, and where there are branches: each mark has its place and its source. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ICONS } from '../src/view/icons';
import type { IconName } from '../src/view/icons';
import { called, chain, delta, drawn, made, page, press, slide, waiting, whole } from './page';
import type { CallRow, Rows } from './sent';

const OLD: Rows['branches'] = [
  { id: 'b', name: 'new', current: true },
  { id: 'h', name: 'old' }
];

/** A chain of two, and what its second call came to on a branch that was left. */
function branched(): Rows {
  const rows = chain(2);
  const other = called(2, { id: 'x2', branch: 'old', object: 'y2', arguments: { n: 1 } });
  const beside = made('y2', 2, { branch: 'old', call: 'x2' });
  return { ...rows, calls: [...(rows.calls ?? []), other], objects: [...(rows.objects ?? []), beside], branches: OLD };
}

test('a call that failed is a pill that says why', async () => {
  const { view, node } = await page();
  const failed = called(3, { status: 'failed', object: '', error: 'too hot' });
  const rows = chain(2);
  view.update(whole({ ...rows, calls: [...(rows.calls ?? []), failed] }));
  assert.match(node('Call 3: Potato_do3').getAttribute('aria-description') ?? '', /too hot/);
});

const clickOn = (node: Element): unknown => node.dispatchEvent(new MouseEvent('click', { bubbles: true }));

test('a box opens its own object, also the second one of a call, and a pill opens the call', async () => {
  const { view, node, one, all } = await page();
  const rows = chain(2);
  view.update(whole({ ...rows, objects: [...(rows.objects ?? []), made('q1', 1, { name: 'Peel#1', kind: 'Peel' })] }));
  for (const [name, title] of [['Peel#1', 'Peel#1'], ['Potato#2', 'Potato#2'], ['Call 1: Potato_do1', 'Potato_do1']] as const) {
    clickOn(node(name));
    assert.match(one('.tc-card h3').textContent, new RegExp(`^${title}`));
    assert.deepEqual(all('.node [aria-pressed=true]').map(button => button.getAttribute('aria-label')), [name]);
  }
});

test('the lineage of a call goes along the edges back to the inputs, and on to what was made of its object', async () => {
  const { view, node, all, click } = await page();
  const rows = chain(3);
  const calls = [...(rows.calls ?? []), called(4, { uses: [{ parameter: 'Potato', object: 'p1' }] })];
  view.update(whole({ ...rows, calls, objects: [...(rows.objects ?? []), made('p4', 4)] }));
  clickOn(node('Call 2: Potato_do2'));
  click('Lineage');
  const pale = (): (string | null)[] => all('.node.away .hit').map(button => button.getAttribute('aria-label'));
  assert.deepEqual(pale(), ['Call 4: Potato_do4', 'Potato#5']);
  clickOn(node('Potato#5'));
  assert.deepEqual(pale(), ['Call 2: Potato_do2', 'Call 3: Potato_do3', 'Potato#3', 'Potato#4']);
});

test('at a side where calls and objects are out of sight a button counts them, and shows them', async () => {
  const { view, one, all } = await page();
  view.update(whole(chain(1)));
  assert.equal(all('.tc-beyond').length, 0);
  view.update(whole(chain(12)));
  const [left, right] = [one('.tc-beyond.left'), one('.tc-beyond.right')];
  const isThere = (): boolean[] => [left, right].map(button => !button.hidden && !button.classList.contains('none'));
  assert.deepEqual(isThere(), [true, false]);
  const count = Number(left.textContent);
  assert.equal(left.getAttribute('aria-label'), `${count} more to the left`);
  left.click();
  await new Promise(resume => requestAnimationFrame(() => setTimeout(resume)));
  assert.deepEqual(isThere(), [true, true]);
  assert.ok(Number(left.textContent) < count);
});

test('a value that is cut on a pill is whole in its tooltip', async () => {
  const { view, node } = await page();
  const result = `{"rows":62,"columns":["${'city","'.repeat(60)}"]}`;
  view.update(whole({ ...chain(0), calls: [called(1, { object: '', result })] }));
  assert.ok(node('Call 1: Potato_do1').parentElement?.querySelector('title')?.textContent.includes(result));
});

test('an edge of another branch is drawn under those of the shown one, whichever came last', async () => {
  const { view, all } = await page();
  view.update(whole(branched()));
  const looks = all('svg.g .e').map(edge => edge.getAttribute('class'));
  const pale = looks.map(look => look?.split(' ').includes('pale') ?? false);
  assert.deepEqual(pale, [true, true, false, false, false, false]);
});

test('two objects of one name on two branches are told apart by the branch in their accessible names', async () => {
  const { view, node } = await page();
  view.update(whole(branched()));
  const state = (name: string): string => node(name).parentElement?.querySelector('.state')?.textContent ?? '';
  assert.equal(state('Potato#3'), 'state 2');
  assert.equal(state('Potato#3 of old'), 'state 2');
});

test('a click on the name of a branch in the graph checks it out; one on the current branch does nothing, nor any in a saved view', async () => {
  for (const live of [true, false]) {
    const { view, node, sent } = await page(live);
    view.update(whole(branched(), live));
    clickOn(node('new'));
    assert.deepEqual(sent, []);
    clickOn(node('old'));
    assert.deepEqual(sent, live ? [{ type: 'checkout', branch: 'h' }] : []);
  }
});

test('at an earlier step a reference is drawn only with a call that takes it, and the name of a branch only with a row below it', async () => {
  const it = await page();
  const rows = branched();
  const { nodes = [], edges = [], ...graph } = drawn(rows);
  const last = nodes.findIndex(({ row }) => row === 'call2');
  const more = [...nodes.slice(2), { kind: 'reference' as const, row: 'p0', y: 99, label: '↑ Potato#1' }];
  // In the kernel's order: a branch, what is in its rows, and the next branch.
  const own = [nodes[0], ...more.filter(node => !node.muted), nodes[1], ...more.filter(node => node.muted)].flatMap(node => (node ? [node] : []));
  const at = (place: number): number => own.indexOf(nodes[place] ?? {});
  const moved = edges.map(edge => ({ ...edge, tail: at(edge.tail), head: at(edge.head) }));
  const reference = own.findIndex(({ kind }) => kind === 'reference');
  it.view.update(whole({ ...rows, graph: [{ ...graph, nodes: own, edges: [...moved, { tail: reference, head: at(last), path: 'M0,0h9' }] }] }));
  const drawnNames = (): (string | null)[] => it.all('.node.reference .hit, .node.branch .hit').map(button => button.getAttribute('aria-label'));
  assert.deepEqual(drawnNames(), ['new', '↑ Potato#1', 'old']);
  slide(it, 1);
  assert.deepEqual(drawnNames(), ['new']);
});

test('zoomed out as far as it goes, nodes have their names in letters that can be read, and nothing is left out', async () => {
  const { view, all, one } = await page();
  view.update(whole(chain(40)));
  for (const name of ['Fit', 'Zoom out', 'Zoom out']) one(`[aria-label="${name}"]`).click();
  assert.match(one('.tc-canvas > svg > g').getAttribute('transform') ?? '', /scale\(0\.96\)/);
  assert.deepEqual(all('.node.call .tool').map(text => text.textContent), Array.from({ length: 40 }, (_, index) => `${index + 1} Potato_do${index + 1}`));
});

test('rows of the width of the canvas are asked for once, and names alone to see a large drawing as a whole', async () => {
  const { view, one, sent } = await page();
  Object.defineProperty(one('.tc-canvas'), 'clientWidth', { configurable: true, value: 500 });
  view.update(whole(chain(40)));
  view.update(delta(1, {}));
  const request = { type: 'draw_graph', until: 0, selected: '' };
  assert.deepEqual(sent, [{ ...request, page: 450, compact: false }]);
  one('[aria-label=Fit]').click();
  assert.deepEqual(sent.at(-1), { ...request, page: 450, compact: true });
  one('[aria-label="Zoom in"]').click();
  assert.deepEqual(sent.at(-1), { ...request, page: 450, compact: false });
});

test('at an earlier step the graph leaves room for the result of the call, also where all of it would have room', async () => {
  const it = await page();
  const rows = chain(4);
  Object.defineProperty(it.one('.tc-canvas'), 'clientWidth', { configurable: true, value: 600 });
  it.view.update(whole({ ...rows, graph: [{ ...drawn(rows), height: 560 } as ReturnType<typeof drawn>] }));
  const high = (): number => Number(it.one('svg.g').getAttribute('height'));
  const before = high();
  slide(it, 4);
  slide(it, 3);
  // And for words on what is above and below.
  assert.deepEqual([before, high()], [560, 490 - 2 * 20]);
});

test('an argument has its name at its edge where a call takes two objects', async () => {
  const { view, all } = await page();
  const rows = chain(4);
  const uses = [
    { parameter: 'Potato', object: 'p4' },
    { parameter: 'first', object: 'p1' }
  ];
  view.update(whole({ ...rows, calls: [...(rows.calls ?? []), called(5, { uses })], objects: [...(rows.objects ?? []), made('p5', 5)] }));
  assert.deepEqual(all('svg.g .param').map(name => name.textContent).sort(), ['Potato', 'first']);
});

test('a pill has the icons of its state, of an edit and of an outdated result, on every branch', async () => {
  const marked: Readonly<Record<string, IconName | null>> = {
    succeeded: null, failed: 'failed', rejected: 'reject', proposed: 'wait', running: 'run', answered: 'person', interrupted: 'stop', unknown: 'warning'
  };
  for (const [status, icon] of Object.entries(marked)) {
    for (const [edited, stale, branch] of [[false, false, ''], [true, false, 'old'], [false, true, ''], [true, true, 'old']] as const) {
      const { view, node } = await page();
      view.update(
        whole({
          ...chain(0), branches: OLD, calls: [called(1, { status: status as CallRow['status'], edited, outdated: stale ? 'WHY' : '', branch, object: '' })]
        })
      );
      const drawn = node(`Call 1: Potato_do1${branch && ' of old'}`).parentElement?.querySelectorAll('.mk path') ?? [];
      const icons = [...(icon ? [icon] : []), ...(edited ? (['edited'] as const) : []), ...(stale ? (['clock'] as const) : [])];
      assert.deepEqual([...drawn].map(path => path.getAttribute('d')), icons.map(name => ICONS[name].join('')), `${status} ${edited} ${stale}`);
    }
  }
});

/** A drawing of these rows in which everything stands further to the right and below. */
function moved(rows: Rows, by: number): Rows {
  const graph = drawn(rows);
  const nodes = graph.nodes?.map(node => ({ ...node, x: (node.x ?? 0) + by, y: (node.y ?? 0) + by }));
  const edges = graph.edges?.map(edge => ({ ...edge, path: `M${by},0c0,0 0,0 9,9` }));
  return { graph: [{ ...graph, width: 2 * (graph.width ?? 0) + by, height: 900 + by, nodes, edges }] };
}

/** The numbers of an element's place. */
const numbersOf = (element: Element | null | undefined): number[] => (element?.getAttribute('transform') ?? '').match(/-?[\d.]+/g)?.map(Number) ?? [];

/** Where the node of a button is on the screen, in pixels of the canvas. */
function onScreen(button: Element): number[] {
  const [x = 0, y = 0] = numbersOf(button.parentElement);
  const [left = 0, top = 0, scale = 1] = numbersOf(button.closest('.g > g'));
  return [Math.round(left + scale * x), Math.round(top + scale * y)];
}

test('a node or an edge that moves in a new drawing is the same element at its new place', async () => {
  const { view, node, all } = await page();
  view.update(whole(chain(3)));
  const before = [node('Potato#2'), ...all('svg.g .edge')];
  const [x = 0] = numbersOf(node('Potato#2').parentElement);
  view.update(delta(1, moved(chain(3), 40)));
  assert.deepEqual([node('Potato#2'), ...all('svg.g .edge')].map((element, index) => element === before[index]), before.map(() => true));
  assert.equal(numbersOf(node('Potato#2').parentElement)[0], x + 40);
  assert.ok(all('svg.g .edge').every(edge => edge.getAttribute('d') === 'M40,0c0,0 0,0 9,9'));
});

test('the pill that waits, and else the chosen one, stays where it is on the screen when a new drawing moves it', async () => {
  for (const name of ['Call 3: Potato_slice', 'Call 2: Potato_do2']) {
    const { view, node } = await page();
    const rows = name.includes('slice') ? waiting() : chain(6);
    view.update(whole({ ...rows, ...moved(rows, 0) }));
    if (!name.includes('slice')) node(name).dispatchEvent(new MouseEvent('click', { bubbles: true }));
    const before = onScreen(node(name));
    for (const [number, by] of [70, 20, 300, 10].entries()) {
      view.update(delta(number + 1, moved(rows, by)));
      const now = onScreen(node(name));
      // The view stands on whole pixels.
      assert.ok(now.every((side, index) => Math.abs(side - (before[index] ?? 0)) <= 1), `${name} ${before} ${now}`);
    }
  }
});

test('while the focus is in the graph nothing moves and states change at once; what came is drawn afterwards', async () => {
  const { view, node } = await page();
  view.update(whole(chain(3)));
  const place = (): number[] => numbersOf(node('Potato#2').parentElement);
  const [before, outside] = [place(), document.body.appendChild(document.createElement('button'))];
  node('Call 1: Potato_do1').focus();
  const rows = { ...chain(3), calls: chain(3).calls?.map(call => (call.step === 2 ? { ...call, outdated: 'WHY' } : call)) };
  view.update(delta(1, { ...moved(rows, 40), calls: rows.calls }));
  assert.deepEqual(place(), before);
  assert.equal(node('Call 2: Potato_do2').parentElement?.querySelectorAll('.mk').length, 1);
  outside.focus();
  await new Promise(resume => requestAnimationFrame(() => setTimeout(resume)));
  assert.deepEqual(place(), before.map(number => number + 40));
});

test('only text that is wider than its box or pill is fitted into it, and only once it can be measured', async () => {
  const { view, node } = await page();
  const frame = (): Promise<void> => new Promise(resume => requestAnimationFrame(() => setTimeout(resume)));
  let isHidden = true;
  const texts = (): (string | null | undefined)[] =>
    ['Potato#1', 'Potato#2'].map(name => node(name).parentElement?.querySelector('.name')?.getAttribute('textLength'));
  Object.defineProperty(Object.getPrototypeOf(document.createElementNS('http://www.w3.org/2000/svg', 'text')), 'getComputedTextLength', {
    configurable: true,
    value(this: SVGElement) {
      return isHidden ? 0 : this.textContent === 'Potato#2' ? 140 : 90;
    }
  });
  view.update(whole(chain(1)));
  await frame();
  assert.deepEqual(texts(), [null, null]);
  isHidden = false;
  view.update(delta(1, {}));
  for (let frames = 0; frames < 50 && texts()[1] === null; frames++) await frame();
  assert.deepEqual(texts(), [null, '104']);
});

/** The sides of the frame in the overview: left, top, width, height. */
const frameOf = (frame: Element): number[] => ['x', 'y', 'width', 'height'].map(name => Number(frame.getAttribute(name)));

test('the overview of a thousand calls has one frame, which Home moves to the first drawn call and arrow keys move on', async () => {
  const { view, all, one } = await page();
  view.update(whole(chain(1000)));
  const map = one('[aria-label=Overview]');
  assert.equal(map.getAttribute('aria-valuemax'), '1000');
  assert.ok(Number(map.getAttribute('aria-valuenow')) > 980);
  assert.match(map.getAttribute('aria-valuetext') ?? '', /^showing 9\d\d to 1,000 of 1,000 calls$/);
  press(map, 'Home');
  assert.equal(map.getAttribute('aria-valuenow'), '940');
  for (let page = 0; page < 9; page++) press(map, 'ArrowRight');
  assert.equal(all('.tc-overview .frame').length, 1);
  assert.ok(Number(map.getAttribute('aria-valuenow')) > 940);
});

/** Calls of which one failed, one was slow, and one took another argument than all others. */
function oddCalls(): Rows {
  const rows = chain(160);
  const calls = (rows.calls ?? []).map(call => ({
    ...call,
    tool: 'Potato_slice',
    ms: call.step === 110 ? 5000 : 1,
    arguments: { shape: call.step === 130 ? 'SLICES' : 'STICKS' },
    ...(call.step === 120 ? { status: 'failed' as const, object: '' } : {})
  }));
  const objects = (rows.objects ?? []).filter(object => object.id !== 'p120');
  return { ...rows, calls, objects };
}

test('the overview moves, and marks what failed and what is unusual or slow', async () => {
  const { view, all, one } = await page();
  view.update(whole(oddCalls()));
  const map = one('[aria-label=Overview]');
  press(map, 'Home');
  const [left = 0, top = 0] = frameOf(one('.tc-overview .frame'));
  press(map, 'ArrowRight');
  const [further = 0, level = 0] = frameOf(one('.tc-overview .frame'));
  assert.ok(further > left && level === top, `${further} ${left}`);
  const marks = (look: string): number => (one(`.tc-overview path.${look}`).getAttribute('d') ?? '').split('M').length - 1;
  assert.equal(marks('failed'), 1);
  assert.ok(marks('odd') >= 1);
  assert.ok(marks('own') > 1);
  assert.equal(marks('hit'), 0);
  one('.tc-chip.failed').click();
  assert.equal(marks('hit'), 1);
  assert.equal(all('.tc-overview path').length, 6);
});

test('a graph that is wholly in sight has no overview', async () => {
  const { view, all } = await page();
  view.update(whole(chain(4)));
  assert.deepEqual(all('[aria-label=Overview]'), []);
});

test('at an earlier step the graph is as high as what is drawn there, also after Fit', async () => {
  const it = await page();
  const rows = chain(4);
  const { nodes = [], ...graph } = drawn(rows);
  const inRows = (nodes as { x: number; y: number }[]).map(node => ({ ...node, x: node.x % 600, y: node.y + (node.x < 600 ? 0 : 400) }));
  it.view.update(whole({ ...rows, graph: [{ ...graph, width: 600, height: 540, nodes: inRows } as typeof graph] }));
  const high = (): number => Number(it.one('svg.g').getAttribute('height'));
  it.one('[aria-label=Fit]').click();
  const now = high();
  slide(it, 1);
  assert.equal(high(), now - 400);
});

test('a failed call among the earlier ones is asked for by its own id, and a click on their box draws them', async () => {
  const { view, one, sent } = await page();
  const { calls = [], ...rows } = chain(140);
  const failed = calls.map(call => (call.step === 20 ? { ...call, status: 'failed' as const, object: '' } : call));
  const { nodes = [], ...graph } = drawn({ calls: failed, ...rows });
  const earlier = { kind: 'fold' as const, row: 'call80', x: 60, y: 200, label: '80 earlier calls' };
  view.update(whole({ calls: failed, ...rows, graph: [{ ...graph, nodes: [...nodes, earlier] }] }));
  one('.tc-chip.failed').click();
  assert.deepEqual(sent.at(-1), { type: 'draw_graph', until: 0, selected: 'call20', page: 900, compact: false });
  one('[aria-label="80 earlier calls"]').dispatchEvent(new MouseEvent('click', { bubbles: true }));
  assert.deepEqual(sent.at(-1), { type: 'draw_graph', until: 0, selected: 'call80', page: 900, compact: false });
});
