/** The requests of a conversation: old and new messages, replies, sizes and costs. */
import type { MessageRow, TurnRow } from '../../generated/contract';
import { joined } from '../dom';
import type { Model } from '../model';
import { formatDuration, t, tableText } from '../text';

export const isReply = (message: MessageRow): boolean => message.role === 'assistant' || message.role === 'call';

export interface Turn {
  readonly turn: number;
  readonly old: readonly MessageRow[];
  readonly fresh: readonly MessageRow[];
  readonly reply: readonly MessageRow[];
  /** Results after the last reply of an ended session; no request contains them. */
  readonly after: readonly MessageRow[];
}

/** Order in a request: system text, tools, then the rest. */
const rank = (message: MessageRow): number =>
  message.turn > 1 ? 2 : message.role === 'system' ? 0 : message.role === 'tools' ? 1 : 2;

/** The request of a turn: earlier messages, new ones, and the reply; `end` is the last turn. */
export function turnOf(messages: readonly MessageRow[], turn: number, end = Infinity): Turn {
  const requestCost = messages.filter(message => (isReply(message) ? message.turn < turn : message.turn <= turn));
  requestCost.sort((a, b) => rank(a) - rank(b));
  const isFresh = (message: MessageRow): boolean => message.turn === (isReply(message) ? turn - 1 : turn);
  return {
    turn,
    old: requestCost.filter(message => !isFresh(message)),
    fresh: requestCost.filter(isFresh),
    reply: messages.filter(message => isReply(message) && message.turn === turn),
    after: turn === end ? messages.filter(message => message.turn > end) : []
  };
}

/** The turns with a request, in order. */
export function turnsOf(messages: readonly MessageRow[], ended: boolean): number[] {
  const last = ended ? messages.findLast(isReply)?.turn : undefined;
  const turns = new Set(messages.map(message => message.turn));
  return [...turns].filter(turn => turn > 0 && turn <= (last ?? Infinity)).sort((a, b) => a - b);
}

/** The characters of a message in the request. */
export const sizeOf = (message: MessageRow): number => message.size || message.text.length;

export const sum = (numbers: Iterable<number>): number => [...numbers].reduce((all, one) => all + one, 0);

const PARTS = [tableText('system'), tableText('tools'), tableText('earlier'), tableText('new')] as const;
type Part = (typeof PARTS)[number];

/** The share that a message belongs to. In the first request only the prompt counts as new. */
function partOf(message: MessageRow, fresh: boolean): Part {
  if (fresh && message.turn > 1) return 'new';
  if (message.role === 'system' || message.role === 'tools') return message.role;
  return fresh ? 'new' : 'earlier';
}

/** The shares of a request in characters, in order, without empty ones. */
export function requestShares({ old, fresh }: Turn): (readonly [Part, number])[] {
  const sizes = new Map<Part, number>(PARTS.map(part => [part, 0]));
  const put = (is: boolean) => (message: MessageRow) => {
    const part = partOf(message, is);
    sizes.set(part, (sizes.get(part) ?? 0) + sizeOf(message));
  };
  old.forEach(put(false));
  fresh.forEach(put(true));
  return [...sizes].filter(([, size]) => size > 0);
}

/** The characters of each request, including all earlier messages. */
export function sizesOf(messages: readonly MessageRow[], turns: readonly number[]): Map<number, number> {
  const grown = new Map<number, number>();
  for (const message of messages) {
    const turn = message.turn + (isReply(message) ? 1 : 0);
    grown.set(turn, (grown.get(turn) ?? 0) + sizeOf(message));
  }
  let size = 0;
  return new Map(turns.map(turn => [turn, (size += grown.get(turn) ?? 0)]));
}

/** What the requests took, by turn. */
export const costByTurn = (model: Model): ReadonlyMap<number, TurnRow> =>
  new Map([...model.turns.values()].map(turn => [turn.turn, turn]));

/** The tokens of a request and their cached share; empty if not counted. */
export function asked(turn: TurnRow | undefined): string {
  if (!turn?.input) return '';
  const share = turn.cached > 0 ? t(' (%1 % cached)', Math.round((100 * turn.cached) / turn.input)) : '';
  return t('%1 tokens in', turn.input) + share;
}

/** Tokens, cost and time of a reply, as far as known. */
export function replyCost(turn: TurnRow | undefined, unknown: string): string {
  if (!turn) return '';
  const time = turn.ms >= 100 ? formatDuration(turn.ms) : '';
  const tokens = turn.output && t('%1 tokens out', turn.output);
  const cost = turn.cost ? t('%1 in all', turn.cost) : (turn.input || turn.output ? unknown : '');
  return joined(' · ', tokens, cost, time);
}
