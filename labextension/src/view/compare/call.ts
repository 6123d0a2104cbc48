/** One call of a comparison, on its side: what was asked for, how it ended, what it made. */
import { h, type Child } from '../dom';
import type { Acts, Look } from '../look';
import type { FullCall, FullObject, Model } from '../rows';
import { isObjectName, line, literal } from '../text';
import { changeIn, differsAt, type Pair, type Where } from './comparison';
import { lines, marked, objectOf } from './values';

/** The object that a tool works on, which a call names first, needs no name; any other argument has one. */
function argument(name: string, given: unknown, differs: boolean, first: boolean): Child[] {
  const text = isObjectName(given) ? line(given, 80) : literal(given, 120);
  const value = differs ? marked(text) : text;
  return [first ? '' : ', ', isObjectName(given) && given.startsWith(`${name}#`) ? '' : `${line(name, 40)}=`, value];
}

function callText(pair: Pair, call: FullCall, other: FullCall | null): Child[] {
  const entries = Object.entries(call.arguments);
  const parts = entries.flatMap(([name, given], index) =>
    argument(name, given, other === null || changeIn(pair, 'argument', name) !== undefined, index === 0)
  );
  const tool = line(call.tool, 80);
  return [changeIn(pair, 'tool') ? marked(tool) : tool, '(', ...parts, ')'];
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

const LOOKS = { error: 'tc-came bad', result: 'tc-came', reason: 'tc-came muted', prints: 'tc-came' } as const;

/** What came of a call, as far as the other came to something else. */
function outcome(pair: Pair, call: FullCall, where: Where): Child[] {
  const told = (what: keyof typeof LOOKS): Child => {
    const change = changeIn(pair, what);
    if (call[what] === '' || (pair.left && pair.right && !change)) return null;
    const label = what === 'prints' ? h('span', { class: 'k' }, 'printed') : null;
    return h('div', { class: LOOKS[what] }, label, lines(call[what], differsAt(change, where)));
  };
  return [told('error'), call.saves ? null : told('result'), told('reason'), told('prints')];
}

/** The object that a call only returned, where the other returned another one. */
function returned(pair: Pair, call: FullCall, model: Model, where: Where): Child {
  const object = changeIn(pair, 'result') && call.result === '' ? model.objects.get(call.object) : undefined;
  if (!object || pair.objects.some(one => one[where] === object)) return null;
  return h('div', { class: 'tc-came' }, 'returned ', marked(line(object.name, 80)));
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
    ...callText(pair, call, other)
  );
  const objects = pair.objects.map(one =>
    objectOf(one, where, chosen.object !== '' && chosen.object === one[where]?.id, (object: FullObject) => choose(object.id))
  );
  return h('div', { role: 'cell', class: look }, h('div', { class: 'tc-asked' }, title, how(call, other)), ...outcome(pair, call, where), returned(pair, call, view.model, where), ...objects);
}
