/** The tab Messages: the list of requests, and the chosen request with its reply. */
import type { MessageRow, TurnRow } from '../../generated/contract';
import { askAgainButton } from '../decisions';
import {
  afterLayout, type Child, focusInPlace, h, hasFocus, joined, mutedText, redraw, scrollIntoList, setChildren, strongText, whenChanged
} from '../dom';
import { button, folded, note } from '../icons';
import { shownPart } from '../steps';
import { formatNumber, oneLine, plural, t, textBlock, tn } from '../text';
import type { PanelActions, ViewState } from '../view_state';
import { asked, costByTurn, isReply, replyCost, requestShares, sizeOf, sizesOf, sum, type Turn, turnOf, turnsOf } from './turns';

/** The size of each request, in tokens or, if not counted, in characters. */
interface Measure {
  readonly unit: string;
  readonly of: ReadonlyMap<number, number>;
}

function measureOf(messagesTab: readonly MessageRow[], turns: readonly number[], spent: ReadonlyMap<number, TurnRow>): Measure {
  const tokens = turns.filter(turn => spent.get(turn)?.input);
  if (tokens.length === 0) return { unit: t('characters'), of: sizesOf(messagesTab, turns) };
  return { unit: t('tokens in'), of: new Map(tokens.map(turn => [turn, spent.get(turn)?.input ?? 0])) };
}

/** The totals of all requests. */
function totals(turns: readonly number[], { of }: Measure, spent: ReadonlyMap<number, TurnRow>, cost: string): Child[] {
  const all = turns.flatMap(turn => spent.get(turn) ?? []);
  const facts: readonly (readonly [string, string])[] = [
    [plural(turns.length, 'request'), formatNumber(sum(of.values()))],
    [t('from the cache'), formatNumber(sum(all.map(turn => turn.cached)))],
    [t('tokens out'), formatNumber(sum(all.map(turn => turn.output)))],
    [t('cost'), cost]
  ];
  return facts.filter(([, value]) => value && value !== '0').flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]);
}

export class MessagesTab {
  private readonly _list = h('ol', { class: 'tc-turns', label: t('Turns') });
  private readonly _unit = h('span', 'right');
  private readonly _total = h('dl', 'tc-total');
  private readonly _pageBox = h('div', 'tc-pages');
  private readonly _title = h('h3', 'tc-h', t('Requests'), this._unit);
  readonly element = h('div', 'tc-two', h('div', 'tc-pane', this._title, this._list, this._total), this._pageBox);
  private _view!: ViewState;
  private readonly _draw = whenChanged(() => {
    const { model, isPast: past } = this._view;
    const limit = past ? (this._view.calls.at(-1)?.turn ?? 1) : Infinity;
    const shown = [...model.messages.values()].filter(message => message.turn <= limit && (!past || message.step <= this._view.step));
    const ended = model.session.phase === 'finished' && !past;
    const turns = turnsOf(shown, ended);
    const chosen = this._choose(shown, turns);
    const spent = costByTurn(model);
    const measure = measureOf(shown, turns, spent);
    const tools = new Map<number, string[]>();
    for (const call of this._view.calls) tools.set(call.turn, [...(tools.get(call.turn) ?? []), call.tool]);
    const focus = hasFocus(this._list);
    const named = (turn: number): string => oneLine((tools.get(turn) ?? []).join(', '), 120);
    const [from, to] = shownPart(turns.length, turns.indexOf(chosen ?? -1));
    this._list.replaceChildren(
      ...this._further(turns[from - 1], t('Earlier turns')),
      ...turns.slice(from, to).map(turn => this._turnEntry(turn, named(turn), turn === chosen, measure.of.get(turn) ?? 0)),
      ...this._further(turns[to], t('Later turns'))
    );
    const current = this._list.querySelector<HTMLElement>('[aria-current]');
    if (focus) focusInPlace(current?.querySelector('button'));
    if (current) afterLayout(() => scrollIntoList(this._list, current));
    this._unit.textContent = turns.length ? measure.unit : '';
    setChildren(this._total, totals(turns, measure, spent, past ? '' : model.session.cost));
    this._total.hidden = turns.length < 2;
    const page =
      chosen === undefined
        ? h('p', 'tc-later', t('No messages yet.'))
        : requestPage(this._view, turnOf(shown, chosen, ended ? turns.at(-1) : undefined), spent.get(chosen), this._acts);
    redraw(this._pageBox, () => this._pageBox.replaceChildren(page));
  });

