/** The card of a person who plays the model: what a model is sent, and the reply to it. */
import { h, keyed, once, type Child } from './dom';
import { button, icon } from './icons';
import type { Acts, Look } from './look';
import type { FullTold, FullTool, FullWritten, FullYours } from './rows';
import { block, line, many } from './text';
import { spelled } from './write';

const text = (words: string, look = ''): HTMLElement => h('span', { class: `tc-words ${look}`.trim() }, block(words));

function told(one: FullTold): HTMLElement[] {
  const from = one.tool ? line(one.tool, 60) : 'told';
  const body = text(one.text, 'mono');
  return [
    h('dt', { title: from }, one.step ? `${one.step} ` : '', from),
    h('dd', one.error ? { class: 'bad' } : {}, one.error ? icon('failed') : null, body)
  ];
}

/** What was asked, and what the model is told since it spoke last. */
function heard(yours: FullYours): HTMLElement {
  const asked = [h('dt', {}, 'prompt'), h('dd', {}, text(yours.prompt))];
  return h('dl', { class: 'tc-args tc-heard' }, ...asked, ...yours.told.flatMap(told));
}

function system(yours: FullYours): Child {
  if (!yours.system) return null;
  const summary = h('summary', {}, icon('down'), 'System text');
  return h('details', { class: 'tc-more' }, summary, h('pre', { class: 'tc-text', tabindex: 0 }, block(yours.system)));
}

function toolItem({ tool, live }: { tool: FullTool; live: boolean }, acts: Acts): HTMLElement {
  const name = line(tool.id, 120);
  const label = live
    ? h('button', { type: 'button', class: 'tool', 'data-k': `tool ${tool.id}`, onclick: () => acts.write(tool) }, name)
    : h('code', { class: 'tool' }, name);
  const about = h('span', { class: 'about' }, block(tool.description.trim(), 20_000));
  return h('li', { class: live ? 'tc-tool live' : 'tc-tool' }, label, about);
}

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
  const request = h('div', { class: 'tc-cardbody' });
  const heading = h('h4', { class: 'tc-part' }, 'Tools');
  const tools = h('ul', { class: 'tc-tools-now', 'aria-label': 'Tools of this turn' });
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
  const form = h('form', { class: 'tc-form', onsubmit: submit }, field, h('div', { class: 'tc-row' }, send, ends));
  const saved = h('p', { class: 'tc-note' }, icon('info'), h('span', {}, 'This is the saved session: run its cell to reply.'));
  const parts = [title, how, request, heading, tools, calls, form, saved];
  const element = h('div', { class: 'tc-reply', role: 'group', 'aria-label': 'Reply as the model' }, ...parts);
  const toolRows = keyed(tools, (item: { tool: FullTool; live: boolean }) => toolItem(item, acts));
  const callRows = keyed(calls, written);
  let view: Look;
  let at = 0;

  function submit(event: Event): void {
    event.preventDefault();
    acts.send({ type: 'say', text: words.value, calls: [...(view.yours?.calls ?? [])] });
  }
  function without(index: number): void {
    const rest = (view.yours?.calls ?? []).filter((_, place) => place !== index);
    acts.send({ type: 'draft', calls: rest, anyway: true });
  }
  const drawRequest = once(() => {
    if (view.yours) request.replaceChildren(...[heard(view.yours), system(view.yours)].filter(one => one instanceof Node));
  });

  function draw(yours: FullYours): void {
    const { live } = view;
    turn.textContent = `turn ${yours.turn}`;
    drawRequest(JSON.stringify([yours.prompt, yours.told, yours.system]));
    const known = yours.tools.flatMap(id => view.model.tools.get(id) ?? []);
    toolRows(known.map(tool => ({ key: tool.id, stamp: [tool, live], item: { tool, live } })));
    heading.hidden = tools.hidden = known.length === 0;
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
      at = yours?.turn ?? 0;
      element.hidden = !yours || !next.follow;
      if (yours) draw(yours);
    }
  };
}
