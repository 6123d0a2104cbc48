/** Teaching: the card that asks for a guess, the result and score of the guesses, and the exercise. */
import { callText } from './dialogs';
import { type Child, h, prose, screenReaderText, whenChanged } from './dom';
import { toolDescription } from './facts';
import { complain, fieldRow, type FieldRow, filledArguments, FormError, nextId } from './fields';
import { button, icon, type IconName } from './icons';
import { RequestParts } from './reply_card';
import type { FullGuess, FullPersonTurn, FullTool, FullWrittenCall } from './rows';
import { fieldsOf, own } from './schema';
import { literalText, oneLine, plural, summaryOf, textBlock } from './text';
import type { PanelActions, ViewState } from './view_state';

/** The tools to choose from, and that there may be no call. */
function toolChoice(tools: readonly FullTool[], chosen: (tool: FullTool | null) => void): HTMLElement[] {
  const name = nextId();
  const one = (label: Child, tool: FullTool | null): HTMLElement => {
    const radio = h('input', { type: 'radio', name, onchange: () => chosen(tool), 'data-k': tool?.id ?? '' });
    return h('label', { title: summaryOf(tool?.description ?? '') }, radio, label);
  };
  return [
    ...tools.map(tool => one(h('code', {}, oneLine(tool.id, 120)), tool)),
    one(h('span', {}, NO_CALL), null)
  ];
}

export class GuessCard {
  private readonly turn = h('span', { class: 'small muted' });
  private readonly title = h('div', { class: 'tc-title' }, h('h3', {}, 'What will the model call next?'), this.turn);
  private readonly tools = h('div', { class: 'tc-choice', role: 'radiogroup', 'aria-label': 'Tool' });
  private readonly description = h('p', { class: 'small muted' });
  private readonly fields = h('div', { class: 'tc-fields' });
  private readonly error = new FormError();
  private readonly checkButton = h('button', { type: 'submit', class: 'tc-btn primary', 'data-k': 'check guess' }, 'Check my guess');
  private readonly showButton = button('Show the call', { look: 'ghost', key: 'show', onclick: () => this.acts.send({ type: 'skip_guess', rest: false }) });
  private readonly skipButton = button('Skip the rest', { look: 'ghost right', key: 'rest', onclick: () => this.acts.send({ type: 'skip_guess', rest: true }) });
  private readonly form = h(
    'form',
    { class: 'tc-form', onsubmit: event => this.submit(event), novalidate: true },
    h('div', { class: 'tc-field' }, h('span', { class: 'tc-label', 'aria-hidden': 'true' }, 'Tool'), this.tools, this.description),
    this.fields,
    this.error.element,
    h('div', { class: 'tc-row' }, this.checkButton, this.showButton, this.skipButton)
  );
  private readonly requestParts = new RequestParts();
  private readonly more = h('details', { class: 'tc-more' }, h('summary', {}, icon('down'), 'What the model is sent'), ...this.requestParts.elements);
  private readonly savedNote = h('p', { class: 'tc-note' }, icon('info'), h('span', {}, 'Saved copy. Run the cell to guess.'));
  readonly element = h('div', { class: 'tc-reply tc-guessing', role: 'group', 'aria-label': 'Guess' }, this.title, this.form, this.savedNote, this.more);
  private view!: ViewState;
  private rows: readonly FieldRow[] = [];
  private chosen!: FullTool | null | undefined;
  private hadFocus = false;
  /** The form of a turn begins empty; what stands in it stays whatever is drawn around it. */
  private readonly startForm = whenChanged(() => {
    const now = this.view.toGuess;
    const known = now?.tools.flatMap(id => this.view.model.tools.get(id) ?? []) ?? [];
    this.tools.replaceChildren(...toolChoice(known, tool => this.choose(tool)));
    this.choose(null);
    this.chosen = undefined;
    // Who guessed by keyboard goes on with the next question, where the button was switched off.
    if (this.hadFocus) queueMicrotask(() => this.tools.querySelector('input')?.focus({ preventScroll: true }));
    this.hadFocus = false;
  });
  private readonly showRefusal = whenChanged(() => {
    const { refusal: refused } = this.view.model;
    if (refused?.command !== 'guess') return;
    this.error.show(refused.reason);
    complain(this.rows, refused.fields);
  });

  constructor(private readonly acts: PanelActions) {}

  paint(next: ViewState): void {
    this.view = next;
    this.element.hidden = !next.toGuess || !next.followsNewest;
    if (next.toGuess) this.draw(next.toGuess);
  }

  private choose(tool: FullTool | null): void {
    this.chosen = tool;
    this.error.show('');
    this.description.replaceChildren(toolDescription(tool?.description ?? '') ?? '');
    const around = { objects: this.view.objects, step: Infinity, marks: false, hint: () => '' };
    this.rows = tool ? fieldsOf(tool.parameters, {}).map(field => fieldRow(field, around, () => undefined)) : [];
    this.fields.replaceChildren(...this.rows.map(one => one.element));
    this.fields.hidden = this.rows.length === 0;
  }

