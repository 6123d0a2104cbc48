/** The two columns of a comparison: which branch each shows, what it took, what was said last. */
import { h, reader } from '../dom';
import type { Acts, Look } from '../look';
import type { FullBranch } from '../rows';
import { count, duration, line, many } from '../text';
import type { Pair } from './differ';
import { head, row } from './pairs';
import { CURRENT, inView, type Side, type Sides } from './sides';
import { lines, type Where } from './values';

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

export function header(view: Look, { left, right }: Sides, pairs: readonly Pair[], acts: Acts): HTMLElement {
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
function took(side: Side, past: boolean): string {
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

export function footer({ left, right }: Sides, past: boolean): HTMLElement {
  return row(
    head('', reader('Took')),
    h('div', { role: 'cell', class: 'small muted' }, took(left, past)),
    h('div', { role: 'cell', class: 'b small muted' }, took(right, past))
  );
}

export function said({ left, right }: Sides): HTMLElement | null {
  if (left.text === right.text || !left.text || !right.text) return null;
  const cell = (mine: Side, other: Side, look: string): HTMLElement =>
    h('div', { role: 'cell', class: `${look}diff` }, h('div', { class: 'muted small' }, 'said last'), lines(mine.text, other.text));
  return row(head('', reader('Said last, differs')), cell(left, right, ''), cell(right, left, 'b '));
}
