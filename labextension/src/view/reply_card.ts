/** The card of a person who plays the model: the request, and the form for the reply. */
import type { Told, ToolRow, Written, YourTurn } from '../generated/contract';
import { callText } from './dialogs';
import { type Child, focusInPlace, h, hasFocus, joined, keyedChildren, mutedText, scrollingText, setChildren, whenChanged } from './dom';
import { labelledField } from './fields';
import { button, folded, icon } from './icons';
import type { Model } from './model';
import { oneLine, t, textBlock, tn } from './text';
import type { PanelActions, ViewState } from './view_state';

interface WrittenCall {
  readonly call: Written;
  readonly number: number;
  readonly live: boolean;
  readonly sent: boolean;
  remove(): void;
}

function writtenCall({ call, number, live, sent, remove }: WrittenCall): HTMLElement {
  const label = t('Remove %1', oneLine(call.tool, 80));
  return h(
    'li', { class: 'tc-written', 'data-n': number }, h('code', {}, callText(call)),
    live ? button('', { icon: 'close', label, look: 'ghost icon', disabled: sent, onclick: remove }) : null
  );
}

/** The card; a redraw keeps the text in its field. */
export class ReplyCard {
  private readonly _turn = mutedText();
  private readonly _title = h('div', 'tc-title', h('h3', {}, t('Reply as the model')), this._turn);
  private readonly _hint = h('p', {}, t('Choose a tool to write a call, write a text, or both.'));
  private readonly _requestParts = new RequestParts(tool => this._acts.openCallDialog(tool, this._replyText.value));
  private readonly _calls = h('ol', { class: 'tc-calls', label: t('Your calls') });
  private readonly _replyText = h('textarea', { class: 'tc-in', rows: 2, label: t('Your words'), key: 'words' });
  private readonly _field = labelledField(t('Your words'), t('optional beside a call'), this._replyText);
  private readonly _send = button(t('Send'), { type: 'submit', look: 'primary', key: 'send' });
  private readonly _consequence = mutedText();
  private readonly _form = h(
    'form', { class: 'tc-form', onsubmit: () => this._submit() }, this._calls, this._field,
    h('div', 'tc-row', this._send, this._consequence)
  );
  private readonly _parts = [this._title, this._hint, ...this._requestParts.elements, this._form];
  readonly element = h('div', { class: 'tc-reply tc-replying', role: 'group', label: t('Reply as the model') }, ...this._parts);
  private readonly _callRows = keyedChildren(this._calls, writtenCall);
  private _view!: ViewState;
  private _shownTurn = 0;
  private _hadFocus = false;

  constructor(private readonly _acts: PanelActions) {}

  paint(next: ViewState): void {
    this._view = next;
    const { personTurn: yours } = next;
    if ((yours?.turn ?? 0) !== this._shownTurn) this._replyText.value = '';
    this.element.hidden = !yours || !next.followsNewest;
    if (yours) this._draw(yours);
    this._shownTurn = yours?.turn ?? 0;
  }

  private _submit(): void {
    this._hadFocus = hasFocus(this.element);
    this._acts.send({ type: 'say', text: this._replyText.value, calls: [...(this._view.personTurn?.calls ?? [])] });
  }

  private _removeCall(index: number): void {
    const calls = (this._view.personTurn?.calls ?? []).filter((_, place) => place !== index);
    this._acts.send({ type: 'draft', calls, anyway: true });
  }

