/** The region `Rules`: the rules that the person added, in the order in which they decide. */
import type { Commands, RuleRow } from '../generated/contract';
import { afterLayout, type Child, h, mutedText, prose, redraw, setChildren, whenChanged } from './dom';
import { button, icon, type IconName } from './icons';
import { oneLine, t, tn } from './text';
import type { PanelActions, ViewState } from './view_state';

const SIGNS: Readonly<Record<RuleRow['decision'], IconName>> = { run: 'rule', ask: 'wait', refuse: 'reject' };

const stateOf = (rule: RuleRow): string => (rule.ended ? t('ended') : rule.paused ? t('paused') : '');

function ruleItem(rule: RuleRow, index: number, isLast: boolean, isOff: boolean, acts: PanelActions): HTMLElement {
  const change = (text: string, what: Commands['change_rule']['change'], by: { icon?: IconName; disabled?: boolean } = {}): HTMLElement =>
    button(text, {
      look: by.icon ? 'ghost small icon' : 'small',
      ...(by.icon ? { icon: by.icon, label: text } : {}),
      title: `${text}: ${rule.name}`,
      key: `${what} ${rule.name}`,
      disabled: isOff || (by.disabled ?? false),
      onclick: () => acts.send({ type: 'change_rule', number: index + 1, name: rule.name, change: what })
    });
  const count = rule.decision === 'refuse' ? tn('Rejected %1 call.', 'Rejected %1 calls.', rule.ran) : tn('Ran %1 call.', 'Ran %1 calls.', rule.ran);
  const state = stateOf(rule);
  return h(
    'li',
    state ? 'tc-rule off' : 'tc-rule',
    h('span', 'muted small', String(index + 1)),
    icon(rule.ended ? 'close' : rule.paused ? 'pause' : SIGNS[rule.decision]),
    h(
      'div',
      {},
      h('div', 'tc-row', h('b', {}, oneLine(rule.name, 80)), state ? h('span', 'right small strong', state) : null),
      h('p', {}, ...prose(oneLine(rule.says, 400))),
      h('p', 'small', h('b', {}, count), ' ', mutedText(oneLine(rule.holds, 120))),
      h('p', 'small muted', oneLine(rule.ended || rule.made, 200)),
      h('div', 'tc-row', rule.ended ? change(t('Use it again'), 'renew') : change(rule.paused ? t('Resume') : t('Pause'), rule.paused ? 'resume' : 'pause'), change(t('Remove'), 'remove'), h('span', 'right'), change(t('Move up'), 'up', { icon: 'up', disabled: index === 0 }), change(t('Move down'), 'down', { icon: 'down', disabled: isLast }))
    )
  );
}

/** What rules decided so far, below the data of a call that waits: a line for each rule. */
export function decidedByRules({ calls, live }: ViewState, acts: PanelActions): Child {
  const names = live ? new Set(calls.flatMap(call => call.by_rule || [])) : [];
  const lines = [...names].map(name => {
    const ran = calls.filter(call => call.by_rule === name);
    const isRejected = ran[0]?.status === 'rejected';
    const says = isRejected ? t('%1 did not run', ran.length) : tn('%1 call ran', '%1 calls ran', ran.length);
    return h('li', 'tc-row', icon(isRejected ? 'reject' : 'rule'), h('span', {}, says, ' ', mutedText(t("by rule '%1'", oneLine(name, 80)))), button(t('Show'), { look: 'small right', title: t("Show the steps of rule '%1'", oneLine(name, 80)), onclick: () => acts.setState({ tab: 'Steps' }) }));
  });
  return lines.length ? h('section', { class: 'tc-meanwhile', label: t('Meanwhile') }, h('h4', {}, t('Meanwhile')), h('ul', {}, ...lines)) : null;
}

export class RuleList {
  private readonly _title = h('h3');
  private readonly _list = h('ol', { label: t('Rules') });
  readonly element = h(
    'section',
    { class: 'tc-rules', label: t('Rules'), hidden: true },
    h('header', 'tc-row', this._title, mutedText(t('The first rule that fits decides.')), button('', { icon: 'close', label: t('Close the rules'), look: 'ghost icon right', onclick: () => this._acts.setState({ showsRules: false }) })),
    this._list,
    h('p', 'tc-row muted', icon('person'), t('No rule fits: the session decides as before, and asks you.'))
  );
  private readonly _draw = whenChanged((rules: readonly RuleRow[], isShown: boolean, isOff: boolean) => {
    const opens = this.element.hidden && isShown;
    this.element.hidden = !isShown;
    if (opens) afterLayout(() => this.element.scrollIntoView({ block: 'nearest' }));
    this._title.textContent = t('Rules (%1)', rules.length);
    redraw(this._list, () => setChildren(this._list, rules.map((rule, index) => ruleItem(rule, index, index === rules.length - 1, isOff, this._acts))));
  });

  constructor(private readonly _acts: PanelActions) {}

  paint({ model, ui, live }: ViewState): void {
    this._draw(model.session.rules, ui.showsRules, ui.commandSent || !live);
  }
}
