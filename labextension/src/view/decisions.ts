/** Decisions on the chosen call: the buttons under the card, and the forms `Reject` and `Answer`. */
import type { CallRow, ShownCall } from '../generated/contract';
import { type Child, closeOnEscape, focusInPlace, h, hasFocus, mutedText, prose, whenChanged } from './dom';
import { isPausedForBudget } from './budget';
import { previewOf } from './change';
import { writeContext } from './dialogs';
import { parsedJson } from './exact';
import { complain, FieldRow, filledArguments, labelledField, offering } from './fields';
import { button, type ButtonProps, icon, note } from './icons';
import { namesObject } from './labels';
import { RuleSheet } from './rule_sheet';
import { candidates, fieldsOf } from './schema';
import { literalText, oneLine, t, textBlock, tn } from './text';
import { choiceOf, needsDecision, type PanelActions, shownCall, type ViewState } from './view_state';

export const isDecision = (call: CallRow): boolean => needsDecision(call) && call.branch === '';

/** Commands whose refusal is shown in their own form. */
const SHOWN_AT_FORM: readonly string[] = ['edit', 'draft', 'guess', 'name_branch', 'compare'];

const TEXT = 'str';

/** Parses JSON; returns any other text as it is, and all text for a tool that returns a text. */
function parsedResult(text: string, returns: string): unknown {
  if (returns === TEXT) return text;
  try {
    return parsedJson(text);
  } catch {
    return text;
  }
}

interface Form {
  readonly element: HTMLFormElement;
  readonly first?: HTMLElement;
  /** Shows what is wrong at its field; returns whether there is such a field. */
  refuse(errors: Readonly<Record<string, string>>): boolean;
}

/** The form that rejects or answers a call; an answer may name one of these objects. */
function shortForm(kind: 'reject' | 'answer', call: CallRow, returns: string, objects: readonly string[], acts: PanelActions): Form {
  const error = h('p', { class: 'tc-wrong', role: 'alert' });
  let isEmptyMeant = false;
  const reason = h('input', { class: 'tc-in', type: 'text', label: t('Reason'), key: 'reason' });
  const common = { class: 'tc-in mono', label: t('Result'), key: 'result' };
  const result = objects.length ? h('input', { ...common, type: 'text' }) : h('textarea', { ...common, rows: 2 });
  const close = (): void => acts.setState({ form: null });
  function submit(): void {
    const decided = { ...shownCall(call), reason: reason.value };
    if (kind === 'reject') return acts.send({ type: 'reject', ...decided });
    if (result.value === '' && !isEmptyMeant && (returns === TEXT || returns === '')) {
      isEmptyMeant = true;
      error.textContent = t('The result is empty. Choose Answer again to send an empty text.');
      return result.focus();
    }
    acts.send({ type: 'answer', result: parsedResult(result.value, returns), ...decided });
  }
  const optional = t('optional, sent to the model');
  const [example = ''] = objects;
  const other = returns ? t('%1: JSON, text, or the name of an object', returns) : t('JSON, text, or the name of an object');
  const expected = returns === TEXT ? t('a text') : example ? t('the name of an object, such as %1', example) : other;
  const offers = result instanceof HTMLInputElement ? offering(result) : null;
  offers?.offer(objects);
  const input = offers?.element ?? result;
  const fields = kind === 'answer' ? [labelledField(t('Result'), expected, input), error] : [];
  const text = kind === 'answer' ? t('Answer') : t('Reject');
  const confirm = button(text, { type: 'submit', look: 'primary', key: 'confirm' });
  const row = h('div', 'tc-row', confirm, button(t('Cancel'), { onclick: close }));
  const element = h('form', { class: 'tc-form', onsubmit: submit }, ...fields, labelledField(t('Reason'), optional, reason), row);
  closeOnEscape(element, close);
  function refuse(errors: Readonly<Record<string, string>>): boolean {
    error.textContent = oneLine(errors.result ?? '', 200);
    return errors.result !== undefined;
  }
  return { element, first: kind === 'answer' ? result : reason, refuse };
}

/** A link that shows the host of the page in bold. */
function pageLink(url: string, host: string): Child {
  const at = url.indexOf(host);
  if (!/^https?:/.test(url)) return null;
  return h('a', { href: url, target: '_blank', rel: 'noopener' }, url.slice(0, at), h('b', {}, host), url.slice(at + host.length));
}

