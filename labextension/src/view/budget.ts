/** The card of a session that is paused for its budget: what was used, why it pauses, and how it goes on. */
import type { BudgetRow } from '../generated/contract';
import { focusInPlace, h, mutedText, setChildren, whenChanged } from './dom';
import { button } from './icons';
import { formatNumber, oneLine, t } from './text';
import type { PanelActions, ViewState } from './view_state';

const dollars = (amount: number): string => `$${amount.toFixed(2)}`;

function usedText({ used, tokens, used_cost, cost }: BudgetRow): string {
  const money = cost ? t('%1 of %2', dollars(used_cost), dollars(cost)) : used_cost ? dollars(used_cost) : '';
  const counted = tokens ? t('%1 of %2 tokens', used, tokens) : t('%1 tokens', used);
  return money ? t('%1, about %2', counted, money) : counted;
}

/** Whether the card stands in the place of a call. */
export const isPausedForBudget = ({ model, live, isPast, followsNewest }: ViewState): boolean => model.session.budget !== null && live && !isPast && followsNewest;

export class BudgetCard {
  readonly element = h('section', { class: 'tc-budget', label: t('Budget'), hidden: true });
  private _view!: ViewState;
  private _isOpen = false;
  private readonly _tokens = h('input', { class: 'tc-in', type: 'number', min: 0, step: 1000, label: t('More tokens'), oninput: () => this._drawButtons() });
  private readonly _cost = h('input', { class: 'tc-in', type: 'number', min: 0, step: 0.05, label: t('More dollars'), oninput: () => this._drawButtons() });
  private readonly _buttons = h('div', 'tc-row');
  private readonly _draw = whenChanged(() => {
    const { budget } = this._view.model.session;
    this.element.hidden = !isPausedForBudget(this._view);
    if (!budget || this.element.hidden) return;
    if (!this._isOpen) [this._tokens.value, this._cost.value] = [String(budget.tokens), budget.cost.toFixed(2)];
    const share = budget.tokens ? budget.used / budget.tokens : budget.cost ? budget.used_cost / budget.cost : 0;
    const bar = h('i');
    bar.style.width = `${Math.min(100, Math.round(100 * share))}%`;
    const name = budget.tokens ? t('Tokens used') : t('Dollars used');
    const [most, now] = budget.tokens ? [budget.tokens, budget.used] : [budget.cost, budget.used_cost];
    const form = h('div', { class: 'tc-row', role: 'group', label: t('Change the budget') }, t('Go on with'), budget.tokens ? this._tokens : null, budget.tokens ? t('tokens more') : null, budget.cost ? this._cost : null, budget.cost ? t('dollars more') : null);
    setChildren(this.element, [
      h('h3', {}, t('This run has used %1', usedText(budget))),
      h('div', { class: 'tc-meter', role: 'meter', label: name, 'aria-valuemin': '0', 'aria-valuemax': String(most), 'aria-valuenow': String(now) }, bar),
      h('p', {}, oneLine(budget.why, 300)),
      this._isOpen ? form : null,
      h('p', 'small', t('Nothing is lost. All calls and their results are kept, and you can go on later.'), ' ', mutedText(oneLine(budget.note, 200))),
      this._buttons
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
    const { budget } = this._view.model.session;
    const [tokens, cost] = [budget?.tokens ? Math.round(Number(this._tokens.value)) : 0, budget?.cost ? Number(this._cost.value) : 0];
    const more = tokens ? formatNumber(tokens) : dollars(cost);
    const disabled = this._view.ui.commandSent;
    setChildren(this._buttons, [
      button(t('Go on with %1 more', more), { look: 'primary', key: 'more', disabled: disabled || !(tokens > 0 || cost > 0), onclick: () => this._goOn(tokens, cost) }),
      this._isOpen ? button(t('Cancel'), { key: 'cancel', onclick: () => this._open(false) }) : button(t('Change…'), { key: 'change', onclick: () => this._open(true) }),
      this._isOpen ? null : button(t('Stop here'), { key: 'stop', disabled, onclick: () => this._acts.send({ type: 'stop' }) })
    ]);
  }
}
