/** The tab Messages: the requests with what each took, and the chosen one as a page. */
import { bringIn, h, once, type Child } from '../dom';
import type { Acts, Look } from '../look';
import type { FullMessage, FullTurn } from '../rows';
import { count, line, many } from '../text';
import { trans } from '../words';
import { page } from './page';
import { isReply, sizesOf, spentOf, sum, turnOf, turnsOf } from './turns';

/** What each request took: the tokens that a model counted, else the characters that it has. */
interface Measure {
  readonly unit: string;
  readonly of: ReadonlyMap<number, number>;
}

function measured(messages: readonly FullMessage[], turns: readonly number[], spent: ReadonlyMap<number, FullTurn>): Measure {
  const tokens = turns.filter(turn => spent.get(turn)?.input);
  if (tokens.length === 0) return { unit: trans.__('characters'), of: sizesOf(messages, turns) };
  return { unit: trans.__('tokens in'), of: new Map(tokens.map(turn => [turn, spent.get(turn)?.input ?? 0])) };
}

/** What all of them took. */
function totals(turns: readonly number[], { of }: Measure, spent: ReadonlyMap<number, FullTurn>, cost: string): Child[] {
  const all = turns.flatMap(turn => spent.get(turn) ?? []);
  const facts: readonly (readonly [string, string])[] = [
    [many(turns.length, 'request'), count(sum(of.values()))],
    [trans.__('from the cache'), count(sum(all.map(turn => turn.cached)))],
    [trans.__('tokens out'), count(sum(all.map(turn => turn.output)))],
    [trans.__('cost'), cost]
  ];
  return facts.filter(([, value]) => value && value !== '0').flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]);
}

export interface Messages {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

export function messages(acts: Acts): Messages {
  const list = h('ol', { class: 'tc-turns', 'aria-label': trans.__('Turns') });
  const unit = h('span', { class: 'right' });
  const total = h('dl', { class: 'tc-total' });
  const right = h('div', { class: 'tc-pages' });
  const title = h('h3', { class: 'tc-h' }, trans.__('Requests'), unit);
  const element = h('div', { class: 'tc-two' }, h('div', { class: 'tc-pane' }, title, list, total), right);
  let view: Look;

  function entry(turn: number, calls: string, chosen: boolean, took: number): HTMLElement {
    const choose = (): void => acts.set({ turn });
    const name = h('button', { type: 'button', class: 'turn', 'data-k': `turn ${turn}`, onclick: choose }, `Turn ${turn}`);
    const size = took ? h('span', { class: 'muted small' }, count(took)) : null;
    return h('li', { 'aria-current': chosen ? 'true' : undefined }, name, size, h('span', { class: 'mono' }, calls));
  }

  /** The turn that was chosen, else the last one that has a reply, or waits for one. */
  function choose(shown: readonly FullMessage[], turns: readonly number[]): number | undefined {
    const { turn } = view.ui;
    if (turn !== null && turns.includes(turn)) return turn;
    if (view.model.session.phase === 'thinking' && !view.past) return turns.at(-1);
    return turns.findLast(turn => shown.some(message => message.turn === turn && isReply(message))) ?? turns.at(-1);
  }

  const draw = once(() => {
    const { model, past } = view;
    const limit = past ? (view.calls.at(-1)?.turn ?? 1) : Infinity;
    const shown = [...model.messages.values()].filter(message => message.turn <= limit && (!past || message.step <= view.at));
    const ended = model.session.phase === 'finished' && !past;
    const turns = turnsOf(shown, ended);
    const chosen = choose(shown, turns);
    const spent = spentOf(model);
    const measure = measured(shown, turns, spent);
    const tools = new Map<number, string[]>();
    for (const call of view.calls) tools.set(call.turn, [...(tools.get(call.turn) ?? []), call.tool]);
    const focus = list.contains(document.activeElement);
    const named = (turn: number): string => line((tools.get(turn) ?? []).join(', '), 120);
    list.replaceChildren(...turns.map(turn => entry(turn, named(turn), turn === chosen, measure.of.get(turn) ?? 0)));
    const current = list.querySelector<HTMLElement>('[aria-current]');
    if (focus) current?.querySelector('button')?.focus({ preventScroll: true });
    if (current) requestAnimationFrame(() => bringIn(list, current));
    unit.textContent = turns.length ? measure.unit : '';
    total.replaceChildren(...totals(turns, measure, spent, past ? '' : model.session.cost).filter(one => one instanceof Node));
    total.hidden = turns.length < 2;
    right.replaceChildren(
      chosen === undefined
        ? h('p', { class: 'tc-later' }, trans.__('Nothing was said yet.'))
        : page(view, turnOf(shown, chosen, ended ? turns.at(-1) : undefined), spent.get(chosen), acts)
    );
  });

  return {
    element,
    paint(next) {
      view = next;
      const { model, ui } = next;
      if (ui.tab !== 'Messages') return;
      draw(model.messages, model.turns, model.calls, model.session.phase, model.session.cost, model.shown, ui.turn, ui.sent, next.at, next.past);
    }
  };
}