  private submit(event: Event): void {
    event.preventDefault();
    if (this.chosen === undefined) return this.error.show(`Choose a tool, or "${NO_CALL}".`);
    const filled = filledArguments(this.rows);
    this.error.show('');
    this.hadFocus = this.element.contains(document.activeElement);
    if (!complain(this.rows, filled.errors)) this.acts.send({ type: 'guess', tool: this.chosen?.id ?? '', arguments: filled.arguments });
  }

  private draw(now: FullPersonTurn): void {
    this.turn.textContent = `turn ${now.turn}`;
    this.startForm(now.turn, now.tools.join(' '), this.view.model.session.name);
    this.requestParts.paint(now, this.view.model, false);
    this.form.hidden = !this.view.live;
    this.savedNote.hidden = this.view.live;
    this.checkButton.disabled = this.showButton.disabled = this.skipButton.disabled = this.view.ui.commandSent;
    this.showRefusal(this.view.model.refusal);
  }
}

export const NO_CALL = 'no call: it answers';

const callOrNone = (written: FullWrittenCall | null): string => (written?.tool ? callText(written) : NO_CALL);

const valueText = (found: unknown): string => (typeof found === 'string' ? oneLine(found, 200) : literalText(found, 200));

interface ComparedLine {
  readonly name: string;
  readonly right: boolean;
  readonly guessed: string;
  readonly came: string;
}

function argumentText(written: FullWrittenCall | null, name: string, right: boolean): string {
  const found = written ? own(written.arguments, name) : undefined;
  if (found === undefined) return right ? 'by default' : 'left out';
  return valueText(found);
}

/** What is compared: the tools, and where they are the same each argument. */
function comparedLines(row: FullGuess): ComparedLine[] {
  const { guess, came, tool } = row;
  if (!tool || !came) return [{ name: 'call', right: tool, guessed: callOrNone(guess), came: callOrNone(came) }];
  const first = { name: 'tool', right: true, guessed: oneLine(guess?.tool ?? '', 120), came: oneLine(came.tool, 120) };
  const rest = row.marks.map(({ name, right }) => ({
    name: oneLine(name, 80),
    right,
    guessed: argumentText(guess, name, right),
    came: argumentText(came, name, right)
  }));
  return [first, ...rest];
}

function comparedRow({ name, right, guessed, came }: ComparedLine): HTMLElement {
  const says = screenReaderText(right ? 'right' : 'not right');
  const mark = h('td', { class: right ? 'mark right' : 'mark' }, icon(right ? 'done' : 'close'), says);
  return h('tr', {}, mark, h('th', { scope: 'row' }, name), h('td', {}, h('code', {}, guessed)), h('td', {}, h('code', {}, came)));
}

const COLUMNS = ['', '', 'your guess', 'the model'];

function guessTable(row: FullGuess): HTMLElement {
  const head = h('tr', {}, ...COLUMNS.map(text => h('th', { scope: 'col' }, text)));
  return h('table', { class: 'tc-beside' }, h('thead', {}, head), h('tbody', {}, ...comparedLines(row).map(comparedRow)));
}

/** A guess, and what came. */
function guessResult(row: FullGuess): Child[] {
  const pointsList = row.guess ? `${row.right} of ${plural(row.of, 'point')}` : '';
  const aside = [`turn ${row.turn}`, pointsList].filter(Boolean).join(', ');
  const others = row.calls > 1 ? h('p', { class: 'small muted' }, `One of ${row.calls} calls of this reply.`) : null;
  return [
    h('div', { class: 'tc-title' }, h('h3', {}, oneLine(row.says, 200)), h('span', { class: 'small muted' }, aside)),
    row.guess ? guessTable(row) : null,
    others
  ];
}

/** The guess that goes with what is on show: of the chosen call, else the last one. */
function shownGuess(view: ViewState): FullGuess | null {
  const all = view.model.teaching.guesses;
  if (view.isPast) return null;
  if (view.followsNewest) return all.at(-1) ?? null;
  const step = view.model.calls.get(view.chosen.call)?.step;
  return all.find(row => row.step !== 0 && row.step === step) ?? null;
}

export interface TeachingPart {
  readonly element: HTMLElement;
  paint(view: ViewState): void;
}

export class GuessResultCard {
  readonly element = h('div', { class: 'tc-guessed', role: 'group', 'aria-label': 'Your guess' });
  private row: FullGuess | null = null;
  private readonly draw = whenChanged(() => {
    this.element.replaceChildren(...(this.row ? guessResult(this.row) : []).filter(one => one instanceof Node));
    this.element.hidden = this.row === null;
  });

  paint(view: ViewState): void {
    this.row = shownGuess(view);
    this.draw(this.row);
  }
}

// -- the score ------------------------------------------------------------------------------

