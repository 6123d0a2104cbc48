/** Teaching: the card that asks for a guess, the result and score of the guesses, and the exercise. */
import { callText } from './dialogs';
import { type Child, h, prose, screenReaderText, whenChanged } from './dom';
import { toolDescription } from './facts';
import { complain, fieldRow, type FieldRow, filledArguments, formError, nextId } from './fields';
import { button, icon, type IconName } from './icons';
import { requestParts } from './reply_card';
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

export function guessCard(acts: PanelActions): TeachingPart {
  const turn = h('span', { class: 'small muted' });
  const title = h('div', { class: 'tc-title' }, h('h3', {}, 'What will the model call next?'), turn);
  const tools = h('div', { class: 'tc-choice', role: 'radiogroup', 'aria-label': 'Tool' });
  const said = h('p', { class: 'small muted' });
  const fields = h('div', { class: 'tc-fields' });
  const wrong = formError();
  const check = h('button', { type: 'submit', class: 'tc-btn primary', 'data-k': 'check guess' }, 'Check my guess');
  const show = button('Show the call', { look: 'ghost', key: 'show', onclick: () => acts.send({ type: 'skip_guess', rest: false }) });
  const rest = button('Skip the rest', { look: 'ghost right', key: 'rest', onclick: () => acts.send({ type: 'skip_guess', rest: true }) });
  const form = h(
    'form',
    { class: 'tc-form', onsubmit: submit, novalidate: true },
    h('div', { class: 'tc-field' }, h('span', { class: 'tc-label', 'aria-hidden': 'true' }, 'Tool'), tools, said),
    fields,
    wrong.element,
    h('div', { class: 'tc-row' }, check, show, rest)
  );
  const asked = requestParts();
  const more = h('details', { class: 'tc-more' }, h('summary', {}, icon('down'), 'What the model is sent'), ...asked.elements);
  const saved = h('p', { class: 'tc-note' }, icon('info'), h('span', {}, 'Saved copy. Run the cell to guess.'));
  const element = h('div', { class: 'tc-reply tc-guessing', role: 'group', 'aria-label': 'Guess' }, title, form, saved, more);
  let view: ViewState;
  let rows: readonly FieldRow[] = [];
  let chosen: FullTool | null | undefined;
  let here = false;

  function choose(tool: FullTool | null): void {
    chosen = tool;
    wrong.say('');
    said.replaceChildren(toolDescription(tool?.description ?? '') ?? '');
    const around = { objects: view.objects, step: Infinity, marks: false, hint: () => '' };
    rows = tool ? fieldsOf(tool.parameters, {}).map(field => fieldRow(field, around, () => undefined)) : [];
    fields.replaceChildren(...rows.map(one => one.element));
    fields.hidden = rows.length === 0;
  }
  function submit(event: Event): void {
    event.preventDefault();
    if (chosen === undefined) return wrong.say(`Choose a tool, or "${NO_CALL}".`);
    const filled = filledArguments(rows);
    wrong.say('');
    here = element.contains(document.activeElement);
    if (!complain(rows, filled.errors)) acts.send({ type: 'guess', tool: chosen?.id ?? '', arguments: filled.arguments });
  }

  /** The form of a turn begins empty; what stands in it stays whatever is drawn around it. */
  const begin = whenChanged(() => {
    const now = view.toGuess;
    const known = now?.tools.flatMap(id => view.model.tools.get(id) ?? []) ?? [];
    tools.replaceChildren(...toolChoice(known, choose));
    choose(null);
    chosen = undefined;
    // Who guessed by keyboard goes on with the next question, where the button was switched off.
    if (here) queueMicrotask(() => tools.querySelector('input')?.focus({ preventScroll: true }));
    here = false;
  });
  const refuse = whenChanged(() => {
    const { refusal: refused } = view.model;
    if (refused?.command !== 'guess') return;
    wrong.say(refused.reason);
    complain(rows, refused.fields);
  });

  function draw(now: FullPersonTurn): void {
    turn.textContent = `turn ${now.turn}`;
    begin(now.turn, now.tools.join(' '), view.model.session.name);
    asked.paint(now, view.model, false);
    form.hidden = !view.live;
    saved.hidden = view.live;
    check.disabled = show.disabled = rest.disabled = view.ui.commandSent;
    refuse(view.model.refusal);
  }

  return {
    element,
    paint(next) {
      view = next;
      element.hidden = !next.toGuess || !next.followsNewest;
      if (next.toGuess) draw(next.toGuess);
    }
  };
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

export function guessResultCard(): TeachingPart {
  const element = h('div', { class: 'tc-guessed', role: 'group', 'aria-label': 'Your guess' });
  let row: FullGuess | null = null;
  const draw = whenChanged(() => {
    element.replaceChildren(...(row ? guessResult(row) : []).filter(one => one instanceof Node));
    element.hidden = row === null;
  });
  return {
    element,
    paint(view) {
      row = shownGuess(view);
      draw(row);
    }
  };
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
export function scoreCard(end: boolean): TeachingPart {
  const element = h('section', { class: 'tc-scores', 'aria-label': 'Your score', hidden: true });
  let view: ViewState;
  const draw = whenChanged(() => {
    element.replaceChildren(...scoreContent(view.model.teaching.guesses, view.model.teaching.session_score));
  });
  return {
    element,
    paint(next) {
      view = next;
      const over = !next.toGuess && !next.isPast && next.model.teaching.guesses.length > 0 && next.model.session.phase === 'finished';
      element.hidden = !next.followsNewest || !(end ? over : next.toGuess && next.ui.tab === 'Graph');
      if (!element.hidden) draw(next.model.teaching.guesses, next.model.teaching.session_score);
    }
  };
}

export interface ExerciseBar {
  readonly element: HTMLElement;
  paint(view: ViewState): void;
}

export function exerciseBar(acts: PanelActions): ExerciseBar {
  const sign = h('span', { class: 'sign' });
  const title = h('span', { class: 'strong' });
  const says = h('div', { class: 'says', role: 'status', 'aria-label': 'Exercise' });
  const check = button('Check', { key: 'check', onclick: () => acts.send({ type: 'check' }) });
  const element = h('div', { class: 'tc-task', hidden: true }, sign, h('div', {}, title, says), check);
  let view: ViewState;

  const draw = whenChanged(() => {
    const { task: now } = view.model.teaching;
    element.hidden = !now;
    if (!now) return;
    sign.replaceChildren(icon(now.passed ? 'done' : 'ready'));
    title.textContent = `${now.passed ? 'Passed' : 'Exercise'}: ${oneLine(now.title, 120)}`;
    const told = textBlock(now.says, 4000).split('\n').filter(Boolean);
    says.replaceChildren(...told.map(text => h('p', {}, ...prose(text))));
    check.hidden = !view.live;
    check.disabled = view.ui.commandSent;
  });

  return {
    element,
    paint(next) {
      view = next;
      draw(next.model.teaching.task, next.live, next.ui.commandSent);
    }
  };
}
