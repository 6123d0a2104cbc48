/** Two branches, call by call: what is the same folds to a line, what differs stands side by side. */
import { h, once, type Child } from '../dom';
import { button } from '../icons';
import type { Acts, Look } from '../look';
import { currentBranch } from '../scene';
import { count, line, many } from '../text';
import { footer, header, said } from './columns';
import { compared, lacksValues, type Pair } from './differ';
import { rows } from './pairs';
import { CURRENT, hidden, sides, type Side, type Sides } from './sides';

const SHOWN = 200;
const WAITS: readonly string[] = ['running', 'thinking'];

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
