/** Two branches, call by call: what is the same folds to a line, what differs stands side by side. */
import { compared, lacksValues, type Pair } from './differ';
import { h, once, reader, type Child } from './dom';
import { button, icon } from './icons';
import type { Acts, Look } from './look';
import type { FullBranch, FullCall, FullObject } from './rows';
import { currentBranch } from './scene';
import { CURRENT, hidden, inView, sides, type Side, type Sides } from './sides';
import { count, duration, isObjectName, line, literal, many } from './text';
import { lines, marked, objectOf, type Where } from './values';

const SHOWN = 200;
const WAITS: readonly string[] = ['running', 'thinking'];

// -- one call -------------------------------------------------------------------------------

function argument(name: string, given: unknown, differs: boolean, more: boolean): Child[] {
  const text = isObjectName(given) ? line(given, 80) : literal(given, 120);
  const value = differs ? marked(text) : text;
  return [isObjectName(given) ? '' : `${line(name, 40)}=`, value, more ? ', ' : ''];
}

function callText(call: FullCall, other: FullCall | null, marks: ReadonlySet<string>): Child[] {
  const entries = Object.entries(call.arguments);
  const parts = entries.flatMap(([name, given], index) =>
    argument(name, given, marks.has(name) || other === null, index < entries.length - 1)
  );
  const tool = line(call.tool, 80);
  return [other && other.tool !== call.tool ? marked(tool) : tool, '(', ...parts, ')'];
}

const HOW: Readonly<Partial<Record<FullCall['status'], string>>> = {
  proposed: 'waits for you',
  approved: 'approved',
  running: 'runs',
  failed: 'failed',
  rejected: 'rejected',
  answered: 'answered by you',
  interrupted: 'interrupted',
  unknown: 'nobody knows how it ended'
};

function how(call: FullCall, other: FullCall | null): Child {
  const words = [
    call.edited ? 'edited by you' : '',
    HOW[call.status] ?? (other && HOW[other.status] ? 'succeeded' : ''),
    call.memory ? 'from memory' : ''
  ].filter(Boolean);
  return words.length ? h('span', { class: 'muted small' }, words.join(' · ')) : null;
}

function outcome(call: FullCall, other: FullCall | null): Child[] {
  const told = (mine: string, theirs: string | undefined, look: string): Child =>
    mine === '' || mine === theirs ? null : h('div', { class: look }, lines(mine, theirs ?? mine));
  const same = call.result !== '' && call.result === other?.result;
  return [
    told(call.error, other?.error, 'tc-came bad'),
    call.tool === 'save' || same ? null : told(call.result, other?.result, 'tc-came'),
    told(call.reason, other?.reason, 'tc-came muted'),
    call.prints && call.prints !== other?.prints
      ? h('div', { class: 'tc-came' }, h('span', { class: 'k' }, 'printed'), lines(call.prints, other?.prints ?? call.prints))
      : null
  ];
}

interface Choosing {
  readonly view: Look;
  readonly acts: Acts;
}

function cell(pair: Pair, where: Where, { view, acts }: Choosing): HTMLElement {
  const [call, other] = where === 'left' ? [pair.left, pair.right] : [pair.right, pair.left];
  const look = `${where === 'right' ? 'b ' : ''}${pair.kind === 'differs' ? 'diff' : 'alike'}`;
  if (!call) return h('div', { role: 'cell', class: `${look} muted small` }, 'not called');
  const { chosen } = view;
  const choose = (object: string): void => acts.set({ chosen: { call: call.id, object } });
  const title = h(
    'button',
    {
      type: 'button',
      class: 'tc-call',
      'aria-pressed': String(chosen.call === call.id),
      'data-k': `${where} ${call.id}`,
      onclick: () => choose(call.object)
    },
    ...callText(call, other, pair.marks)
  );
  const objects = pair.objects.map(one =>
    objectOf(one, where, view.live, chosen.object !== '' && chosen.object === one[where]?.id, (object: FullObject) => choose(object.id))
  );
  return h('div', { role: 'cell', class: look }, h('div', { class: 'tc-asked' }, title, how(call, other)), ...outcome(call, other), ...objects);
}

// -- the rows -------------------------------------------------------------------------------

const stepOf = (pair: Pair): string => {
  const steps = [pair.left?.step, pair.right?.step].filter(step => step !== undefined);
  return [...new Set(steps)].join(' | ');
};

const row = (...cells: Child[]): HTMLElement => h('div', { role: 'row', class: 'tc-crow' }, ...cells);

const head = (text: string, more: Child = null): HTMLElement => h('span', { role: 'rowheader', class: 'n' }, text, more);

const same = (...inside: Child[]): HTMLElement =>
  h('div', { role: 'cell', 'aria-colspan': 2, class: 'same' }, ...inside);

function range(run: readonly Pair[]): string {
  const [first, last] = [run[0], run.at(-1)].map(pair => pair?.right?.step ?? pair?.left?.step ?? 0);
  return first === last ? String(first) : `${first}–${last}`;
}

