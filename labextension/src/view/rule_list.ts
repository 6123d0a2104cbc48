/** The region `Rules`: the rules in the order in which they decide, those that the person added first. */
import type { Commands, RuleRow } from '../generated/contract';
import { partElement } from './change';
import { afterLayout, type Child, focusInPlace, h, mutedText, prose, redraw, setChildren, whenChanged } from './dom';
import { button, icon, type IconName } from './icons';
import { RuleForm, SCOPES } from './rule_sheet';
import { oneLine, t, textBlock, tn } from './text';
import type { PanelActions, ViewState } from './view_state';

const SIGNS: Readonly<Record<RuleRow['decision'], IconName>> = { run: 'rule', ask: 'wait', refuse: 'reject' };

/** The buttons of a rule of the person; a rule of the cell, a file or a program has none. */
function ruleButtons(rule: RuleRow, index: number, isLast: boolean, isOff: boolean, acts: PanelActions, show: Child): Child {
  const change = (text: string, what: Commands['change_rule']['change'], by: { icon?: IconName; disabled?: boolean } = {}): HTMLElement =>
    button(text, {
      look: by.icon ? 'ghost small icon' : 'small',
      ...(by.icon ? { icon: by.icon, label: text } : {}),
      title: `${text}: ${rule.name}`,
      key: `${what} ${rule.name}`,
      disabled: isOff || (by.disabled ?? false),
      onclick: () => acts.send({ type: 'change_rule', number: index + 1, name: rule.name, change: what })
    });
  // A rule of a run ends with it for good.
  const renewal = rule.until === 'run' ? null : change(t('Use it again'), 'renew');
  const state = rule.ended ? renewal : change(rule.paused ? t('Resume') : t('Pause'), rule.paused ? 'resume' : 'pause');
  const edit = button(t('Edit'), {
    look: 'small', title: `${t('Edit')}: ${rule.name}`, key: `edit ${rule.name}`, disabled: isOff,
    onclick: () => acts.setState({ editedRule: rule.name })
  });
  return h(
    'div', 'tc-row', show, rule.ended ? null : edit, state, change(t('Remove'), 'remove'), h('span', 'right'),
    change(t('Move up'), 'up', { icon: 'up', disabled: index === 0 }), change(t('Move down'), 'down', { icon: 'down', disabled: isLast })
  );
}

function ruleItem(rule: RuleRow, children: readonly Child[], index: number): HTMLElement {
  const state = rule.ended ? t('ended') : rule.paused ? t('paused') : '';
  const holds = rule.scope ? `${t(SCOPES[rule.scope])}, ${oneLine(rule.holds, 120)}.` : t('From the cell, a file or a program: it is changed there.');
  return h(
    'li', state ? 'tc-rule off' : 'tc-rule', h('span', 'muted small', String(index + 1)),
    icon(rule.ended ? 'close' : rule.paused ? 'pause' : SIGNS[rule.decision]),
    h(
      'div', {}, h('div', 'tc-row', h('b', {}, oneLine(rule.name, 80)), state ? h('span', 'right small strong', state) : null),
      h('p', {}, ...prose(textBlock(rule.says, 400))), h('p', 'small', h('b', {}, oneLine(rule.counts, 60)), ' ', mutedText(holds)),
      h('p', 'small muted', oneLine(rule.ended || rule.made, 200)), ...children
    )
  );
}

/** What changed in the code of a rule's tool, where it is shown. */
const changeIn = ({ name, change }: RuleRow, shown: string): Child =>
  (name === shown ? h('div', 'tc-change', ...change.map(part => partElement(part, change.length === 1 && !part.says, []))) : null);

