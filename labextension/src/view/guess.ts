/** The card of a person who guesses what the model does next, and a guess beside what it did. */
import { h, once, reader, type Child } from './dom';
import { button, icon } from './icons';
import type { Acts, Look } from './look';
import type { FullGuess, FullWritten, FullYours } from './rows';
import { sent } from './sent';
import { line, literal, many } from './text';
import { spelled } from './write';

const NO_CALL = 'no call: it answers';

const whole = (written: FullWritten | null): string => (written?.tool ? spelled(written) : NO_CALL);

interface Line {
  readonly name: string;
  readonly right: boolean;
  readonly guessed: string;
  readonly came: string;
}

const value = (written: FullWritten | null, name: string, right: boolean): string => {
  const found = written?.arguments[name];
  if (found === undefined) return right ? 'by default' : 'left out';
  return typeof found === 'string' ? line(found, 200) : literal(found, 200);
};

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
  const mark = h('td', { class: right ? 'mark right' : 'mark' }, icon(right ? 'done' : 'close'), reader(right ? 'right' : 'not right'));
  return h('tr', {}, mark, h('th', { scope: 'row' }, name), h('td', {}, h('code', {}, guessed)), h('td', {}, h('code', {}, came)));
}

const heads = ['', '', 'your guess', 'the model'];

function table(row: FullGuess): HTMLElement {
  const head = h('tr', {}, ...heads.map(text => h('th', { scope: 'col' }, text)));
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
  const all = [...view.model.guesses.values()];
  if (view.past) return null;
  if (view.follow) return all.at(-1) ?? null;
  const step = view.model.calls.get(view.chosen.call)?.step;
  return all.find(row => row.step !== 0 && row.step === step) ?? null;
}

export interface GuessCard {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

export function guessed(): GuessCard {
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

/** The card; a click on a tool opens its form. */
export function guess(acts: Acts): GuessCard {
  const turn = h('span', { class: 'small muted' });
  const title = h('div', { class: 'tc-title' }, h('h3', {}, 'What does the model do next?'), turn);
  const how = h('p', {}, 'This is what it is sent. Choose the tool that you think it calls.');
  const asked = sent(acts.guess);
  const none = button('No call: it answers', { key: 'none', onclick: () => acts.send({ type: 'guess', tool: '' }) });
  const skip = button('Skip', { look: 'ghost right', key: 'skip', onclick: () => acts.send({ type: 'skip_guess', rest: false }) });
  const rest = button('Skip the rest', { look: 'ghost', key: 'rest', onclick: () => acts.send({ type: 'skip_guess', rest: true }) });
  const row = h('div', { class: 'tc-row' }, none, skip, rest);
  const saved = h('p', { class: 'tc-note' }, icon('info'), h('span', {}, 'This is the saved session: run its cell to guess.'));
  const parts = [title, how, ...asked.elements, row, saved];
  const element = h('div', { class: 'tc-reply', role: 'group', 'aria-label': 'Guess' }, ...parts);

  function draw(view: Look, now: FullYours): void {
    turn.textContent = `turn ${now.turn}`;
    asked.paint(now, view.model, view.live);
    how.hidden = row.hidden = !view.live;
    saved.hidden = view.live;
    for (const one of [none, skip, rest]) one.disabled = view.ui.sent;
  }

  return {
    element,
    paint(view) {
      element.hidden = !view.guess || !view.follow;
      if (view.guess) draw(view, view.guess);
    }
  };
}
