/** Teaching: the card that asks for a guess, the result and score of the guesses, and the exercise. */
import type { GuessRow, Task, ToolRow, Written, YourTurn } from '../generated/contract';
import { callText } from './dialogs';
import {
  type Child, focusInPlace, h, hasFocus, joined, mutedText, nextId, prose, screenReaderText, setChildren, strongText, whenChanged
} from './dom';
import { factList, toolDescription } from './facts';
import { complain, FieldRow, filledArguments, FormError } from './fields';
import { button, folded, icon, type IconName } from './icons';
import { sum } from './messages/turns';
import { RequestParts } from './reply_card';
import { fieldsOf, own } from './schema';
import { oneLine, summaryOf, t, tableText, textBlock, tn, valueText } from './text';
import type { PanelActions, ViewState } from './view_state';

/** Radio buttons for the tools, and for no call. */
function toolChoice(tools: readonly ToolRow[], chosen: (tool: ToolRow | null) => void): HTMLElement[] {
  const name = nextId();
  const one = (label: Child, tool: ToolRow | null): HTMLElement => {
    const radio = h('input', { type: 'radio', name, onchange: () => chosen(tool), key: tool?.id ?? '' });
    return h('label', { title: summaryOf(tool?.description ?? '') }, radio, label);
  };
  return [...tools.map(tool => one(h('code', {}, oneLine(tool.id, 120)), tool)), one(h('span', {}, t(NO_CALL)), null)];
}

export class GuessCard {
  private readonly _turn = mutedText();
  private readonly _title = h('div', 'tc-title', h('h3', {}, t('What will the model call next?')), this._turn);
  private readonly _tools = h('div', { class: 'tc-choice', role: 'radiogroup', label: t('Tool') });
  private readonly _description = h('p', 'small muted');
  private readonly _fields = h('div', 'tc-fields');
  private readonly _error = new FormError();
  private readonly _checkButton = button(t('Check my guess'), { type: 'submit', look: 'primary', key: 'check guess' });
  private readonly _showButton = button(t('Show the call'), {
    look: 'ghost', key: 'show', onclick: () => this._acts.send({ type: 'skip_guess', rest: false })
  });
  private readonly _skipButton = button(t('Skip the rest'), {
    look: 'ghost right', key: 'rest', onclick: () => this._acts.send({ type: 'skip_guess', rest: true })
  });
  private readonly _form = h(
    'form', { class: 'tc-form', onsubmit: () => this._submit(), novalidate: true },
    h('div', 'tc-field', h('span', { class: 'tc-label', silent: 'true' }, t('Tool')), this._tools, this._description), this._fields,
    this._error.element, h('div', 'tc-row', this._checkButton, this._showButton, this._skipButton)
  );
  private readonly _requestParts = new RequestParts();
  private readonly _more = folded(t('What the model is sent'), ...this._requestParts.elements);
  readonly element = h('div', { class: 'tc-reply tc-guessing', role: 'group', label: t('Guess') }, this._title, this._form, this._more);
  private _view!: ViewState;
  private _rows: readonly FieldRow[] = [];
  private _chosen!: ToolRow | null | undefined;
  private _hadFocus = false;
  /** Starts an empty form for a new turn; redraws keep its values. */
  private readonly _startForm = whenChanged(() => {
    const now = this._view.toGuess;
    const known = now?.tools.flatMap(id => this._view.model.tools.get(id) ?? []) ?? [];
    this._tools.replaceChildren(...toolChoice(known, tool => this._choose(tool)));
    this._choose(null);
    this._chosen = undefined;
    // A person who guesses by keyboard continues with the next question.
    if (this._hadFocus) queueMicrotask(() => focusInPlace(this._tools.querySelector('input')));
    this._hadFocus = false;
  });
  private readonly _showRefusal = whenChanged(() => {
    const { refusal: refused } = this._view.model;
    if (refused?.command !== 'guess') return;
    this._error.show(refused.reason);
    complain(this._rows, refused.fields);
  });

  constructor(private readonly _acts: PanelActions) {}

  paint(next: ViewState): void {
    this._view = next;
    this.element.hidden = !next.toGuess || !next.followsNewest;
    if (next.toGuess) this._draw(next.toGuess);
  }

  private _choose(tool: ToolRow | null): void {
    this._chosen = tool;
    this._error.show('');
    this._description.replaceChildren(toolDescription(tool?.description ?? '') ?? '');
    const around = { objects: this._view.objects, step: Infinity, marks: false, hint: () => '' };
    this._rows = tool ? fieldsOf(tool.parameters, {}).map(field => new FieldRow(field, around, () => undefined)) : [];
    this._fields.replaceChildren(...this._rows.map(one => one.element));
    this._fields.hidden = this._rows.length === 0;
  }

