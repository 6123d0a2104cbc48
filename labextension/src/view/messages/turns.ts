/** The conversation, request by request: what each sent anew, what came back, how large it is. Only pure functions live here. */
import type { Model } from '../model';
import type { FullMessage, FullTurn } from '../rows';
import { formatNumber } from '../text';

export const isReply = (message: FullMessage): boolean => message.role === 'assistant' || message.role === 'call';

export interface Turn {
  readonly turn: number;
  readonly old: readonly FullMessage[];
  readonly fresh: readonly FullMessage[];
  readonly reply: readonly FullMessage[];
  /** What came of the last reply of a session that has ended: no request has told it. */
  readonly after: readonly FullMessage[];
}

/** In a request the instructions stand first, whenever they were written down. */
const rank = (message: FullMessage): number =>
  message.turn > 1 ? 2 : message.role === 'system' ? 0 : message.role === 'tools' ? 1 : 2;

/** The request of a turn: what stood in earlier ones, what is new, and the reply; `end` is the last turn. */
export function turnOf(messages: readonly FullMessage[], turn: number, end = Infinity): Turn {
  const requestCost = messages.filter(message => (isReply(message) ? message.turn < turn : message.turn <= turn));
  requestCost.sort((a, b) => rank(a) - rank(b));
  const isFresh = (message: FullMessage): boolean => message.turn === (isReply(message) ? turn - 1 : turn);
  return {
    turn,
    old: requestCost.filter(message => !isFresh(message)),
    fresh: requestCost.filter(isFresh),
    reply: messages.filter(message => isReply(message) && message.turn === turn),
    after: turn === end ? messages.filter(message => message.turn > end) : []
  };
}

/** The turns that there are: what came of the last reply of a session that has ended is no request. */
export function turnsOf(messages: readonly FullMessage[], ended: boolean): number[] {
  const last = ended ? messages.findLast(isReply)?.turn : undefined;
  const turns = new Set(messages.map(message => message.turn));
  return [...turns].filter(turn => turn > 0 && turn <= (last ?? Infinity)).sort((a, b) => a - b);
}

/** How many characters a message has in the request. */
export const sizeOf = (message: FullMessage): number => message.size || message.text.length;

export const sum = (numbers: Iterable<number>): number => [...numbers].reduce((all, one) => all + one, 0);

const PARTS = ['system', 'tools', 'earlier', 'new'] as const;
type Part = (typeof PARTS)[number];

/** What is new counts as new; in the first request, where all is new, only what was asked. */
function partOf(message: FullMessage, fresh: boolean): Part {
  if (fresh && message.turn > 1) return 'new';
  if (message.role === 'system' || message.role === 'tools') return message.role;
  return fresh ? 'new' : 'earlier';
}

/** What fills a request, in characters, in the order in which it is sent; what is empty is left out. */
export function requestShares({ old, fresh }: Turn): (readonly [Part, number])[] {
  const sizes = new Map<Part, number>(PARTS.map(part => [part, 0]));
  const put = (is: boolean) => (message: FullMessage) => {
    const part = partOf(message, is);
    sizes.set(part, (sizes.get(part) ?? 0) + sizeOf(message));
  };
  old.forEach(put(false));
  fresh.forEach(put(true));
  return [...sizes].filter(([, size]) => size > 0);
}

/** How many characters each request has: each holds all that came before it. */
export function sizesOf(messages: readonly FullMessage[], turns: readonly number[]): Map<number, number> {
  const grown = new Map<number, number>();
  for (const message of messages) {
    const turn = message.turn + (isReply(message) ? 1 : 0);
    grown.set(turn, (grown.get(turn) ?? 0) + sizeOf(message));
  }
  let size = 0;
  return new Map(turns.map(turn => [turn, (size += grown.get(turn) ?? 0)]));
}

/** What the requests took, by turn. */
export const costByTurn = (model: Model): ReadonlyMap<number, FullTurn> =>
  new Map([...model.turns.values()].map(turn => [turn.turn, turn]));

/** The tokens of a request, and the share that a cache served; "" where nobody counted. */
export function asked(turn: FullTurn | undefined): string {
  if (!turn?.input) return '';
  const share = turn.cached > 0 ? ` (${Math.round((100 * turn.cached) / turn.input)} % cached)` : '';
  return `${formatNumber(turn.input)} tokens in${share}`;
}

/** What a reply took, as far as it is known: its tokens, the money for it and its request, time. */
export function replyCost(turn: FullTurn | undefined, unknown: string): string {
  if (!turn) return '';
  const time = turn.ms >= 100 ? `${(turn.ms / 1000).toFixed(1)} s` : '';
  const tokens = turn.output ? `${formatNumber(turn.output)} tokens out` : '';
  const cost = turn.cost ? `${turn.cost} in all` : (turn.input || turn.output ? unknown : '');
  return [tokens, cost, time].filter(part => part !== '').join(' · ');
}