/** The form of a call whose tool asks for input. */
function inputForm(view: ViewState, call: CallRow, acts: PanelActions): Form {
  const parts = call.questions.map(question => ({
    ...question,
    rows: fieldsOf(question.form, question.values).map(field => new FieldRow(field, writeContext(view), () => undefined))
  }));
  const refuse = (errors: Readonly<Record<string, string>>): boolean => complain(parts.flatMap(part => part.rows), errors);
  const shown = shownCall(call);
  function submit(): void {
    const filled = parts.map(part => filledArguments(part.rows));
    if (refuse(Object.assign({}, ...filled.map(part => part.errors)))) return;
    acts.send({ type: 'answer', result: Object.fromEntries(parts.map(({ key }, index) => [key, filled[index]?.arguments])), ...shown });
  }
  const reject = button(t('Reject'), {
    tip: t('Declines. The tool continues without your input.'), onclick: () => acts.send({ type: 'reject', ...shown })
  });
  const element = h(
    'form', { class: 'tc-form', onsubmit: submit, novalidate: true },
    h(
      'div', 'tc-asked',
      ...parts.flatMap(part => [h('p', {}, textBlock(part.message, 2000)), pageLink(part.url, part.host), ...part.rows.map(row => row.element)])
    ),
    note(t('What you enter goes to the tool and its server. Never enter passwords or keys.')),
    h('div', 'tc-row', button(t('Answer'), { type: 'submit', look: 'primary', key: 'confirm' }), reject)
  );
  return { element, refuse };
}

/** The waiting calls with their approval digests. */
function approvable(view: ViewState): ShownCall[] {
  const waiting = view.model.session.pending.flatMap(id => view.model.calls.get(id) ?? []);
  return waiting
    .filter(call => isDecision(call) && call.approval_digest !== '' && !call.questions.length && !view.model.tools.get(call.tool)?.for_person)
    .map(shownCall);
}

/** No decision on a call can be sent now: one was, or calls before it run, whose results it may take. */
const isLocked = ({ model, ui }: ViewState, call: CallRow): boolean => ui.commandSent || !model.session.pending.includes(call.id);

/** The keys of the buttons, which act and are drawn while the panel has the focus; with Ctrl Alt they work everywhere in JupyterLab. */
const KEYS: Readonly<Record<string, string>> = { Approve: 'Y', Edit: 'E', Reject: 'R', Answer: 'A' };

type Act = (text: string, onclick: ButtonProps['onclick'], look?: string, title?: string) => HTMLElement;

const actOn = (view: ViewState, call: CallRow): Act => (text, onclick, look = '', title = '') => {
  const element = button(t(text), { look, onclick, disabled: isLocked(view, call), key: text, tip: title && t(title) });
  const key = KEYS[text];
  if (key) {
    // The key is drawn by CSS, and no part of the name.
    element.dataset.key = key;
    element.setAttribute('aria-keyshortcuts', key);
    element.setAttribute('aria-label', t(text));
  }
  return element;
};

/** The buttons for a call that may have run already. */
function recordedCallButtons(call: CallRow, acts: PanelActions, act: Act, open: (kind: 'reject' | 'answer') => () => void): Child[] {
  const shown = shownCall(call);
  const keep = (rest: boolean) => (): void => acts.send({ type: 'keep_result', ...shown, rest });
  const kept = call.recorded
    ? [
        act('Keep the recorded result', keep(false), 'primary', 'Continues with the recorded result. The tool does not run.'),
        act('Keep all recorded results', keep(true), '', 'Also keeps the recorded results of all later calls. No tool runs.')
      ]
    : [];
  return [
    ...kept,
    act('Run again', () => acts.send({ type: 'approve', ...shown }), '', 'Runs the tool again. Its effect may happen twice.'),
    act('Answer', open('answer'), '', 'You give the result. The tool does not run.'),
    act('Reject', open('reject'), '', 'The model gets your reason. The tool does not run.'),
    act('Begin a new session', () => acts.send({ type: 'begin_new' }), '', 'Sends the prompt to the model again, on a new branch.')
  ];
}

