/** The card of a person who plays the model: the request, and the form for the reply. */
import { callText } from './dialogs';
import { type Child, h, keyedChildren, whenChanged } from './dom';
import { button, icon } from './icons';
import type { Model } from './model';
import type { FullPersonTurn, FullToldResult, FullTool, FullWrittenCall } from './rows';
import { oneLine, textBlock } from './text';
import type { PanelActions, ViewState } from './view_state';

interface WrittenCall {
  readonly call: FullWrittenCall;
  readonly number: number;
  readonly live: boolean;
  readonly sent: boolean;
  remove(): void;
}

function writtenCall({ call, number, live, sent, remove }: WrittenCall): HTMLElement {
  const label = `Remove ${oneLine(call.tool, 80)}`;
  return h(
    'li',
    { class: 'tc-written', 'data-n': number },
    h('code', {}, callText(call)),
    live ? button('', { icon: 'close', label, look: 'ghost icon', disabled: sent, onclick: remove }) : null
  );
}

export interface ReplyCard {
  readonly element: HTMLElement;
  paint(view: ViewState): void;
}

/** The card; the words stay in their field whatever is drawn around it. */
export function replyCard(acts: PanelActions): ReplyCard {
  const turn = h('span', { class: 'small muted' });
  const title = h('div', { class: 'tc-title' }, h('h3', {}, 'Reply as the model'), turn);
  const how = h('p', {}, 'Choose a tool to write a call, write a text, or both.');
  const asked = requestParts(acts.openCallDialog);
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
  const saved = h('p', { class: 'tc-note' }, icon('info'), h('span', {}, 'Saved copy. Run the cell to reply.'));
  const parts = [title, how, ...asked.elements, form, saved];
  const element = h('div', { class: 'tc-reply tc-replying', role: 'group', 'aria-label': 'Reply as the model' }, ...parts);
  const callRows = keyedChildren(calls, writtenCall);
  let view: ViewState;
  let at = 0;
  let here = false;

  function submit(event: Event): void {
    event.preventDefault();
    here = element.contains(document.activeElement);
    acts.send({ type: 'say', text: words.value, calls: [...(view.personTurn?.calls ?? [])] });
  }
  function without(index: number): void {
    const rest = (view.personTurn?.calls ?? []).filter((_, place) => place !== index);
    acts.send({ type: 'draft', calls: rest, anyway: true });
  }
  function draw(yours: FullPersonTurn): void {
    const { live } = view;
    turn.textContent = `turn ${yours.turn}`;
    asked.paint(yours, view.model, live);
    callRows(
      yours.calls.map((call, index) => ({
        key: `${index}`,
        stamp: [JSON.stringify(call), live, view.ui.commandSent],
        item: { call, number: index + 1, live, sent: view.ui.commandSent, remove: () => without(index) }
      }))
    );
    calls.hidden = yours.calls.length === 0;
    form.hidden = how.hidden = !live;
    saved.hidden = live;
    send.disabled = view.ui.commandSent;
    // Who replies by keyboard goes on with the next turn, where the button was switched off.
    if (here && yours.turn !== at) queueMicrotask(() => element.querySelector('button')?.focus({ preventScroll: true }));
    here &&= yours.turn === at;
    ends.textContent = yours.calls.length
      ? `You get the ${yours.calls.length === 1 ? 'result of the call' : `results of the ${yours.calls.length} calls`} in the next turn.`
      : 'A text without a call ends the run.';
  }

  return {
    element,
    paint(next) {
      view = next;
      const { personTurn: yours } = next;
      if ((yours?.turn ?? 0) !== at) words.value = '';
      element.hidden = !yours || !next.followsNewest;
      if (yours) draw(yours);
      at = yours?.turn ?? 0;
    }
  };
}

const monoText = (words: string, look = ''): HTMLElement => h('span', { class: `tc-words ${look}`.trim() }, textBlock(words));

function toldResult(one: FullToldResult): HTMLElement[] {
  const from = one.tool ? oneLine(one.tool, 60) : 'told';
  const body = monoText(one.text, 'mono');
  return [
    h('dt', { title: from }, one.step ? `${one.step} ` : '', from),
    h('dd', one.error ? { class: 'bad' } : {}, one.error ? icon('failed') : null, body)
  ];
}

/** What was asked, and what the model is told since it spoke last. */
function promptAndResults(turn: FullPersonTurn): HTMLElement {
  const asked = [h('dt', {}, 'prompt'), h('dd', {}, monoText(turn.prompt))];
  return h('dl', { class: 'tc-args tc-heard' }, ...asked, ...turn.told.flatMap(toldResult));
}

function systemText(turn: FullPersonTurn): Child {
  if (!turn.system) return null;
  const summary = h('summary', {}, icon('down'), 'System text');
  return h('details', { class: 'tc-more' }, summary, h('pre', { class: 'tc-text', tabindex: 0 }, textBlock(turn.system)));
}

interface ToolItem {
  readonly tool: FullTool;
  readonly live: boolean;
}

function toolItem({ tool, live }: ToolItem, choose: (tool: FullTool) => void): HTMLElement {
  const name = oneLine(tool.id, 120);
  const label = live
    ? h('button', { type: 'button', class: 'tool', 'data-k': `tool ${tool.id}`, onclick: () => choose(tool) }, name)
    : h('code', { class: 'tool' }, name);
  const about = h('span', { class: 'about' }, textBlock(tool.description.trim(), 20_000));
  return h('li', { class: live ? 'tc-tool live' : 'tc-tool' }, label, about);
}

export interface RequestParts {
  /** The request, the heading of the tools, the tools: to be placed one after the other. */
  readonly elements: readonly HTMLElement[];
  paint(turn: FullPersonTurn, model: Model, live: boolean): void;
}

/** The parts of a card that show a turn before it is replied to; a click on a tool chooses it. */
export function requestParts(choose: (tool: FullTool) => void = () => undefined): RequestParts {
  const request = h('div', { class: 'tc-cardbody' });
  const heading = h('h4', { class: 'tc-part' }, 'Tools');
  const tools = h('ul', { class: 'tc-tools-now', 'aria-label': 'Tools of this turn' });
  const rows = keyedChildren(tools, (one: ToolItem) => toolItem(one, choose));
  let now: FullPersonTurn;
  const drawRequest = whenChanged(() => {
    request.replaceChildren(...[promptAndResults(now), systemText(now)].filter(one => one instanceof Node));
  });
  return {
    elements: [request, heading, tools],
    paint(turn, model, live) {
      now = turn;
      drawRequest(JSON.stringify([turn.prompt, turn.told, turn.system]));
      const known = turn.tools.flatMap(id => model.tools.get(id) ?? []);
      rows(known.map(tool => ({ key: tool.id, stamp: [tool, live], item: { tool, live } })));
      heading.hidden = tools.hidden = known.length === 0;
    }
  };
}