/** What was other than guessed, in a word or two. */
function differenceText(row: FullGuess): string {
  if (!row.guess) return 'shown';
  if (!row.tool) return row.guess.tool ? `you: ${oneLine(row.guess.tool, 60)}` : 'you: no call';
  const wrong = row.marks.filter(mark => !mark.right).map(({ name }) => name);
  const [only, ...others] = wrong;
  if (only === undefined) return 'same';
  const came = row.came?.arguments[only];
  if (others.length) return `${wrong.length} arguments differ`;
  return came === undefined ? `${oneLine(only, 40)} left out` : `${oneLine(only, 40)}: ${valueText(came)}`;
}

function guessIcon(row: FullGuess): IconName {
  if (!row.guess) return 'step';
  if (!row.tool) return 'close';
  return row.right === row.of ? 'done' : 'near';
}

function guessItem(row: FullGuess): HTMLElement {
  const name = row.came ? h('code', {}, oneLine(row.came.tool, 120)) : h('span', {}, 'an answer');
  return h('li', {}, icon(guessIcon(row)), name, h('span', { class: 'muted right' }, differenceText(row)));
}

const sumOf = (rows: readonly FullGuess[], of: (row: FullGuess) => number): number =>
  rows.reduce((total, row) => total + of(row), 0);

/** The points, and what they are for. */
function points(made: readonly FullGuess[]): HTMLElement[] {
  if (made.length === 0) return [h('p', { class: 'small muted' }, 'No guesses yet.')];
  const marks = made.flatMap(row => row.marks);
  const right = sumOf(made, row => (row.tool ? row.marks.filter(mark => mark.right).length : 0));
  const facts: readonly (readonly [string, string])[] = [
    ['Right tool', `${made.filter(row => row.tool).length} of ${made.length}`],
    ['Right arguments', `${right} of ${marks.length}`]
  ];
  const of = h('small', {}, `of ${plural(sumOf(made, row => row.of), 'point')}`);
  return [
    h('div', { class: 'tc-score' }, `${sumOf(made, row => row.right)} `, of),
    h('dl', { class: 'tc-facts' }, ...facts.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]))
  ];
}

/** The points, here and in the whole session, and the guesses one by one, the last one first. */
function scoreContent(rows: readonly FullGuess[], session: string): HTMLElement[] {
  const list = [...rows].reverse().slice(0, 200).map(guessItem);
  return [
    h('h3', { class: 'tc-h' }, 'Your score'),
    ...points(rows.filter(row => row.guess)),
    ...(session ? [h('p', { class: 'small muted' }, oneLine(session, 120))] : []),
    ...(list.length ? [h('ol', { class: 'tc-guesses', 'aria-label': 'Your guesses' }, ...list)] : [])
  ];
}

/** The score: beside the question, or with `end` where all is guessed. */
export class ScoreCard {
  readonly element = h('section', { class: 'tc-scores', 'aria-label': 'Your score', hidden: true });
  private view!: ViewState;
  private readonly draw = whenChanged(() => {
    this.element.replaceChildren(...scoreContent(this.view.model.teaching.guesses, this.view.model.teaching.session_score));
  });

  constructor(private readonly end: boolean) {}

  paint(next: ViewState): void {
    this.view = next;
    const over = !next.toGuess && !next.isPast && next.model.teaching.guesses.length > 0 && next.model.session.phase === 'finished';
    this.element.hidden = !next.followsNewest || !(this.end ? over : next.toGuess && next.ui.tab === 'Graph');
    if (!this.element.hidden) this.draw(next.model.teaching.guesses, next.model.teaching.session_score);
  }
}

export class ExerciseBar {
  private readonly sign = h('span', { class: 'sign' });
  private readonly title = h('span', { class: 'strong' });
  private readonly text = h('div', { class: 'says', role: 'status', 'aria-label': 'Exercise' });
  private readonly check = button('Check', { key: 'check', onclick: () => this.acts.send({ type: 'check' }) });
  readonly element = h('div', { class: 'tc-task', hidden: true }, this.sign, h('div', {}, this.title, this.text), this.check);
  private view!: ViewState;
  private readonly draw = whenChanged(() => {
    const { task: now } = this.view.model.teaching;
    this.element.hidden = !now;
    if (!now) return;
    this.sign.replaceChildren(icon(now.passed ? 'done' : 'ready'));
    this.title.textContent = `${now.passed ? 'Passed' : 'Exercise'}: ${oneLine(now.title, 120)}`;
    const told = textBlock(now.says, 4000).split('\n').filter(Boolean);
    this.text.replaceChildren(...told.map(text => h('p', {}, ...prose(text))));
    this.check.hidden = !this.view.live;
    this.check.disabled = this.view.ui.commandSent;
  });

  constructor(private readonly acts: PanelActions) {}

  paint(next: ViewState): void {
    this.view = next;
    this.draw(next.model.teaching.task, next.live, next.ui.commandSent);
  }
}
