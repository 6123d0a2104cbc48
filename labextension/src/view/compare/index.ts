/** Two branches, call by call: what is the same folds to a line, what differs stands side by side. */
import { h, once, type Child } from '../dom';
import { button } from '../icons';
import type { Acts, Look } from '../look';
import type { Model } from '../rows';
import { count, line, many } from '../text';
import { footer, header, said } from './columns';
import { rows } from './pairs';
import { chosen, hidden, idOf, inView, sides, type Sides } from './sides';

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

function headline({ pairs, comparison }: Sides, past: boolean): string {
  const differing = pairs.filter(pair => pair.kind === 'differs').length;
  if (differing === 0 && !past && !comparison?.same) return `The same ${many(pairs.length, 'call')}`;
  if (differing === 0) return `No difference in ${many(pairs.length, 'call')}`;
  return `${count(differing)} of ${many(pairs.length, 'call')} ${differing === 1 ? 'differs' : 'differ'}`;
}

const refusal = ({ model }: Look): string =>
  model.refused?.command === 'compare' ? line(model.refused.reason, 200) : '';

function bar(view: Look, shown: Sides, acts: Acts): HTMLElement {
  const swap = (): void => acts.set({ left: idOf(shown.right.branch), right: idOf(shown.left.branch) });
  const refused = refusal(view);
  return h(
    'div',
    { class: 'tc-row tc-with' },
    h('span', { class: 'strong', role: 'status' }, headline(shown, view.past)),
    refused ? h('span', { class: 'muted small' }, refused) : null,
    outOfView(view, acts),
    view.ui.showSame
      ? button('Fold what is the same', { look: 'ghost right small', key: 'fold', onclick: () => acts.set({ showSame: false }) })
      : null,
    button('Swap', { look: 'ghost right small', key: 'swap', onclick: swap })
  );
}

/** Why there is nothing to show, where two branches were not told side by side. */
function untold(view: Look, names: string): HTMLElement {
  const busy = WAITS.includes(view.model.session.phase) ? ' It answers after this step.' : '';
  const asked = `The kernel compares ${names || 'the branches'}.${busy}`;
  const absent = names
    ? `This notebook does not keep how ${names} differ: it has one comparison. Run the cell to compare them.`
    : 'This notebook does not keep how its branches differ. Run the cell to compare them.';
  return h('p', { class: 'tc-later' }, view.live ? refusal(view) || asked : absent);
}

export interface Compare {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

export function compare(acts: Acts): Compare {
  const element = h('div', { class: 'tc-compare' });
  let view: Look;
  /** What the kernel was asked to compare, and tells again as it changes; `seen`: it was told. */
  let asked: { readonly sides: readonly [string, string]; readonly among: Model['branches']; seen: boolean } | null = null;

  function leave(): void {
    if (asked && view.live) acts.inquire({ type: 'compare', left: asked.sides[0], right: asked.sides[1], on: false });
    asked = null;
  }

  /** Asks once for what is looked at: again where that was told and is gone, or where all was told anew. */
  function ask(known: boolean): void {
    if (!view.live || view.past) return;
    if (known) {
      if (asked) asked.seen = true;
      return;
    }
    const [left, right] = chosen(view) ?? ['', ''];
    const { branches } = view.model;
    const same = asked?.sides[0] === left && asked.sides[1] === right;
    if (same && asked?.among === branches && !asked.seen) return;
    if (!same) leave();
    asked = { sides: [left, right], among: branches, seen: false };
    acts.inquire({ type: 'compare', left, right });
  }

  function inside(): HTMLElement[] {
    if (inView(view.model).length < 2) return [alone(view, acts)];
    const shown = sides(view);
    ask(shown?.comparison != null);
    if (!shown) return [untold(view, '')];
    const names = `${line(shown.left.branch.name, 60)} and ${line(shown.right.branch.name, 60)}`;
    const grid = h('div', { class: 'tc-cmp', role: 'table', 'aria-label': `Comparison of ${names}` }, header(view, shown, acts));
    if (!shown.comparison) return [grid, untold(view, names)];
    const made = rows(shown.pairs, { view, acts }, SHOWN);
    const speaks = view.model.session.phase === 'thinking';
    grid.append(...made, ...[said(shown, speaks), footer(shown, view.past)].filter(one => one !== null));
    const more = made.length >= SHOWN ? h('p', { class: 'tc-later' }, `The first ${SHOWN} rows are shown.`) : null;
    return [bar(view, shown, acts), grid, ...(more ? [more] : [])];
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
      const { model, ui } = next;
      if (ui.tab !== 'Compare') return leave();
      const { session } = model;
      draw(asked, model.calls, model.objects, model.branches, model.comparisons, model.differences, model.refused, session.phase, session.text, ui.left, ui.right, ui.showSame, next.at, next.past, next.live, next.chosen.call, next.chosen.object);
    }
  };
}
