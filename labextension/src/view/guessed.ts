/** Guesses and what came: a guess beside the call, argument by argument, and the score of them all. */
import { h, once, reader, type Child } from './dom';
import { icon, type IconName } from './icons';
import type { Look } from './look';
import type { FullGuess, FullWritten } from './rows';
import { own } from './schema';
import { line, literal, many } from './text';
import { spelled } from './write';

export const NO_CALL = 'no call: it answers';

const whole = (written: FullWritten | null): string => (written?.tool ? spelled(written) : NO_CALL);

const shown = (found: unknown): string => (typeof found === 'string' ? line(found, 200) : literal(found, 200));

interface Line {
  readonly name: string;
  readonly right: boolean;
  readonly guessed: string;
  readonly came: string;
}

function value(written: FullWritten | null, name: string, right: boolean): string {
  const found = written ? own(written.arguments, name) : undefined;
  if (found === undefined) return right ? 'by default' : 'left out';
  return shown(found);
}

/** What is compared: the tools, and where they are the same each argument. */
function lines(row: FullGuess): Line[] {
  const { guess, came, tool } = row;
  if (!tool || !came) return [{ name: 'call', right: tool, guessed: whole(guess), came: whole(came) }];
  const first = { name: 'tool', right: true, guessed: line(guess?.tool ?? '', 120), came: line(came.tool, 120) };
  const rest = row.marks.map(({ name, right }) => ({
    name: line(name, 80),
    right,
    guessed: value(guess, name, right),
    came: value(came, name, right)
  }));
  return [first, ...rest];
}

function compared({ name, right, guessed, came }: Line): HTMLElement {
  const says = reader(right ? 'right' : 'not right');
  const mark = h('td', { class: right ? 'mark right' : 'mark' }, icon(right ? 'done' : 'close'), says);
  return h('tr', {}, mark, h('th', { scope: 'row' }, name), h('td', {}, h('code', {}, guessed)), h('td', {}, h('code', {}, came)));
}

const HEADS = ['', '', 'your guess', 'the model'];

function table(row: FullGuess): HTMLElement {
  const head = h('tr', {}, ...HEADS.map(text => h('th', { scope: 'col' }, text)));
  return h('table', { class: 'tc-beside' }, h('thead', {}, head), h('tbody', {}, ...lines(row).map(compared)));
}

/** A guess, and what came. */
function outcome(row: FullGuess): Child[] {
  const points = row.guess ? `${row.right} of ${many(row.of, 'point')}` : '';
  const aside = [`turn ${row.turn}`, points].filter(Boolean).join(', ');
  const others = row.calls > 1 ? h('p', { class: 'small muted' }, `One of ${row.calls} calls of this reply.`) : null;
  return [
    h('div', { class: 'tc-title' }, h('h3', {}, line(row.says, 200)), h('span', { class: 'small muted' }, aside)),
    row.guess ? table(row) : null,
    others
  ];
}

/** The guess that goes with what is on show: of the chosen call, else the last one. */
function onShow(view: Look): FullGuess | null {
  const all = view.model.teaching.guesses;
  if (view.past) return null;
  if (view.follow) return all.at(-1) ?? null;
  const step = view.model.calls.get(view.chosen.call)?.step;
  return all.find(row => row.step !== 0 && row.step === step) ?? null;
}

export interface Part {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

export function guessed(): Part {
  const element = h('div', { class: 'tc-guessed', role: 'group', 'aria-label': 'Your guess' });
  let row: FullGuess | null = null;
  const draw = once(() => {
    element.replaceChildren(...(row ? outcome(row) : []).filter(one => one instanceof Node));
    element.hidden = row === null;
  });
  return {
    element,
    paint(view) {
      row = onShow(view);
      draw(row);
    }
  };
}

// -- the score ------------------------------------------------------------------------------

/** What was other than guessed, in a word or two. */
function apart(row: FullGuess): string {
  if (!row.guess) return 'shown';
  if (!row.tool) return row.guess.tool ? `you: ${line(row.guess.tool, 60)}` : 'you: no call';
  const wrong = row.marks.filter(mark => !mark.right).map(({ name }) => name);
  const [only, ...others] = wrong;
  if (only === undefined) return 'same';
  const came = row.came?.arguments[only];
  if (others.length) return `${wrong.length} arguments differ`;
  return came === undefined ? `${line(only, 40)} left out` : `${line(only, 40)}: ${shown(came)}`;
}

function sign(row: FullGuess): IconName {
  if (!row.guess) return 'step';
  if (!row.tool) return 'close';
  return row.right === row.of ? 'done' : 'near';
}

function item(row: FullGuess): HTMLElement {
  const name = row.came ? h('code', {}, line(row.came.tool, 120)) : h('span', {}, 'an answer');
  return h('li', {}, icon(sign(row)), name, h('span', { class: 'muted right' }, apart(row)));
}

const sum = (rows: readonly FullGuess[], of: (row: FullGuess) => number): number =>
  rows.reduce((total, row) => total + of(row), 0);

/** The points, and what they are for. */
function points(made: readonly FullGuess[]): HTMLElement[] {
  if (made.length === 0) return [h('p', { class: 'small muted' }, 'Nothing is guessed yet.')];
  const marks = made.flatMap(row => row.marks);
  const right = sum(made, row => (row.tool ? row.marks.filter(mark => mark.right).length : 0));
  const facts: readonly (readonly [string, string])[] = [
    ['Right tool', `${made.filter(row => row.tool).length} of ${made.length}`],
    ['Right arguments', `${right} of ${marks.length}`]
  ];
  const of = h('small', {}, `of ${many(sum(made, row => row.of), 'point')}`);
  return [
    h('div', { class: 'tc-score' }, `${sum(made, row => row.right)} `, of),
    h('dl', { class: 'tc-facts' }, ...facts.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]))
  ];
}

/** The points, here and in the whole session, and the guesses one by one, the last one first. */
function tally(rows: readonly FullGuess[], session: string): HTMLElement[] {
  const list = [...rows].reverse().slice(0, 200).map(item);
  return [
    h('h3', { class: 'tc-h' }, 'Your score'),
    ...points(rows.filter(row => row.guess)),
    ...(session ? [h('p', { class: 'small muted' }, line(session, 120))] : []),
    ...(list.length ? [h('ol', { class: 'tc-guesses', 'aria-label': 'Your guesses' }, ...list)] : [])
  ];
}

/** The score: beside the question, or with `end` where all is guessed. */
export function score(end: boolean): Part {
  const element = h('section', { class: 'tc-scores', 'aria-label': 'Your score', hidden: true });
  let view: Look;
  const draw = once(() => {
    element.replaceChildren(...tally(view.model.teaching.guesses, view.model.teaching.session_score));
  });
  return {
    element,
    paint(next) {
      view = next;
      const over = !next.guess && !next.past && next.model.teaching.guesses.length > 0 && next.model.session.phase === 'finished';
      element.hidden = !next.follow || !(end ? over : next.guess && next.ui.tab === 'Graph');
      if (!element.hidden) draw(next.model.teaching.guesses, next.model.teaching.session_score);
    }
  };
}