  private _submit(): void {
    if (this._chosen === undefined) return this._error.show(t('Choose a tool, or "%1".', t(NO_CALL)));
    const filled = filledArguments(this._rows);
    // A field that is left empty would cost a point.
    const empty = this._rows.filter(({ field }) => field.required && !(field.name in filled.arguments));
    const errors = { ...Object.fromEntries(empty.map(({ field }) => [field.name, t('Enter a value.')])), ...filled.errors };
    this._error.show('');
    this._hadFocus = hasFocus(this.element);
    if (!complain(this._rows, errors)) this._acts.send({ type: 'guess', tool: this._chosen?.id ?? '', arguments: filled.arguments });
  }

  private _draw(now: YourTurn): void {
    this._turn.textContent = t('turn %1', now.turn);
    this._startForm(now.turn, now.tools.join(' '), this._view.model.session.name);
    this._requestParts.paint(now, this._view.model, false);
    this._form.hidden = !this._view.takesGuesses;
    this._checkButton.disabled = this._showButton.disabled = this._skipButton.disabled = this._view.ui.commandSent;
    this._showRefusal(this._view.model.refusal);
  }
}

const NO_CALL = tableText('no call: it answers');

const callOrNone = (written: Written | null): string => (written?.tool ? callText(written) : t(NO_CALL));

interface ComparedLine {
  readonly name: string;
  readonly right: boolean;
  readonly guessed: string;
  readonly came: string;
}

function argumentText(written: Written | null, name: string, right: boolean): string {
  const value = written ? own(written.arguments, name) : undefined;
  if (value === undefined) return right ? t('by default') : t('left out');
  return valueText(value, 200);
}

/** The compared lines: the tool, and each argument if the tool is right. */
function comparedLines(row: GuessRow): ComparedLine[] {
  const { guess, came, tool } = row;
  if (!tool || !came) return [{ name: t('call'), right: tool, guessed: callOrNone(guess), came: callOrNone(came) }];
  const first = { name: t('tool'), right: true, guessed: oneLine(guess?.tool ?? '', 120), came: oneLine(came.tool, 120) };
  const rest = row.marks.map(({ name, right }) => ({
    name: oneLine(name, 80),
    right,
    guessed: argumentText(guess, name, right),
    came: argumentText(came, name, right)
  }));
  return [first, ...rest];
}

function comparedRow({ name, right, guessed, came }: ComparedLine): HTMLElement {
  const says = screenReaderText(right ? t('right') : t('not right'));
  const mark = h('td', { class: right ? 'mark right' : 'mark' }, icon(right ? 'done' : 'close'), says);
  return h('tr', {}, mark, h('th', { scope: 'row' }, name), h('td', {}, h('code', {}, guessed)), h('td', {}, h('code', {}, came)));
}

function guessTable(row: GuessRow): HTMLElement {
  const head = h('tr', {}, ...['', '', t('your guess'), t('the model')].map(text => h('th', { scope: 'col' }, text)));
  return h('table', 'tc-beside', h('thead', {}, head), h('tbody', {}, ...comparedLines(row).map(comparedRow)));
}

/** How a guess came out, in one kind sentence. */
function sentence({ guess, came, marks, tool }: GuessRow): string {
  const called = came ? oneLine(came.tool, 120) : '';
  if (!guess) return came ? t('Skipped: it called %1.', called) : t('Skipped: it answered.');
  if (!tool) return came ? t('Not this time: it called %1.', called) : t('Not this time: it answered.');
  if (!came) return t('Right: it answered, and called nothing.');
  const [right, of] = [marks.filter(mark => mark.right).length, marks.length];
  if (right === of) return of ? t('Right, all of it.') : t('Right: that is the call.');
  if (right) return t('The right tool, and %1 of %2 arguments.', right, of);
  return tn('The right tool, with another argument.', 'The right tool, with other arguments.', of);
}

/** A guess and the model's reply. */
function guessResult(row: GuessRow): Child[] {
  const pointsList = row.guess ? tn('%2 of %1 point', '%2 of %1 points', row.of, row.right) : '';
  const aside = joined(', ', t('turn %1', row.turn), pointsList);
  const others = row.calls > 1 ? h('p', 'small muted', t('One of %1 calls of this reply.', row.calls)) : null;
  return [h('div', 'tc-title', h('h3', {}, sentence(row)), mutedText(aside)), row.guess ? guessTable(row) : null, others];
}

/** The guess of the chosen call, else the last one. */
function shownGuess(view: ViewState): GuessRow | null {
  const all = view.model.teaching.guesses;
  if (view.isPast) return null;
  if (view.followsNewest) return all.at(-1) ?? null;
  const step = view.model.calls.get(view.chosen.call)?.step;
  return all.find(row => row.step !== 0 && row.step === step) ?? null;
}