/** What rules decided so far, below the data of a call that waits: a line for each rule. */
export function decidedByRules({ model, live }: ViewState, acts: PanelActions): Child {
  const lines = model.session.rules.flatMap(({ name, ran, decision }) => {
    const says = decision === 'refuse' ? t('%1 did not run', ran) : tn('%1 call ran', '%1 calls ran', ran);
    return ran
      ? [
          h(
            'li', 'tc-row', icon(SIGNS[decision]), h('span', {}, says, ' ', mutedText(t("by rule '%1'", oneLine(name, 80)))),
            button(t('Show'), {
              look: 'small right', title: t("Show the steps of rule '%1'", oneLine(name, 80)),
              onclick: () => acts.setState({ tab: 'Steps' })
            })
          )
        ]
      : [];
  });
  return live && lines.length
    ? h('section', { class: 'tc-meanwhile', label: t('Meanwhile') }, h('h4', {}, t('Meanwhile')), h('ul', {}, ...lines))
    : null;
}

export class RuleList {
  private readonly _title = h('h3');
  private readonly _about = mutedText();
  private readonly _close = button('', {
    icon: 'close', label: t('Close the rules'), look: 'ghost icon right',
    onclick: () => this._acts.setState(this._form ? { editedRule: '' } : { showsRules: false })
  });
  private readonly _list = h('ol', { label: t('Rules') });
  private readonly _otherwise = h('p', 'tc-row muted', icon('person'), t('No rule fits: the session decides as before, and asks you.'));
  readonly element = h(
    'section', { class: 'tc-rules', hidden: true }, h('header', 'tc-row', this._title, this._about, this._close), this._list,
    this._otherwise
  );
  private _form: RuleForm | null = null;
  /** The rule whose change is shown. */
  private _shown = '';
  private _view!: ViewState;
  private readonly _draw = whenChanged((rules: readonly RuleRow[], isShown: boolean, isOff: boolean, edited: string, shown: string) => {
    const opens = (this.element.hidden && isShown) || (edited !== '' && edited !== this._form?.rule.name);
    this.element.hidden = !isShown;
    if (opens) afterLayout(() => this.element.scrollIntoView({ block: 'nearest' }));
    const index = rules.findIndex(rule => rule.scope && rule.name === edited);
    const rule = rules[index];
    const isNew = rule && this._form?.rule.name !== edited;
    if (isNew) this._form = new RuleForm(rule, index + 1, this._view, this._acts);
    else if (!rule) this._form = null;
    this.element.setAttribute('aria-label', this._form ? t('Edit rule') : t('Rules'));
    this._title.textContent = this._form ? t('Edit rule') : t('Rules (%1)', rules.length);
    this._about.textContent = this._form ? '' : t('The first rule that fits decides.');
    this._close.setAttribute('aria-label', this._form ? t('Close without a change') : t('Close the rules'));
    this._list.hidden = this._otherwise.hidden = this._form !== null;
    const count = rules.filter(({ scope }) => scope).length;
    const items = this._form
      ? []
      : rules.map(
          (one, at) => ruleItem(
            one, one.scope ? [changeIn(one, shown), ruleButtons(one, at, at === count - 1, isOff, this._acts, this._toggle(one))] : [], at
          )
        );
    redraw(this.element, () => {
      setChildren(this._list, items);
      if (this._form && !this._form.element.isConnected) this._list.after(this._form.element);
      if (!this._form) this.element.querySelector('form')?.remove();
    });
    if (isNew) focusInPlace(this._form?.element.querySelector('input'));
  });

  constructor(private readonly _acts: PanelActions) {}

  paint(view: ViewState): void {
    this._view = view;
    const { model, ui, live } = view;
    this._draw(model.session.rules, ui.showsRules, ui.commandSent || !live, ui.editedRule, this._shown);
    this._form?.paint(view);
  }

  /** The button that shows what changed in the code of a rule's tool, or hides it. */
  private _toggle({ name, change }: RuleRow): Child {
    const isShown = this._shown === name;
    const toggle = (): void => {
      this._shown = isShown ? '' : name;
      this._acts.setState({});
    };
    return change.length
      ? button(isShown ? t('Hide the change') : t('Show the change'), {
          look: 'small', title: `${isShown ? t('Hide the change') : t('Show the change')}: ${name}`, key: `change ${name}`, onclick: toggle
        })
      : null;
  }
}