  private _draw(yours: YourTurn): void {
    const { live } = this._view;
    this._turn.textContent = t('turn %1', yours.turn);
    this._requestParts.paint(yours, this._view.model, live);
    this._callRows(
      yours.calls.map((call, index) => ({
        key: `${index}`,
        stamp: [JSON.stringify(call), live, this._view.ui.commandSent],
        item: { call, number: index + 1, live, sent: this._view.ui.commandSent, remove: () => this._removeCall(index) }
      }))
    );
    this._calls.hidden = yours.calls.length === 0;
    this._form.hidden = this._hint.hidden = !live;
    this._send.disabled = this._view.ui.commandSent;
    // A person who replies by keyboard continues in the next turn.
    if (this._hadFocus && yours.turn !== this._shownTurn) queueMicrotask(() => focusInPlace(this.element.querySelector('button')));
    this._hadFocus &&= yours.turn === this._shownTurn;
    this._consequence.textContent = yours.calls.length
      ? tn('You get the result of the call in the next turn.', 'You get the results of the %1 calls in the next turn.', yours.calls.length)
      : t('A text without a call ends the run.');
  }
}

const monoText = (words: string, look = ''): HTMLElement => h('span', { class: `tc-words ${look}`.trim() }, textBlock(words));

function toldResult(one: Told, model: Model): HTMLElement[] {
  const from = one.tool ? oneLine(one.tool, 60) : t('result');
  const body = monoText(one.text, 'mono');
  // The text is what the model sees. What the named object is stands beside it for the person.
  const call = one.step ? [...model.calls.values()].find(({ step, branch }) => step === one.step && branch === '') : undefined;
  const about = joined(' · ', model.objects.get(call?.object ?? '')?.preview.caption ?? '', call?.change ?? '');
  return [
    h('dt', { title: from }, one.step ? `${one.step} ` : '', from),
    h('dd', one.error ? { class: 'bad' } : {}, one.error ? icon('failed') : null, body, about ? mutedText(oneLine(about, 160)) : null)
  ];
}

/** The prompt, and the results since the last reply. */
function promptAndResults(turn: YourTurn, model: Model): HTMLElement {
  const asked = [h('dt', {}, t('prompt')), h('dd', {}, monoText(turn.prompt))];
  return h('dl', 'tc-args tc-heard', ...asked, ...turn.told.flatMap(one => toldResult(one, model)));
}

const systemText = ({ system }: YourTurn): Child => (system ? folded(t('System text'), scrollingText(textBlock(system))) : null);

function toolItem(tool: ToolRow, live: boolean, choose: (tool: ToolRow) => void): HTMLElement {
  const name = oneLine(tool.id, 120);
  const label = live
    ? h('button', { class: 'tool', key: `tool ${tool.id}`, onclick: () => choose(tool) }, name)
    : h('code', 'tool', name);
  const about = h('span', 'about', textBlock(tool.description.trim(), 20_000));
  return h('li', { class: live ? 'tc-tool live' : 'tc-tool' }, label, about);
}

/** The parts of a request that a person replies to: prompt, results, system text and tools. */
export class RequestParts {
  private readonly _request = h('div', 'tc-cardbody');
  private readonly _heading = h('h4', 'tc-part', t('Tools'));
  private readonly _tools = h('ul', { class: 'tc-tools-now', label: t('Tools of this turn') });
  private readonly _rows = keyedChildren(this._tools, ([tool, live]: readonly [ToolRow, boolean]) => toolItem(tool, live, this._choose));
  private _personTurn!: YourTurn;
  private _model!: Model;
  private readonly _drawRequest = whenChanged(() => {
    setChildren(this._request, [promptAndResults(this._personTurn, this._model), systemText(this._personTurn)]);
  });
  /** The request, the heading of the tools, and the tools, in order. */
  readonly elements: readonly HTMLElement[] = [this._request, this._heading, this._tools];

  constructor(private readonly _choose: (tool: ToolRow) => void = () => undefined) {}

  paint(turn: YourTurn, model: Model, live: boolean): void {
    [this._personTurn, this._model] = [turn, model];
    this._drawRequest(JSON.stringify([turn.prompt, turn.told, turn.system]));
    const tools = turn.tools.flatMap(id => model.tools.get(id) ?? []);
    this._rows(tools.map(tool => ({ key: tool.id, stamp: [tool, live], item: [tool, live] as const })));
    this._heading.hidden = this._tools.hidden = tools.length === 0;
  }
}