export class GuessResultCard {
  readonly element = h('div', { class: 'tc-guessed', role: 'group', label: t('Your guess') });
  private readonly _draw = whenChanged((row: GuessRow | null) => {
    setChildren(this.element, row ? guessResult(row) : []);
    this.element.hidden = row === null;
  });

  paint(view: ViewState): void {
    this._draw(shownGuess(view));
  }
}

// -- the score ------------------------------------------------------------------------------

/** The difference between guess and reply, in short. */
function differenceText(row: GuessRow): string {
  if (!row.guess) return t('shown');
  if (!row.tool) return t('you: %1', oneLine(row.guess.tool, 60) || t('no call'));
  const wrong = row.marks.filter(mark => !mark.right).map(({ name }) => name);
  const [only, ...others] = wrong;
  if (only === undefined) return t('same');
  const value = row.came?.arguments[only];
  if (others.length) return t('%1 arguments differ', wrong.length);
  return value === undefined ? t('%1 left out', oneLine(only, 40)) : `${oneLine(only, 40)}: ${valueText(value, 200)}`;
}

function guessIcon(row: GuessRow): IconName {
  if (!row.guess) return 'step';
  if (!row.tool) return 'close';
  return row.right === row.of ? 'done' : 'near';
}

function guessItem(row: GuessRow): HTMLElement {
  const name = row.came ? h('code', {}, oneLine(row.came.tool, 120)) : h('span', {}, t('an answer'));
  return h('li', {}, icon(guessIcon(row)), name, h('span', 'muted right', differenceText(row)));
}

/** The points, by tool and arguments. */
function points(made: readonly GuessRow[]): Child[] {
  if (made.length === 0) return [h('p', 'small muted', t('No guesses yet.'))];
  const marks = made.flatMap(row => row.marks);
  const right = made.flatMap(row => (row.tool ? row.marks.filter(mark => mark.right) : [])).length;
  const facts = factList([
    [t('Right tool'), t('%1 of %2', made.filter(row => row.tool).length, made.length)],
    [t('Right arguments'), t('%1 of %2', right, marks.length)]
  ]);
  const of = h('small', {}, tn('of %1 point', 'of %1 points', sum(made.map(row => row.of))));
  return [h('div', 'tc-score', `${sum(made.map(row => row.right))} `, of), facts];
}

/** The points, and the guesses with the last one first. */
function scoreContent(rows: readonly GuessRow[]): Child[] {
  const list = [...rows].reverse().slice(0, 200).map(guessItem);
  return [
    h('h3', 'tc-h', t('Your score')),
    ...points(rows.filter(row => row.guess)),
    ...(list.length ? [h('ol', { class: 'tc-guesses', label: t('Your guesses') }, ...list)] : [])
  ];
}

/** The score: beside the question, or with `end` after the last guess. */
export class ScoreCard {
  readonly element = h('section', { class: 'tc-scores', label: t('Your score'), hidden: true });
  private readonly _draw = whenChanged((guesses: readonly GuessRow[]) => setChildren(this.element, scoreContent(guesses)));

  constructor(private readonly _end: boolean) {}

  paint(next: ViewState): void {
    const over = !next.toGuess && !next.isPast && next.model.teaching.guesses.length > 0 && next.model.session.phase === 'finished';
    this.element.hidden = !next.followsNewest || !(this._end ? over : next.toGuess && next.ui.tab === 'Graph');
    if (!this.element.hidden) this._draw(next.model.teaching.guesses);
  }
}

export class ExerciseBar {
  private readonly _sign = h('span', 'sign');
  private readonly _title = strongText();
  private readonly _text = h('div', { class: 'says', role: 'status', label: t('Exercise') });
  private readonly _check = button(t('Check'), { key: 'check', onclick: () => this._acts.send({ type: 'check' }) });
  readonly element = h('div', { class: 'tc-task', hidden: true }, this._sign, h('div', {}, this._title, this._text), this._check);
  private readonly _draw = whenChanged((now: Task | null, live: boolean, isSent: boolean) => {
    this.element.hidden = !now;
    if (!now) return;
    this._sign.replaceChildren(icon(now.passed ? 'done' : 'ready'));
    setChildren(this._title, prose(`${now.passed ? t('Passed') : t('Exercise')}: ${oneLine(now.title, 120)}`));
    const told = textBlock(now.says, 4000).split('\n').filter(Boolean);
    this._text.replaceChildren(...told.map(text => h('p', {}, ...prose(text))));
    this._check.hidden = !live;
    this._check.disabled = isSent;
  });

  constructor(private readonly _acts: PanelActions) {}

  paint({ model, live, ui }: ViewState): void {
    this._draw(model.teaching.task, live, ui.commandSent);
  }
}
