/** The card of a person who guesses what the model does next: one question, and a form for the answer. */
import { h, once, type Child } from './dom';
import { complain, complaint, filledIn, nextId, row, type Row } from './form';
import { described } from './facts';
import { NO_CALL, type Part } from './guessed';
import { button, icon } from './icons';
import type { Acts, Look } from './look';
import type { FullTool, FullYours } from './rows';
import { fieldsOf } from './schema';
import { sent } from './sent';
import { gist, line } from './text';

/** The tools to choose from, and that there may be no call. */
function choice(tools: readonly FullTool[], chosen: (tool: FullTool | null) => void): HTMLElement[] {
  const name = nextId();
  const one = (label: Child, tool: FullTool | null): HTMLElement => {
    const radio = h('input', { type: 'radio', name, onchange: () => chosen(tool), 'data-k': tool?.id ?? '' });
    return h('label', { title: gist(tool?.description ?? '') }, radio, label);
  };
  return [
    ...tools.map(tool => one(h('code', {}, line(tool.id, 120)), tool)),
    one(h('span', {}, NO_CALL), null)
  ];
}

export function guess(acts: Acts): Part {
  const turn = h('span', { class: 'small muted' });
  const title = h('div', { class: 'tc-title' }, h('h3', {}, 'What will the model call next?'), turn);
  const tools = h('div', { class: 'tc-choice', role: 'radiogroup', 'aria-label': 'Tool' });
  const said = h('p', { class: 'small muted' });
  const fields = h('div', { class: 'tc-fields' });
  const wrong = complaint();
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
  const asked = sent();
  const more = h('details', { class: 'tc-more' }, h('summary', {}, icon('down'), 'What the model is sent'), ...asked.elements);
  const saved = h('p', { class: 'tc-note' }, icon('info'), h('span', {}, 'This is the saved session: run its cell to guess.'));
  const element = h('div', { class: 'tc-reply tc-guessing', role: 'group', 'aria-label': 'Guess' }, title, form, saved, more);
  let view: Look;
  let rows: readonly Row[] = [];
  let chosen: FullTool | null | undefined;
  let here = false;

  function choose(tool: FullTool | null): void {
    chosen = tool;
    wrong.say('');
    said.replaceChildren(described(tool?.description ?? '') ?? '');
    const around = { objects: view.objects, step: Infinity, marks: false, hint: () => '' };
    rows = tool ? fieldsOf(tool.parameters, {}).map(field => row(field, around, () => undefined)) : [];
    fields.replaceChildren(...rows.map(one => one.element));
    fields.hidden = rows.length === 0;
  }
  function submit(event: Event): void {
    event.preventDefault();
    if (chosen === undefined) return wrong.say('Choose a tool, or that there is no call.');
    const filled = filledIn(rows);
    wrong.say('');
    here = element.contains(document.activeElement);
    if (!complain(rows, filled.errors)) acts.send({ type: 'guess', tool: chosen?.id ?? '', arguments: filled.arguments });
  }

  /** The form of a turn begins empty; what stands in it stays whatever is drawn around it. */
  const begin = once(() => {
    const now = view.guess;
    const known = now?.tools.flatMap(id => view.model.tools.get(id) ?? []) ?? [];
    tools.replaceChildren(...choice(known, choose));
    choose(null);
    chosen = undefined;
    // Who guessed by keyboard goes on with the next question, where the button was switched off.
    if (here) queueMicrotask(() => tools.querySelector('input')?.focus({ preventScroll: true }));
    here = false;
  });
  const refuse = once(() => {
    const { refused } = view.model;
    if (refused?.command !== 'guess') return;
    wrong.say(refused.reason);
    complain(rows, refused.fields);
  });

  function draw(now: FullYours): void {
    turn.textContent = `turn ${now.turn}`;
    begin(now.turn, now.tools.join(' '), view.model.session.name);
    asked.paint(now, view.model, false);
    form.hidden = !view.live;
    saved.hidden = view.live;
    check.disabled = show.disabled = rest.disabled = view.ui.sent;
    refuse(view.model.refused);
  }

  return {
    element,
    paint(next) {
      view = next;
      element.hidden = !next.guess || !next.follow;
      if (next.guess) draw(next.guess);
    }
  };
}