/** `Approve`, and the button that opens the sheet of rules. */
function approveButtons(view: ViewState, call: CallRow, acts: PanelActions, approve: HTMLElement): HTMLElement {
  const isOpen = view.ui.form?.kind === 'rule' && view.ui.form.call === call.id;
  const isOff = call.origins.some(origin => origin.trust === 'untrusted');
  const toggle = (): void => {
    if (!isOff) acts.setState({ chosen: choiceOf(call), form: isOpen ? null : { kind: 'rule', call: call.id } });
  };
  const more = button('', {
    icon: 'down', label: t("Approve, and don't ask again when…"), look: isOff ? 'off' : 'primary', key: 'rule',
    disabled: isLocked(view, call), onclick: toggle
  });
  more.setAttribute('aria-haspopup', 'dialog');
  more.setAttribute('aria-expanded', String(isOpen));
  if (isOff) {
    more.setAttribute('aria-disabled', 'true');
    more.title = t('A rule cannot decide about values that others wrote.');
  }
  return h('span', { class: isOpen ? 'tc-split open' : 'tc-split', role: 'group', label: t('Approve') }, approve, more);
}

/** Goes on with as many calls as the budget had that is used up. */
const budgetButton = ({ budget_calls: calls }: CallRow, disabled: boolean, acts: PanelActions): Child => calls > 0 && button(
  tn('Go on with %1 more call', 'Go on with %1 more calls', calls),
  { key: 'calls', disabled, tip: t('Raises the budget: these calls run without waiting.'), onclick: () => acts.send({ type: 'add_budget', calls }) }
);

function decisionButtons(view: ViewState, call: CallRow, acts: PanelActions): Child[] {
  const locked = isLocked(view, call);
  const act = actOn(view, call);
  const open = (kind: 'reject' | 'answer') => (): void =>
    acts.setState({ chosen: choiceOf(call), form: { kind, call: call.id } });
  if (view.model.tools.get(call.tool)?.for_person)
    return [act('Answer', open('answer'), 'primary'), act('Reject', open('reject'))];
  if (call.may_have_run) return recordedCallButtons(call, acts, act, open);
  const again = call.status === 'unknown';
  const calls = approvable(view);
  const all = button(t('Approve all'), {
    look: 'ghost right',
    disabled: locked || calls.length < 2,
    key: 'all',
    tip: calls.length < 2 ? t('No other call waits') : t('Runs the %1 waiting calls with the arguments shown', calls.length),
    onclick: () => acts.send({ type: 'approve_all', calls })
  });
  const approve = act(
    again ? 'Run again' : 'Approve', () => acts.send({ type: 'approve', ...shownCall(call) }), 'primary',
    again ? '' : 'Applies to exactly these arguments'
  );
  return [
    again ? approve : approveButtons(view, call, acts, approve),
    call.following
      ? button(t('Approve, and %1 after it', call.following), {
          key: 'following', disabled: locked,
          title: t(
            'Approves this call, and those after it that were approved with the same arguments. Calls that reach others, or may delete data, still wait.'
          ),
          onclick: () => acts.send({ type: 'approve_after_edit', ...shownCall(call) })
        })
      : null,
    budgetButton(call, locked, acts),
    act('Edit', () => acts.openEditDialog(call)),
    act('Reject', open('reject')),
    act('Answer', open('answer')),
    again ? null : all
  ];
}

/** The button that asks the model again for the reply of a turn; 0 for none. */
export function askAgainButton(view: ViewState, turn: number, acts: PanelActions): Child {
  if (!turn || view.isPast || !view.live) return null;
  return button(t('Ask the model from here'), {
    tip: t('Asks the model again, on a new branch.'), disabled: view.ui.commandSent, key: 'ask',
    onclick: () => acts.send({ type: 'ask', turn })
  });
}

const editButton = (rule: string, acts: PanelActions, look = ''): HTMLElement =>
  button(t('Edit rule'), { look, key: 'edit rule', onclick: () => acts.setState({ showsRules: true, editedRule: rule }) });

/** The line after a rule was added. */
function addedRule({ model, ui, live }: ViewState, acts: PanelActions): Child {
  const rules = model.session.rules.filter(({ scope }) => scope);
  const rule = rules.at(-1);
  if (!ui.ruleAdded || ui.commandSent || !live || !rule) return null;
  const remove = (): void => acts.send({ type: 'change_rule', number: rules.length, name: rule.name, change: 'remove' });
  return h(
    'div', { class: 'tc-else', role: 'status' }, icon('rule'), h('span', {}, t("Rule '%1' added.", oneLine(rule.name, 80))),
    editButton(rule.name, acts, 'small right'), button(t('Remove'), { look: 'small', key: 'remove rule', onclick: remove })
  );
}