  constructor(private readonly _acts: PanelActions) {}

  paint(next: ViewState): void {
    this._view = next;
    const { model, ui } = next;
    if (ui.tab !== 'Messages') return;
    this._draw(
      model.messages, model.turns, model.calls, model.session.phase, model.session.cost, model.exactRequest, ui.shownTurn, ui.chosen, ui.commandSent,
      next.step, next.isPast
    );
  }

  /** A button to the part of the list that begins or ends with a turn. */
  private _further(turn: number | undefined, says: string): HTMLElement[] {
    return turn === undefined
      ? []
      : [h('li', {}, button(says, { look: 'ghost small', key: says, onclick: () => this._acts.setState({ shownTurn: turn }) }))];
  }

  private _turnEntry(turn: number, calls: string, chosen: boolean, took: number): HTMLElement {
    const shownTurn = (): void => this._acts.setState({ shownTurn: turn });
    const name = h('button', { class: 'turn', key: `turn ${turn}`, onclick: shownTurn }, t('Turn %1', turn));
    const size = took ? mutedText(formatNumber(took)) : null;
    return h('li', { 'aria-current': chosen ? 'true' : undefined }, name, size, h('span', 'mono', calls));
  }

  /** The chosen turn, else that of the chosen call, else the last one with a reply or waiting for one. */
  private _choose(shown: readonly MessageRow[], turns: readonly number[]): number | undefined {
    const { model, ui } = this._view;
    const call = model.calls.get(ui.chosen?.call ?? '');
    const turn = ui.shownTurn ?? (call?.branch === '' ? call.turn : 0);
    if (turns.includes(turn)) return turn;
    if (model.session.phase === 'thinking' && !this._view.isPast) return turns.at(-1);
    return turns.findLast(turn => shown.some(message => message.turn === turn && isReply(message))) ?? turns.at(-1);
  }
}

const ROLES: readonly MessageRow['role'][] = ['system', 'tools', 'user', 'session', 'assistant', 'call', 'tool'];
const roleOf = ({ role }: MessageRow): string => (ROLES.includes(role) ? role : '');

interface MessageRowProps {
  readonly look: string;
  readonly sign: string;
  readonly who: string;
  readonly body: Child;
  readonly size?: number;
}

const messageRow = ({ look, sign, who, body, size }: MessageRowProps): HTMLElement =>
  h(
    'div', { class: `tc-msg ${look}`.trim() }, h('span', 'sign', sign), h('span', 'who', who), h('div', 'body', body),
    size === undefined ? null : h('span', { class: 'size', title: plural(size, 'character') }, formatNumber(size))
  );

/** A call with its tool in bold. */
function callMessage({ text, tool }: MessageRow): HTMLElement {
  return h('span', {}, h('b', {}, textBlock(tool)), textBlock(text.slice(tool.length)));
}

function messageElement(message: MessageRow, look: string, sign: string): HTMLElement {
  const prose = message.role === 'assistant' || message.role === 'user' ? ' prose' : '';
  const body = message.role === 'call' ? callMessage(message) : textBlock(message.text);
  return messageRow({ look: look + prose, sign, who: roleOf(message), body, size: sizeOf(message) });
}

const FIRST_ROLES: readonly MessageRow['role'][] = ['system', 'tools', 'user'];

/** The first messages, one by one; tools sent later join the first tools. */
function firstMessages(old: readonly MessageRow[]): MessageRow[][] {
  const first = old.filter((message, index) => FIRST_ROLES.includes(message.role) && index < 6 && message.turn === 1);
  return first.map(head => (head.role === 'tools' ? old.filter(message => message.role === 'tools') : [head]));
}

/** Earlier messages in short: the first ones one by one, the rest in one line. */
function oldMessages(old: readonly MessageRow[]): HTMLElement[] {
  const begin = firstMessages(old);
  const others = old.filter(message => !begin.some(head => head.includes(message)));
  const same = (who: string, body: Child, of: readonly MessageRow[]): HTMLElement =>
    messageRow({ look: 'old', sign: '=', who, body, size: sum(of.map(sizeOf)) });
  const lines = begin.map(head => {
    const texts = head.map(message => message.text);
    const whole = h('div', 'tc-text', textBlock(texts.join('\n')));
    return same(head[0] ? roleOf(head[0]) : '', folded(oneLine(texts.join(' · '), 300), whole), head);
  });
  const words = others.slice(0, 40).map(message => `${roleOf(message)}: ${oneLine(message.text, 40)}`).join(' · ');
  return others.length ? [...lines, same(plural(others.length, 'message'), oneLine(words, 400), others)] : lines;
}

