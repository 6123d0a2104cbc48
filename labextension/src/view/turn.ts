/** The other calls of a turn: each can be looked at, edited and rejected before all are approved. */
import { h, type Child } from './dom';
import { button, icon } from './icons';
import { choiceOf, isOpen, type Acts, type Look } from './look';
import type { FullCall } from './rows';
import { isObjectName, line, literal } from './text';

const MANY = 40;

/** The calls that wait beside one, in the order in which they run. */
export const beside = (view: Look, call: FullCall): FullCall[] =>
  view.calls.filter(one => one !== call && one.turn === call.turn && isOpen(one));

function given(call: FullCall): string {
  const parts = Object.entries(call.arguments).map(
    ([name, value]) => `${line(name, 40)}=${isObjectName(value) ? line(value, 60) : literal(value, 60)}`
  );
  return parts.join(', ');
}

function item(call: FullCall, view: Look, acts: Acts): HTMLElement {
  const choose = (): void => acts.set({ chosen: choiceOf(call), form: null });
  const edit = button('Edit', {
    look: 'ghost small',
    disabled: view.ui.sent,
    key: `edit ${call.id}`,
    label: `Edit call ${call.step}, ${line(call.tool, 80)}`,
    icon: 'edited',
    onclick: () => acts.edit(call)
  });
  return h(
    'li',
    {},
    icon('wait'),
    h(
      'button',
      { type: 'button', class: 'tc-link mono', 'data-k': `beside ${call.id}`, onclick: choose },
      `${call.step} ${line(call.tool, 80)}`
    ),
    h('span', { class: 'what' }, line(given(call), 200)),
    edit
  );
}

/** The list, where there is anything in it. */
export function turnOf(view: Look, call: FullCall, acts: Acts): Child {
  const others = beside(view, call);
  if (others.length === 0) return null;
  const more = others.length - MANY;
  return h(
    'div',
    { class: 'tc-turn' },
    h('h4', {}, `Also in turn ${call.turn}`),
    h('ul', { 'aria-label': 'Also in this turn' }, ...others.slice(0, MANY).map(one => item(one, view, acts))),
    more > 0 ? h('p', { class: 'muted small' }, `and ${more} more in Steps`) : null
  );
}