/** At a call that was repaired, and at the `save` after it: that nothing uses its object, and the button that saves that in place of an older one. */
function repairParts({ model, ui }: ViewState, call: CallRow, acts: PanelActions): Child[] {
  const { repair } = model.session;
  if (!repair || (call.id !== repair.call && call.id !== repair.save)) return [];
  const { object, output, is_unused: isUnused } = repair;
  const save = model.calls.get(repair.save);
  return [
    isUnused && mutedText(t('Nothing uses %1 yet.', oneLine(object, 60))),
    save && button(t('Save %1 as %2', oneLine(object, 60), oneLine(output, 60)), {
      key: 'save repaired', disabled: ui.commandSent, tip: t('Edits call %1, on a new branch.', save.step),
      onclick: () => acts.send({ type: 'edit', ...shownCall(save), arguments: { [output]: object } })
    })
  ];
}

function afterButtons(view: ViewState, call: CallRow, acts: PanelActions): Child[] {
  const disabled = view.ui.commandSent;
  // A replay that pauses repeats the decision on its last call next.
  if (call.id === view.model.session.next_call || call.status === 'running' || call.status === 'approved') return [];
  const { undo, repair, holds_kernel: isHeld } = view.model.session;
  const canUndo = undo?.call === call.id && view.live && !view.isPast;
  const tool = view.model.tools.get(call.tool);
  // Wrong arguments fail again, whatever the tool's code is.
  const isWrong = Object.keys(call.wrong).length > 0;
  const canRetry = call.status === 'failed' && call.branch === '' && !view.isPast && tool && !call.scheme && !call.saves && !isWrong;
  // What failed for another reason than the tool's code may pass as it is.
  const isPlain = !tool?.can_change || view.model.refusal?.command === 'retry';
  const retry = (): void => acts.send({ type: 'retry', ...shownCall(call), unchanged: isPlain });
  // No edit of its arguments helps a call whose tool does not exist.
  const isUnknown = call.suggested_tool !== null;
  const edited = isUnknown ? { ...call, tool: call.suggested_tool } : call;
  const edit = call.branch === '' && edited.tool !== '' && button(isUnknown ? t('Use %1', oneLine(edited.tool, 80)) : t('Edit'), {
    key: 'edit', disabled, onclick: () => acts.openEditDialog(edited)
  });
  // After a repair the model goes on from what came of it.
  const turn = (repair?.call === call.id && repair.ask_turn) || (call.stale || isUnknown ? call.turn : 0);
  return [
    (isWrong || isUnknown) && edit,
    ...(view.isPast || call.branch !== '' ? [] : repairParts(view, call, acts)),
    ...(canRetry
      ? [
          button(isPlain ? t('Run again') : t('Fix and retry'), { key: 'retry', disabled: disabled || isHeld, onclick: retry }),
          mutedText(
            isHeld ? t('Stop the run first: the kernel waits for you, and runs no other cell.')
            : isPlain || call.outdated ? t('Runs the same call again, on a new branch.')
            : t('Change the tool and run its cell; then this runs the call again, on a new branch.')
          )
        ]
      : []),
    button(t('Replay from here'), {
      tip: t('Repeats what follows. Where the input is the same, the cached result is taken, and the tool does not run.'), disabled,
      onclick: () => acts.send({ type: 'replay', call: call.call })
    }),
    button(t('Fork from here'), {
      tip: t('Continues differently after this call, on a new branch.'), disabled,
      onclick: () => acts.send({ type: 'fork', call: call.call })
    }),
    !isWrong && !isUnknown && edit,
    call.branch === '' ? askAgainButton(view, turn, acts) : null,
    canUndo && button(t('Undo'), { icon: 'memory', disabled, tip: undo.says, onclick: () => acts.send({ type: 'undo', call: call.call }) }),
    canUndo && mutedText(oneLine(undo.says, 400)),
    view.live && view.model.session.rules.some(({ scope, name }) => scope && name === call.by_rule) ? editButton(call.by_rule, acts) : null
  ];
}

