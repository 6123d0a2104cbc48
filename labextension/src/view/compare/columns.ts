/** The two columns of a comparison: which branch each shows, what it took, what was said last. */
import { h, reader } from '../dom';
import type { Acts, Look } from '../look';
import { count, duration, line, many } from '../text';
import { differsAt, type Pair, type Where } from './comparison';
import { head, row } from './pairs';
import { idOf, inView, type Side, type Sides } from './sides';
import { lines } from './values';

function picker(view: Look, shown: Sides, where: Where, acts: Acts): HTMLElement {
  const label = where === 'left' ? 'Left branch' : 'Right branch';
  const { left, right } = shown;
  const select = h('select', {
    class: 'tc-in',
    'aria-label': label,
    'data-k': label,
    onchange: () => acts.set({ left: idOf(left.branch), right: idOf(right.branch), [where]: select.value })
  });
  for (const branch of inView(view.model)) {
    const option = h('option', { selected: branch === shown[where].branch }, line(branch.name, 60));
    option.value = idOf(branch);
    select.append(option);
  }
  return select;
}

/** What a person did to a branch, as far as it is its own. */
function about(pairs: readonly Pair[], where: Where): string {
  const edited = pairs.find(pair => pair.kind !== 'shared' && pair[where]?.edited)?.[where];
  return edited ? `edited at call ${edited.step}` : 'as the model asked';
}

export function header(view: Look, shown: Sides, acts: Acts): HTMLElement {
  const cell = (where: Where): HTMLElement =>
    h(
      'div',
      { role: 'columnheader', class: where === 'right' ? 'hd b' : 'hd' },
      picker(view, shown, where, acts),
      shown.comparison ? h('span', { class: 'muted small' }, about(shown.pairs, where)) : null
    );
  return row(h('span', { role: 'columnheader', class: 'hd' }, reader('Call')), cell('left'), cell('right'));
}

/** What a branch took; looking back it is counted from the calls that are known. */
function took(side: Side, past: boolean): string {
  const { branch, calls } = side;
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

/** What the model said last, where that differs; while it speaks, that is not known yet. */
export function said({ left, right, comparison }: Sides, speaks: boolean): HTMLElement | null {
  const change = comparison?.text;
  if (!change || speaks || !left.text || !right.text) return null;
  const cell = (mine: Side, where: Where, look: string): HTMLElement =>
    h(
      'div',
      { role: 'cell', class: `${look}diff` },
      h('div', { class: 'muted small' }, 'said last'),
      lines(mine.text, differsAt(change, where))
    );
  return row(head('', reader('Said last, differs')), cell(left, 'left', ''), cell(right, 'right', 'b '));
}
