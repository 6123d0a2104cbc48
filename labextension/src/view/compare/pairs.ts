/** The calls of two branches as rows of a table: what is the same folds to a line. */
import { h, reader, type Child } from '../dom';
import { button, icon } from '../icons';
import { line, many } from '../text';
import { cell, type Choosing } from './call';
import type { Pair } from './comparison';

const stepOf = (pair: Pair): string => {
  const steps = [pair.left?.step, pair.right?.step].filter(step => step !== undefined);
  return [...new Set(steps)].join(' | ');
};

export const row = (...cells: Child[]): HTMLElement => h('div', { role: 'row', class: 'tc-crow' }, ...cells);

export const head = (text: string, more: Child = null): HTMLElement => h('span', { role: 'rowheader', class: 'n' }, text, more);

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
export function rows(pairs: readonly Pair[], choosing: Choosing, most: number): HTMLElement[] {
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