/** A link to the waiting call while the person looks at something else. */
function waitingElsewhere(view: ViewState, acts: PanelActions): Child {
  const { waitingCall: waiting, personTurn: yours, toGuess: guess } = view;
  const shown = view.model.calls.get(view.chosen.call);
  // It is on the card itself, or listed there as another call of the same reply.
  const isListed = waiting?.turn === shown?.turn && shown !== undefined && isDecision(shown);
  if (waiting ? isListed : !(yours || guess) || view.followsNewest) return null;
  const show = button(t('Show'), { look: 'ghost right', onclick: () => acts.setState({ chosen: null, form: null }) });
  const says = waiting
    ? [h('code', {}, oneLine(waiting.tool, 80)), ' ', t('waits for you')]
    : [guess ? t('Guess the next call') : t('It is your turn to reply as the model')];
  return h('div', 'tc-else', icon('wait'), h('span', {}, ...says), show);
}

/** The row of buttons, or the open form. */
export class DecisionPanel {
  readonly element = h('div', 'tc-acts');
  /** The sheet of rules below the buttons; empty where it is closed. */
  readonly sheet = h('div', 'tc-sheetplace');
  private _sheet: RuleSheet | null = null;
  /** The buttons of similar calls, which take the place of those of one. */
  batchButtons: () => readonly Child[] = () => [];
  batchChanges: () => number = () => 0;
  private _view!: ViewState;
  private _form: (Form & { readonly key: string }) | null = null;
  private _refusal: unknown = null;
  private _isShownAtField = false;
  private readonly _draw = whenChanged(() => {
    const before = this._form?.key;
    const refused = this._view.model.refusal;
    const children = [
      refused && !SHOWN_AT_FORM.includes(refused.command) && !this._showsAtField()
        ? h('p', { class: 'tc-error', role: 'alert' }, icon('failed'), textBlock(refused.reason, 400))
        : null,
      ...this._content(),
      addedRule(this._view, this._acts),
      waitingElsewhere(this._view, this._acts)
    ];
    const kept = this._form && this.element.contains(this._form.element) && children.includes(this._form.element);
    if (!kept) this.element.replaceChildren();
    else for (const child of [...this.element.children]) if (child !== this._form?.element) child.remove();
    for (const child of children) if (child && child !== (kept ? this._form?.element : null)) this.element.append(child);
    if (this._form && this._form.key !== before) queueMicrotask(() => focusInPlace(this._form?.first));
  });

  constructor(private readonly _acts: PanelActions) {}

  paint(next: ViewState): void {
    this._view = next;
    const call = next.model.calls.get(next.chosen.call);
    this._draw(
      call, next.ui.commandSent, next.ui.form, next.isPast, next.live, next.waitingCall, next.model.refusal, next.model.calls,
      next.model.session.pending, next.calls.length, next.personTurn !== null, next.toGuess !== null, next.followsNewest,
      next.model.session, next.model.previewed, next.ui.ruleAdded, next.isRunByRules, this.batchButtons().length, this.batchChanges()
    );
    this._placeSheet();
  }

  /** Opens the sheet of a call, or closes it; the focus goes back to its button. */
  private _placeSheet(): void {
    const { form } = this._view.ui;
    const call = this._view.model.calls.get(this._view.chosen.call);
    const opens = call && form?.kind === 'rule' && form.call === call.id && isDecision(call) && this._view.live && !this._view.isPast;
    if (!opens) {
      const had = hasFocus(this.sheet);
      this._sheet = null;
      this.sheet.replaceChildren();
      if (had) focusInPlace(this.element.querySelector<HTMLElement>('[data-k=rule]'));
      return;
    }
    if (this._sheet?.call.approval_digest !== call.approval_digest || this._sheet.call.id !== call.id) {
      this._sheet = new RuleSheet(call, this._acts);
      this.sheet.replaceChildren(this._sheet.element);
    }
    this._sheet.paint(this._view);
  }