function sameLine(run: readonly Pair[], show: () => void): HTMLElement {
  const tools = run.map(pair => pair.right?.tool ?? '');
  const names = tools.length > 6 ? many(tools.length, 'call') : line(tools.join(', '), 200);
  const memory = run.every(pair => pair.right?.memory || pair.left?.memory);
  const shared = run[0]?.kind === 'shared';
  const how = shared ? ' in both, not run again' : memory ? ', answered from memory' : '';
  const text = h('span', {}, `${names}: the same${how}`);
  const more = button('Show', { look: 'ghost right small', key: `show ${range(run)}`, onclick: show });
  return row(head(range(run)), same(icon(memory && !shared ? 'memory' : 'equal'), text, more));
}

function pairRow(pair: Pair, choosing: Choosing): HTMLElement {
  const says = reader(pair.kind === 'differs' ? ', differs' : ', the same');
  return row(head(stepOf(pair), says), cell(pair, 'left', choosing), cell(pair, 'right', choosing));
}

/** The pairs as rows; the same ones of a kind that stand together are one. */
function rows(pairs: readonly Pair[], choosing: Choosing, most: number): HTMLElement[] {
  const { view, acts } = choosing;
  const made: HTMLElement[] = [];
  let run: Pair[] = [];
  const flush = (): void => {
    if (run.length) made.push(sameLine(run, () => acts.set({ showSame: true })));
    run = [];
  };
  for (const pair of pairs) {
    const folds = pair.kind !== 'differs' && !view.ui.showSame;
    if (!folds || (run[0] && run[0].kind !== pair.kind)) flush();
    if (folds) run.push(pair);
    else if (made.length < most) made.push(pairRow(pair, choosing));
  }
  flush();
  return made;
}

// -- the sides ------------------------------------------------------------------------------

function picker(view: Look, side: Side, where: Where, acts: Acts): HTMLElement {
  const label = where === 'left' ? 'Left branch' : 'Right branch';
  const value = (branch: FullBranch): string => (branch.current ? CURRENT : branch.id);
  const select = h('select', {
    class: 'tc-in',
    'aria-label': label,
    'data-k': label,
    onchange: () => acts.set({ [where]: select.value })
  });
  for (const branch of inView(view.model)) {
    const option = h('option', { selected: branch === side.branch }, line(branch.name, 60));
    option.value = value(branch);
    select.append(option);
  }
  return select;
}

/** What a person did to a branch, as far as it is its own. */
function about(pairs: readonly Pair[], where: Where): string {
  const edited = pairs.find(pair => pair.kind !== 'shared' && pair[where]?.edited)?.[where];
  return edited ? `edited at call ${edited.step}` : 'as the model asked';
}

function header(view: Look, { left, right }: Sides, pairs: readonly Pair[], acts: Acts): HTMLElement {
  const cell = (side: Side, where: Where): HTMLElement =>
    h(
      'div',
      { role: 'columnheader', class: where === 'right' ? 'hd b' : 'hd' },
      picker(view, side, where, acts),
      h('span', { class: 'muted small' }, about(pairs, where))
    );
  return row(h('span', { role: 'columnheader', class: 'hd' }, reader('Call')), cell(left, 'left'), cell(right, 'right'));
}

/** What a branch took; looking back it is counted from the calls that are known. */
export function took(side: Side, past: boolean): string {
  const { branch } = side;
  const calls = side.calls ?? [];
  const counted = past || branch.ran + branch.remembered === 0;
  const ran = calls.filter(call => !call.memory && (call.status === 'succeeded' || call.status === 'failed'));
  const [anew, memory] = counted
    ? [ran.length, calls.filter(call => call.memory).length]
    : [branch.ran, branch.remembered];
  const time = duration(counted ? ran.reduce((sum, call) => sum + call.ms, 0) : branch.ms);
  return [
    `${many(anew, 'call')} ran${memory ? `, ${count(memory)} from memory` : ''}`,
    branch.tokens && !past ? many(branch.tokens, 'token') : '',
    past ? '' : branch.cost,
    time ? `${time} in tools` : ''
  ]
    .filter(Boolean)
    .join(' · ');
}

function footer({ left, right }: Sides, past: boolean): HTMLElement {
  return row(
    head('', reader('Took')),
    h('div', { role: 'cell', class: 'small muted' }, took(left, past)),
    h('div', { role: 'cell', class: 'b small muted' }, took(right, past))
  );
}

function said({ left, right }: Sides): HTMLElement | null {
  if (left.text === right.text || !left.text || !right.text) return null;
  const cell = (mine: Side, other: Side, look: string): HTMLElement =>
    h('div', { role: 'cell', class: `${look}diff` }, h('div', { class: 'muted small' }, 'said last'), lines(mine.text, other.text));
  return row(head('', reader('Said last, differs')), cell(left, right, ''), cell(right, left, 'b '));
}

// -- the tab --------------------------------------------------------------------------------

