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

/** The card; the words stay in their field whatever is drawn around it. */
export class ReplyCard {
  private readonly turn = h('span', { class: 'small muted' });
  private readonly title = h('div', { class: 'tc-title' }, h('h3', {}, 'Reply as the model'), this.turn);
  private readonly hint = h('p', {}, 'Choose a tool to write a call, write a text, or both.');
  private readonly requestParts = new RequestParts(this.acts.openCallDialog);
  private readonly calls = h('ol', { class: 'tc-calls', 'aria-label': 'Your calls' });
  private readonly replyText = h('textarea', { class: 'tc-in', rows: 2, 'aria-label': 'Your words', 'data-k': 'words' });
  private readonly field = h(
    'label',
    { class: 'tc-field' },
    h('span', { class: 'tc-label' }, 'Your words ', h('span', { class: 'hint' }, 'optional beside a call')),
    this.replyText
  );
  private readonly send = h('button', { type: 'submit', class: 'tc-btn primary', 'data-k': 'send' }, 'Send');
  private readonly consequence = h('span', { class: 'small muted' });
  private readonly form = h('form', { class: 'tc-form', onsubmit: event => this.submit(event) }, this.calls, this.field, h('div', { class: 'tc-row' }, this.send, this.consequence));
  private readonly savedNote = h('p', { class: 'tc-note' }, icon('info'), h('span', {}, 'Saved copy. Run the cell to reply.'));
  private readonly parts = [this.title, this.hint, ...this.requestParts.elements, this.form, this.savedNote];
  readonly element = h('div', { class: 'tc-reply tc-replying', role: 'group', 'aria-label': 'Reply as the model' }, ...this.parts);
  private readonly callRows = keyedChildren(this.calls, writtenCall);
  private view!: ViewState;
  private shownTurn = 0;
  private hadFocus = false;

  constructor(private readonly acts: PanelActions) {}

  paint(next: ViewState): void {
    this.view = next;
    const { personTurn: yours } = next;
    if ((yours?.turn ?? 0) !== this.shownTurn) this.replyText.value = '';
    this.element.hidden = !yours || !next.followsNewest;
    if (yours) this.draw(yours);
    this.shownTurn = yours?.turn ?? 0;
  }

  private submit(event: Event): void {
    event.preventDefault();
    this.hadFocus = this.element.contains(document.activeElement);
    this.acts.send({ type: 'say', text: this.replyText.value, calls: [...(this.view.personTurn?.calls ?? [])] });
  }

  private removeCall(index: number): void {
    const rest = (this.view.personTurn?.calls ?? []).filter((_, place) => place !== index);
    this.acts.send({ type: 'draft', calls: rest, anyway: true });
  }

  private draw(yours: FullPersonTurn): void {
    const { live } = this.view;
    this.turn.textContent = `turn ${yours.turn}`;
    this.requestParts.paint(yours, this.view.model, live);
    this.callRows(
      yours.calls.map((call, index) => ({
        key: `${index}`,
        stamp: [JSON.stringify(call), live, this.view.ui.commandSent],
        item: { call, number: index + 1, live, sent: this.view.ui.commandSent, remove: () => this.removeCall(index) }
      }))
    );
    this.calls.hidden = yours.calls.length === 0;
    this.form.hidden = this.hint.hidden = !live;
    this.savedNote.hidden = live;
    this.send.disabled = this.view.ui.commandSent;
    // Who replies by keyboard goes on with the next turn, where the button was switched off.
    if (this.hadFocus && yours.turn !== this.shownTurn) queueMicrotask(() => this.element.querySelector('button')?.focus({ preventScroll: true }));
    this.hadFocus &&= yours.turn === this.shownTurn;
    this.consequence.textContent = yours.calls.length
      ? `You get the ${yours.calls.length === 1 ? 'result of the call' : `results of the ${yours.calls.length} calls`} in the next turn.`
      : 'A text without a call ends the run.';
  }
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

/** The parts of a card that show a turn before it is replied to; a click on a tool chooses it. */
export class RequestParts {
  private readonly request = h('div', { class: 'tc-cardbody' });
  private readonly heading = h('h4', { class: 'tc-part' }, 'Tools');
  private readonly tools = h('ul', { class: 'tc-tools-now', 'aria-label': 'Tools of this turn' });
  private readonly rows = keyedChildren(this.tools, (one: ToolItem) => toolItem(one, this.choose));
  private personTurn!: FullPersonTurn;
  private readonly drawRequest = whenChanged(() => {
    this.request.replaceChildren(...[promptAndResults(this.personTurn), systemText(this.personTurn)].filter(one => one instanceof Node));
  });
  /** The request, the heading of the tools, the tools: to be placed one after the other. */
  readonly elements: readonly HTMLElement[] = [this.request, this.heading, this.tools];

  constructor(private readonly choose: (tool: FullTool) => void = () => undefined) {}

  paint(turn: FullPersonTurn, model: Model, live: boolean): void {
    this.personTurn = turn;
    this.drawRequest(JSON.stringify([turn.prompt, turn.told, turn.system]));
    const known = turn.tools.flatMap(id => model.tools.get(id) ?? []);
    this.rows(known.map(tool => ({ key: tool.id, stamp: [tool, live], item: { tool, live } })));
    this.heading.hidden = this.tools.hidden = known.length === 0;
  }
}
