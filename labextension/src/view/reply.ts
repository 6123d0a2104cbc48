/** The card of a person who plays the model: what a model is sent, and the reply to it. */
import { h, keyed } from './dom';
import { button, icon } from './icons';
import type { Acts, Look } from './look';
import type { FullWritten, FullYours } from './rows';
import { sent } from './sent';
import { line, many } from './text';
import { spelled } from './write';

interface Mine {
  readonly call: FullWritten;
  readonly number: number;
  readonly live: boolean;
  readonly sent: boolean;
  remove(): void;
}

function written({ call, number, live, sent, remove }: Mine): HTMLElement {
  const label = `Remove ${line(call.tool, 80)}`;
  return h(
    'li',
    { class: 'tc-written', 'data-n': number },
    h('code', {}, spelled(call)),
    live ? button('', { icon: 'close', label, look: 'ghost icon', disabled: sent, onclick: remove }) : null
  );
}

export interface ReplyCard {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

/** The card; the words stay in their field whatever is drawn around it. */
export function reply(acts: Acts): ReplyCard {
  const turn = h('span', { class: 'small muted' });
  const title = h('div', { class: 'tc-title' }, h('h3', {}, 'Reply as the model'), turn);
  const how = h('p', {}, 'Choose a tool to write a call, say something, or both.');
  const asked = sent(acts.write);
  const calls = h('ol', { class: 'tc-calls', 'aria-label': 'Your calls' });
  const words = h('textarea', { class: 'tc-in', rows: 2, 'aria-label': 'Your words', 'data-k': 'words' });
  const field = h(
    'label',
    { class: 'tc-field' },
    h('span', { class: 'tc-label' }, 'Your words ', h('span', { class: 'hint' }, 'optional beside a call')),
    words
  );
  const send = h('button', { type: 'submit', class: 'tc-btn primary', 'data-k': 'send' }, 'Send');
  const ends = h('span', { class: 'small muted' });
  const form = h('form', { class: 'tc-form', onsubmit: submit }, calls, field, h('div', { class: 'tc-row' }, send, ends));
  const saved = h('p', { class: 'tc-note' }, icon('info'), h('span', {}, 'This is the saved session: run its cell to reply.'));
  const parts = [title, how, ...asked.elements, form, saved];
  const element = h('div', { class: 'tc-reply tc-replying', role: 'group', 'aria-label': 'Reply as the model' }, ...parts);
  const callRows = keyed(calls, written);
  let view: Look;
  let at = 0;
  let here = false;

  function submit(event: Event): void {
    event.preventDefault();
    here = element.contains(document.activeElement);
    acts.send({ type: 'say', text: words.value, calls: [...(view.yours?.calls ?? [])] });
  }
  function without(index: number): void {
    const rest = (view.yours?.calls ?? []).filter((_, place) => place !== index);
    acts.send({ type: 'draft', calls: rest, anyway: true });
  }
  function draw(yours: FullYours): void {
    const { live } = view;
    turn.textContent = `turn ${yours.turn}`;
    asked.paint(yours, view.model, live);
    callRows(
      yours.calls.map((call, index) => ({
        key: `${index}`,
        stamp: [JSON.stringify(call), live, view.ui.sent],
        item: { call, number: index + 1, live, sent: view.ui.sent, remove: () => without(index) }
      }))
    );
    calls.hidden = yours.calls.length === 0;
    form.hidden = how.hidden = !live;
    saved.hidden = live;
    send.disabled = view.ui.sent;
    // Who replies by keyboard goes on with the next turn, where the button was switched off.
    if (here && yours.turn !== at) queueMicrotask(() => element.querySelector('button')?.focus({ preventScroll: true }));
    here &&= yours.turn === at;
    ends.textContent = yours.calls.length
      ? `${many(yours.calls.length, 'call')}, and you are told what comes of ${yours.calls.length === 1 ? 'it' : 'them'}.`
      : 'Words without a call end the run.';
  }

  return {
    element,
    paint(next) {
      view = next;
      const { yours } = next;
      if ((yours?.turn ?? 0) !== at) words.value = '';
      element.hidden = !yours || !next.follow;
      if (yours) draw(yours);
      at = yours?.turn ?? 0;
    }
  };
}