const NOTHING = 'Edit a call or fork from one, and both branches stand here side by side.';

function outOfView(view: Look, acts: Acts): Child {
  const gone = hidden(view.model);
  if (gone.length === 0) return null;
  const open = (): void => acts.set({ branches: 'hidden' });
  return button(`${gone.length} hidden`, { look: 'ghost right small', key: 'hidden', onclick: open });
}

function alone(view: Look, acts: Acts): HTMLElement {
  const gone = hidden(view.model).length > 0;
  return h(
    'div',
    { class: 'tc-nothing' },
    h('p', { class: 'strong' }, gone ? 'One branch in view' : 'One branch so far'),
    h('p', { class: 'muted' }, gone ? 'The others are hidden.' : NOTHING),
    outOfView(view, acts)
  );
}

function headline(pairs: readonly Pair[]): string {
  const differing = pairs.filter(pair => pair.kind === 'differs').length;
  if (differing === 0) return `No difference in ${many(pairs.length, 'call')}`;
  return `${count(differing)} of ${many(pairs.length, 'call')} ${differing === 1 ? 'differs' : 'differ'}`;
}

function bar(view: Look, pairs: readonly Pair[], shown: Sides, acts: Acts): HTMLElement {
  const value = (side: Side): string => (side.branch.current ? CURRENT : side.branch.id);
  const swap = (): void => acts.set({ left: value(shown.right), right: value(shown.left) });
  const refused = view.model.refused?.command === 'compare' ? line(view.model.refused.reason, 200) : '';
  return h(
    'div',
    { class: 'tc-row tc-with' },
    h('span', { class: 'strong', role: 'status' }, headline(pairs)),
    refused ? h('span', { class: 'muted small' }, refused) : null,
    outOfView(view, acts),
    view.ui.showSame
      ? button('Fold what is the same', { look: 'ghost right small', key: 'fold', onclick: () => acts.set({ showSame: false }) })
      : null,
    button('Swap', { look: 'ghost right small', key: 'swap', onclick: swap })
  );
}

const notKept = (side: Side, live: boolean): HTMLElement =>
  h(
    'p',
    { class: 'tc-later' },
    live
      ? `The calls of ${line(side.branch.name, 60)} are asked for.`
      : `The calls of ${line(side.branch.name, 60)} are not kept in this notebook: it has those of the newest branches. Run it in a kernel to compare them.`
  );

export interface Compare {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

export function compare(acts: Acts): Compare {
  const element = h('div', { class: 'tc-compare' });
  let view: Look;
  let asked: readonly unknown[] = [];

  /** How values differ is asked for once for what is looked at: again where all was told anew. */
  function ask({ left, right }: Sides, pairs: readonly Pair[]): void {
    const lacks = !left.calls || !right.calls || lacksValues(pairs);
    const what = [left.branch.id, right.branch.id, pairs.length, view.model.branches];
    const known = what.every((one, index) => one === asked[index]);
    if (!view.live || view.past || !lacks || known || WAITS.includes(view.model.session.phase)) return;
    asked = what;
    acts.inquire({ type: 'compare', left: left.branch.id, right: right.branch.id });
  }

  function inside(): HTMLElement[] {
    const shown = sides(view);
    if (!shown) return [alone(view, acts)];
    const { left, right } = shown;
    const pairs = left.calls && right.calls ? compared(view.model, left.calls, right.calls) : [];
    ask(shown, pairs);
    const untold = [left, right].find(side => !side.calls);
    const names = `${line(left.branch.name, 60)} and ${line(right.branch.name, 60)}`;
    const grid = h('div', { class: 'tc-cmp', role: 'table', 'aria-label': `Comparison of ${names}` }, header(view, shown, pairs, acts));
    if (untold) return [grid, notKept(untold, view.live)];
    const made = rows(pairs, { view, acts }, SHOWN);
    grid.append(...made, ...[said(shown), footer(shown, view.past)].filter(one => one !== null));
    const more = made.length >= SHOWN ? h('p', { class: 'tc-later' }, `The first ${SHOWN} rows are shown.`) : null;
    return [bar(view, pairs, shown, acts), grid, ...(more ? [more] : [])];
  }

  /** What had the keyboard has it again, where it is still there. */
  function renew(): void {
    const key = element.contains(document.activeElement) ? document.activeElement?.getAttribute('data-k') : null;
    element.replaceChildren(...inside());
    if (key) [...element.querySelectorAll<HTMLElement>('[data-k]')].find(one => one.dataset.k === key)?.focus({ preventScroll: true });
  }

  const draw = once(renew);
  return {
    element,
    paint(next) {
      view = next;
      const { model, ui, chosen } = next;
      if (ui.tab !== 'Compare') return;
      const { session } = model;
      draw(model.calls, model.objects, model.branches, model.differences, model.refused, session.phase, session.text, ui.left, ui.right, ui.showSame, next.at, next.past, next.live, chosen.call, chosen.object, currentBranch(model)?.id);
    }
  };
}