/** The shares of a request, as a bar and as text. */
function shareBar(turn: Turn): HTMLElement {
  const parts = requestShares(turn);
  const bar = h('div', { class: 'bar', silent: 'true' });
  for (const [part, size] of parts) {
    const piece = h('i', part);
    piece.style.flexGrow = String(size);
    bar.append(piece);
  }
  const words = parts.map(([part, size]) =>
    h('span', part, h('i', { class: part, silent: 'true' }), `${t(part)} ${formatNumber(size)}`)
  );
  return h(
    'div', { class: 'tc-share', role: 'group', label: t('What fills the request') }, bar,
    h('div', 'small muted', ...words, h('span', {}, t('characters')))
  );
}

/** The exact request if it was requested, else the button for it. */
function exactRequest(view: ViewState, turn: number, acts: PanelActions): { readonly text: Child; readonly way: Child } {
  if (!view.live) return { text: null, way: null };
  const shown = view.model.exactRequest?.turn === turn ? view.model.exactRequest.text : null;
  if (shown !== null) {
    const text = h('pre', { class: 'tc-text tc-exact', tabindex: 0, label: t('Exact request'), key: 'exact' }, shown);
    return { text: Object.assign(folded(t('Exact request'), text), { open: true }), way: null };
  }
  const ask = (): void => acts.send({ type: 'show_request', turn });
  return { text: null, way: button(t('Exact request'), { look: 'small right', onclick: ask, key: 'exact' }) };
}

/** The warning above a stale reply, with the button that asks again. */
function staleWarning(view: ViewState, turn: Turn, acts: PanelActions): Child[] {
  if (!turn.reply.some(message => message.stale)) return [];
  return [
    h(
      'div', 'tc-row tc-warned', note(t('Outdated: the model wrote this before the results changed.')),
      askAgainButton(view, turn.turn, acts)
    )
  ];
}

/** A heading with an aside. */
const heading = (look: string, title: Child, aside: string, ...more: Child[]): HTMLElement =>
  h('div', { class: `tc-row tc-subhead ${look}`.trim() }, title, aside ? mutedText(oneLine(aside, 160)) : null, ...more);

/** Why a request has no reply. */
function noReplyText(view: ViewState): string {
  const { phase } = view.model.session;
  if (phase === 'thinking' && !view.isPast) return t('No reply yet.');
  return phase === 'failed' ? t('The model did not reply.') : t('This request is not sent yet.');
}

function replyRows(view: ViewState, turn: Turn, spent: TurnRow | undefined, acts: PanelActions): Child[] {
  if (turn.reply.length === 0) return [heading('', h('span', 'muted', noReplyText(view)), '')];
  const tried = (spent?.attempts ?? []).map(said => messageRow({ look: 'old', sign: '!', who: t('failed attempt'), body: textBlock(said, 300) }));
  return [
    ...tried,
    heading('', strongText(t('Reply in turn %1', turn.turn)), replyCost(spent, t('cost unknown'))),
    ...staleWarning(view, turn, acts),
    ...turn.reply.map(message => messageElement(message, message.stale ? 'stale' : '', ''))
  ];
}

/** The results after the last reply, which no request contains. */
const resultsAfter = (turn: Turn): Child[] =>
  turn.after.length
    ? [
        heading('', strongText(t('Results')), t('not sent to the model: the session ended')),
        ...turn.after.map(message => messageElement(message, '', ''))
      ]
    : [];

/** The page of a request; `spent` are its tokens, cost and time. */
function requestPage(view: ViewState, turn: Turn, spent: TurnRow | undefined, acts: PanelActions): HTMLElement {
  const exact = exactRequest(view, turn.turn, acts);
  const since =
    turn.turn > 1
      ? tn('%1 new message since turn %2', '%1 new messages since turn %2', turn.fresh.length, turn.turn - 1)
      : plural(turn.fresh.length, 'part');
  return h(
    'div', 'tc-request', heading('first', strongText(t('Request in turn %1', turn.turn)), joined(' · ', asked(spent), since), exact.way),
    exact.text, shareBar(turn), ...oldMessages(turn.old), ...turn.fresh.map(message => messageElement(message, 'new', '+')),
    ...replyRows(view, turn, spent, acts), ...resultsAfter(turn)
  );
}