  private _openForm(call: CallRow, kind: 'reject' | 'answer' | 'input'): HTMLElement {
    const key = `${kind} ${call.id} ${call.approval_digest}`;
    const returns = this._view.model.tools.get(call.tool)?.returns ?? '';
    const objects = candidates(({ kind: type }) => type === returns.split('.').at(-1), this._view.objects, call.step).map(object => object.name);
    if (this._form?.key !== key) this._form = {
      key, ...(kind === 'input' ? inputForm(this._view, call, this._acts) : shortForm(kind, call, returns, objects, this._acts))
    };
    const confirm = this._form.element.querySelector<HTMLButtonElement>('[type=submit]');
    // A disabled button loses the focus, and the next card would not get it.
    if (this._view.ui.commandSent && confirm?.matches(':focus')) focusInPlace(this._form.first);
    if (confirm) confirm.disabled = this._view.ui.commandSent;
    return this._form.element;
  }

  /** Shows at the form's field what is wrong with it; returns whether something is. */
  private _showsAtField(): boolean {
    const { refusal } = this._view.model;
    if (refusal !== this._refusal) this._isShownAtField = !!refusal && !!this._form?.refuse(refusal.fields);
    this._refusal = refusal;
    return this._isShownAtField;
  }

  private _content(): Child[] {
    const call = this._view.model.calls.get(this._view.chosen.call);
    if (!call || isPausedForBudget(this._view) || this._view.isRunByRules) return [];
    const open = isDecision(call);
    if (!this._view.live) return [];
    if (this._view.isPast)
      return [
        h('div', 'tc-row', ...afterButtons(this._view, call, this._acts)),
        this._view.model.session.pending.length ? note(t('To decide, choose Back to now.')) : null
      ];
    const opened = this._view.ui.form;
    if (open && call.questions.length) return [this._openForm(call, 'input')];
    if (open && opened?.call === call.id && opened.kind !== 'rule') return [this._openForm(call, opened.kind)];
    this._form = null;
    const together = this.batchButtons();
    const budget = budgetButton(call, this._view.ui.commandSent, this._acts);
    if (together.length) return [h('div', 'tc-row tc-act', ...together.slice(0, -1), budget, ...together.slice(-1))];
    const preview = open ? previewOf(this._view, call) : null;
    return [
      open && (call.downstream || preview)
        ? h(
            'p', 'tc-effect', ...prose(oneLine(call.downstream)), preview && ' ',
            preview && h('b', {}, oneLine(preview.error || t('Preview: %1.', preview.says), 400))
          )
        : null,
      h('div', 'tc-row tc-act', ...(open ? decisionButtons(this._view, call, this._acts) : afterButtons(this._view, call, this._acts))),
      open ? otherCallsOfTurn(this._view, call, this._acts) : null
    ];
  }
}

const MOST_SHOWN = 40;

/** The other waiting calls of the turn, in execution order. */
const otherWaitingCalls = (view: ViewState, call: CallRow): CallRow[] =>
  view.calls.filter(one => one !== call && one.turn === call.turn && needsDecision(one));

function argumentsText(call: CallRow): string {
  const parts = Object.entries(call.arguments).map(
    ([name, value]) => `${oneLine(name, 40)}=${namesObject(call, name, value) ? oneLine(value, 60) : literalText(value, 60)}`
  );
  return parts.join(', ');
}

function otherCall(call: CallRow, view: ViewState, acts: PanelActions): HTMLElement {
  const choose = (): void => acts.setState({ chosen: choiceOf(call), form: null });
  const tool = oneLine(call.tool, 80);
  const edit = button(t('Edit'), {
    look: 'ghost small', disabled: isLocked(view, call), key: `edit ${call.id}`, label: t('Edit call %1, %2', call.step, tool), icon: 'edited',
    onclick: () => acts.openEditDialog(call)
  });
  return h(
    'li', {}, icon('wait'), h('button', { class: 'tc-link mono', key: `beside ${call.id}`, onclick: choose }, `${call.step} ${tool}`),
    h('span', 'what', oneLine(argumentsText(call), 200)), edit
  );
}

/** The list of the other waiting calls; null if there are none. */
function otherCallsOfTurn(view: ViewState, call: CallRow, acts: PanelActions): Child {
  const others = otherWaitingCalls(view, call);
  if (others.length === 0) return null;
  const more = others.length - MOST_SHOWN;
  return h(
    'div', 'tc-turn', h('h4', {}, t('Also in turn %1', call.turn)),
    h('ul', { label: t('Also in this turn') }, ...others.slice(0, MOST_SHOWN).map(one => otherCall(one, view, acts))),
    more > 0 ? h('p', 'muted small', t('and %1 more, listed in Steps', more)) : null
  );
}
