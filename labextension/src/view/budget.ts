/** The card of a session that is paused for its budget: what was used, why it pauses, and how it goes on. */
import type { BudgetRow, MessageRow } from '../generated/contract';
import { type Child, focusInPlace, h, mutedText, setChildren, whenChanged } from './dom';
import { button } from './icons';
import { sizeOf, sum, turnOf } from './messages/turns';
import type { Model } from './model';
import { formatNumber, oneLine, t, tableText } from './text';
import type { PanelActions, ViewState } from './view_state';

const dollars = (amount: number): string => `$${amount.toFixed(2)}`;

function usedText({ used, tokens, used_cost, cost }: BudgetRow): string {
  const money = cost ? t('%1 of %2', dollars(used_cost), dollars(cost)) : used_cost ? dollars(used_cost) : '';
  const counted = tokens ? t('%1 of %2 tokens', used, tokens) : t('%1 tokens', used);
  return money ? t('%1, about %2', counted, money) : counted;
}

/** So many parts of the requests are named. */
const MOST_PARTS = 5;

const PARTS = {
  system: tableText('the system prompt'), tools: tableText('descriptions of tools'), user: tableText('your prompts'),
  session: tableText('your prompts')
} as const;

const partOf = ({ role, tool }: MessageRow): string =>
  role === 'tool' ? t('results of %1', oneLine(tool, 60))
    : role === 'assistant' || role === 'call' ? t('replies of the model') : t(PARTS[role]);

/** The tokens of the requests so far by what they hold, the most first: a part of a request has the share that its characters have. */
function tokensByPart({ messages, turns }: Model): (readonly [string, number])[] {
  const shares = new Map<string, number>();
  const add = (part: string, tokens: number): unknown => shares.set(part, (shares.get(part) ?? 0) + tokens);
  for (const { turn, input, output } of turns.values()) {
    const { old, fresh } = turnOf([...messages.values()], turn);
    const size = sum([...old, ...fresh].map(sizeOf));
    for (const message of [...old, ...fresh]) add(partOf(message), (input * sizeOf(message)) / size);
    add(t('replies of the model'), output);
  }
  return [...shares].map(([part, tokens]) => [part, Math.round(tokens)] as const).filter(([, tokens]) => tokens).sort((a, b) => b[1] - a[1]);
}

function spentElement(model: Model): Child {
  const parts = tokensByPart(model).slice(0, MOST_PARTS);
  const rows = parts.map(([part, tokens]) => {
    const bar = h('i');
    bar.style.width = `${(100 * tokens) / (parts[0]?.[1] ?? 1)}%`;
    return h('tr', {}, h('td', {}, part), h('td', 'bar', bar), h('td', 'num', formatNumber(tokens)));
  });
  const head = h('tr', {}, h('th', {}, t('what')), h('th'), h('th', 'num', t('tokens')));
  return rows.length
    ? h(
        'section', { class: 'tc-spent', label: t('Where the tokens went') }, h('h4', {}, t('Where the tokens went')),
        h('table', {}, h('thead', {}, head), h('tbody', {}, ...rows))
      )
    : null;
}

/** Whether the card stands in the place of a call. */
export const isPausedForBudget = ({ model, live, isPast, followsNewest }: ViewState): boolean =>
  model.session.budget !== null && live && !isPast && followsNewest;

export class BudgetCard {
  readonly element = h('section', { class: 'tc-budget', label: t('Budget'), hidden: true });
  private _view!: ViewState;
  private _isOpen = false;
  private readonly _tokens = h('input', {
    class: 'tc-in', type: 'number', min: 0, step: 1000, label: t('More tokens'), oninput: () => this._drawButtons()
  });
  private readonly _cost = h('input', {
    class: 'tc-in', type: 'number', min: 0, step: 0.05, label: t('More dollars'), oninput: () => this._drawButtons()
  });
  private readonly _buttons = h('div', 'tc-row');
  private readonly _draw = whenChanged(() => {
    const { budget } = this._view.model.session;
    this.element.hidden = !isPausedForBudget(this._view);
    if (!budget || this.element.hidden) return;
    if (!this._isOpen) [this._tokens.value, this._cost.value] = [String(budget.more_tokens), budget.more_cost.toFixed(2)];
    const name = budget.tokens ? t('Tokens used') : t('Dollars used');
    const [most, now] = budget.tokens ? [budget.tokens, budget.used] : [budget.cost, budget.used_cost];
    const bar = h('i');
    bar.style.width = `${Math.min(100, Math.round((100 * now) / (most || 1)))}%`;
    const form = h(
      'div', { class: 'tc-row', role: 'group', label: t('Change the budget') }, t('Go on with'), budget.tokens ? this._tokens : null,
      budget.tokens ? t('tokens more') : null, budget.cost ? this._cost : null, budget.cost ? t('dollars more') : null
    );
    setChildren(this.element, [
      h('h3', {}, t('This run has used %1', usedText(budget))),
      h(
        'div',
        {
          class: 'tc-meter', role: 'meter', label: name, 'aria-valuemin': '0', 'aria-valuemax': String(most), 'aria-valuenow': String(now)
        },
        bar
      ),
      h('p', {}, oneLine(budget.why, 300)),
      this._isOpen ? form : null,
      h(
        'p', 'small', t('Nothing is lost. All calls and their results are kept, and you can go on later.'), ' ',
        mutedText(oneLine(budget.note, 200))
      ),
      this._buttons,
      spentElement(this._view.model)
    ]);
    this._drawButtons();
  });

  constructor(private readonly _acts: PanelActions) {}

  paint(next: ViewState): void {
    this._view = next;
    this._draw(next.model.session, next.live, next.isPast, next.followsNewest, next.ui.commandSent);
  }

  private _open(open: boolean): void {
    this._isOpen = open;
    this._draw({});
    if (open) focusInPlace(this._tokens.isConnected ? this._tokens : this._cost);
  }

  private _goOn(tokens: number, cost: number): void {
    this._isOpen = false;
    this._acts.send({ type: 'add_budget', tokens, cost });
  }

  private _drawButtons(): void {
    const { model: { session: { budget } }, ui: { commandSent: disabled } } = this._view;
    const [tokens, cost] = [budget?.tokens ? Math.round(Number(this._tokens.value)) : 0, budget?.cost ? Number(this._cost.value) : 0];
    setChildren(this._buttons, [
      button(t('Go on with %1 more', tokens ? formatNumber(tokens) : dollars(cost)), {
        look: 'primary', key: 'more', disabled: disabled || !(tokens > 0 || cost > 0), onclick: () => this._goOn(tokens, cost)
      }),
      this._isOpen
        ? button(t('Cancel'), { key: 'cancel', onclick: () => this._open(false) })
        : button(t('Change…'), { key: 'change', onclick: () => this._open(true) }),
      this._isOpen ? null : button(t('Stop here'), { key: 'stop', disabled, onclick: () => this._acts.send({ type: 'stop' }) })
    ]);
  }
}
