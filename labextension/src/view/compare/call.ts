/** One call of a comparison, on its side: what was asked for, how it ended, what it made. */
import { h, type Child } from '../dom';
import type { Acts, Look } from '../look';
import type { FullCall, FullObject } from '../rows';
import { isObjectName, line, literal } from '../text';
import type { Pair } from './differ';
import { lines, marked, objectOf, type Where } from './values';

/** The object that a tool works on, which a call names first, needs no name; any other argument has one. */
function argument(name: string, given: unknown, differs: boolean, first: boolean): Child[] {
  const text = isObjectName(given) ? line(given, 80) : literal(given, 120);
  const value = differs ? marked(text) : text;
  return [first ? '' : ', ', isObjectName(given) && given.startsWith(`${name}#`) ? '' : `${line(name, 40)}=`, value];
}

function callText(call: FullCall, other: FullCall | null, marks: ReadonlySet<string>): Child[] {
  const entries = Object.entries(call.arguments);
  const parts = entries.flatMap(([name, given], index) =>
    argument(name, given, marks.has(name) || other === null, index === 0)
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
    call.saves || same ? null : told(call.result, other?.result, 'tc-came'),
    told(call.reason, other?.reason, 'tc-came muted'),
    call.prints && call.prints !== other?.prints
      ? h('div', { class: 'tc-came' }, h('span', { class: 'k' }, 'printed'), lines(call.prints, other?.prints ?? call.prints))
      : null
  ];
}

export interface Choosing {
  readonly view: Look;
  readonly acts: Acts;
}

export function cell(pair: Pair, where: Where, { view, acts }: Choosing): HTMLElement {
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
