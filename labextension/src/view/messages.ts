/** The conversation, request by request: what each sent anew, and what came back. */
import { h, once, type Child } from './dom';
import { anew } from './decide';
import { button, icon } from './icons';
import type { Acts, Look } from './look';
import type { FullMessage, FullTurn } from './rows';
import { block, line, many } from './text';
import { trans } from './words';

const isReply = (message: FullMessage): boolean => message.role === 'assistant' || message.role === 'call';

export interface Turn {
  readonly turn: number;
  readonly old: readonly FullMessage[];
  readonly fresh: readonly FullMessage[];
  readonly reply: readonly FullMessage[];
}

/** In a request the instructions stand first, whenever they were written down. */
const rank = (message: FullMessage): number =>
  message.turn > 1 ? 2 : message.role === 'system' ? 0 : message.role === 'tools' ? 1 : 2;

/** The request of a turn: what stood in earlier ones, what is new, and the reply. */
export function turnOf(messages: readonly FullMessage[], turn: number): Turn {
  const asked = messages.filter(message => (isReply(message) ? message.turn < turn : message.turn <= turn));
  asked.sort((a, b) => rank(a) - rank(b));
  const isFresh = (message: FullMessage): boolean => message.turn === (isReply(message) ? turn - 1 : turn);
  return {
    turn,
    old: asked.filter(message => !isFresh(message)),
    fresh: asked.filter(isFresh),
    reply: messages.filter(message => isReply(message) && message.turn === turn)
  };
}

const WHO: Readonly<Record<FullMessage['role'], string>> = {
  system: 'system',
  tools: 'tools',
  user: 'user',
  session: 'session',
  assistant: 'assistant',
  call: 'call',
  tool: 'tool'
};

function row(look: string, sign: string, who: string, body: Child, prose = false): HTMLElement {
  return h(
    'div',
    { class: `tc-msg ${look}`.trim() },
    h('span', { class: 'sign' }, sign),
    h('span', { class: 'who' }, who),
    h('div', { class: prose ? 'body prose' : 'body' }, body)
  );
}

/** A call as it was written, its tool first to the eye. */
function called(text: string): HTMLElement {
  const at = Math.max(0, text.indexOf('('));
  return h('span', {}, h('b', {}, block(text.slice(0, at))), block(text.slice(at)));
}

function whole(message: FullMessage, look: string, sign: string): HTMLElement {
  return row(
    look,
    sign,
    WHO[message.role] ?? '',
    message.role === 'call' ? called(message.text) : block(message.text),
    message.role === 'assistant' || message.role === 'user'
  );
}

const HEADS: readonly FullMessage['role'][] = ['system', 'tools', 'user'];

/** What is not new keeps a quiet line: the beginning one by one, the rest together. */
function quiet(old: readonly FullMessage[]): HTMLElement[] {
  const head = old.filter((message, index) => HEADS.includes(message.role) && index < 6 && message.turn === 1);
  const rest = old.filter(message => !head.includes(message));
  const words = rest.map(message => `${WHO[message.role] ?? ''}: ${line(message.text, 40)}`).join(' · ');
  const lines = head.map(message => row('old', '=', WHO[message.role] ?? '', line(message.text, 300)));
  return rest.length ? [...lines, row('old', '=', many(rest.length, 'message'), line(words, 400))] : lines;
}

const amount = (count: number): string => count.toLocaleString('en-US');

/** What a request took, as far as it is known: tokens, the share of a cache, money, time. */
export function took(turn: FullTurn | undefined): string {
  if (!turn) return '';
  const share = turn.cached > 0 && turn.input > 0 ? ` (${Math.round((100 * turn.cached) / turn.input)} % cached)` : '';
  const tokens = turn.input || turn.output ? `${amount(turn.input)} in${share}, ${amount(turn.output)} out` : '';
  const time = turn.ms >= 100 ? `${(turn.ms / 1000).toFixed(1)} s` : '';
  const cost = turn.cost || (tokens ? trans.__('cost unknown') : '');
  return [tokens, cost, time].filter(part => part !== '').join(' · ');
}

/** The request's text where it was asked for, else the button that asks. */
interface Exact {
  readonly text: Child;
  readonly way: Child;
}

/** The request as it goes to the model, where it was asked for; else the way to it. */
function exactly(view: Look, turn: number, acts: Acts): Exact {
  if (!view.live) return { text: null, way: null };
  const shown = view.model.shown?.turn === turn ? view.model.shown.text : null;
  if (shown !== null)
    return { text: h('pre', { class: 'tc-text tc-exact', tabindex: 0, 'aria-label': trans.__('Exact request') }, shown), way: null };
  const ask = (): void => acts.send({ type: 'show_request', turn });
  return { text: null, way: button(trans.__('Exact request'), { look: 'ghost small right', onclick: ask, key: 'exact' }) };
}

const STALE = 'What it replied to reads otherwise now: it may be stale.';

/** What stands above a reply to results that have changed since, and the way on from there. */
function warning(view: Look, turn: Turn, acts: Acts): Child[] {
  if (!turn.reply.some(message => message.stale)) return [];
  const said = h('p', { class: 'tc-note' }, icon('info'), h('span', {}, STALE));
  return [h('div', { class: 'tc-row tc-warned' }, said, anew(view, turn.turn, true, acts))];
}

interface Beside {
  readonly spent: FullTurn | undefined;
  readonly thinking: boolean;
  readonly exact: Exact;
  readonly warning: readonly Child[];
}

function page(turn: Turn, { spent, thinking, exact, warning }: Beside): HTMLElement {
  const since =
    turn.turn > 1
      ? `since request ${turn.turn - 1}: ${many(turn.fresh.length, 'message')} more`
      : `${many(turn.fresh.length, 'part')}`;
  const tried = (spent?.attempts ?? []).map(said => row('old', '!', 'tried', line(said, 300)));
  const reply = turn.reply.length
    ? [
        ...tried,
        h(
          'div',
          { class: 'tc-row tc-subhead' },
          h('span', { class: 'strong' }, `Reply ${turn.turn}`),
          h('span', { class: 'muted small' }, line(took(spent), 120))
        ),
        ...warning,
        ...turn.reply.map(message => whole(message, message.stale ? 'stale' : '', ''))
      ]
    : [
        h(
          'div',
          { class: 'tc-row tc-subhead' },
          h('span', { class: 'muted' }, thinking ? trans.__('No reply yet.') : trans.__('Not sent: the session stands before it.'))
        )
      ];
  return h(
    'div',
    { class: 'tc-request' },
    h(
      'div',
      { class: 'tc-row tc-subhead first' },
      h('span', { class: 'strong' }, `Request ${turn.turn}`),
      h('span', { class: 'muted small' }, since),
      exact.way
    ),
    ...quiet(turn.old),
    ...turn.fresh.map(message => whole(message, 'new', '+')),
    exact.text,
    ...reply
  );
}

export interface Messages {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

export function messages(acts: Acts): Messages {
  const list = h('ol', { class: 'tc-turns', 'aria-label': trans.__('Turns') });
  const right = h('div', { class: 'tc-pages' });
  const element = h(
    'div',
    { class: 'tc-two' },
    h('div', { class: 'tc-pane' }, h('h3', { class: 'tc-h' }, trans.__('Requests')), list),
    right
  );
  let view: Look;

  function entry(turn: number, calls: string, chosen: boolean, input: number): HTMLElement {
    const name = h(
      'button',
      { type: 'button', class: 'turn', 'data-k': `turn ${turn}`, onclick: () => acts.set({ turn }) },
      `Turn ${turn}`
    );
    const cost = input ? h('span', { class: 'muted small', title: trans.__('tokens of the request') }, amount(input)) : null;
    return h('li', { 'aria-current': chosen ? 'true' : undefined }, name, cost, h('span', { class: 'mono' }, calls));
  }

  const draw = once(() => {
    const known = [...view.model.messages.values()];
    const limit = view.past ? (view.calls.at(-1)?.turn ?? 1) : Infinity;
    const shown = known.filter(message => message.turn <= limit && (!view.past || message.step <= view.at));
    const turns = [...new Set(shown.map(message => message.turn))].filter(turn => turn > 0).sort((a, b) => a - b);
    const thinking = view.model.session.phase === 'thinking' && !view.past;
    const replied = turns.filter(turn => shown.some(message => message.turn === turn && isReply(message)));
    const chosen =
      view.ui.turn !== null && turns.includes(view.ui.turn)
        ? view.ui.turn
        : thinking
          ? turns.at(-1)
          : (replied.at(-1) ?? turns.at(-1));
    const spent = new Map([...view.model.turns.values()].map(turn => [turn.turn, turn]));
    const tools = new Map<number, string[]>();
    for (const call of view.calls) tools.set(call.turn, [...(tools.get(call.turn) ?? []), call.tool]);
    const focus = list.contains(document.activeElement);
    list.replaceChildren(
      ...turns.map(turn => entry(turn, line((tools.get(turn) ?? []).join(', '), 120), turn === chosen, spent.get(turn)?.input ?? 0))
    );
    if (focus) list.querySelector<HTMLElement>('[aria-current] button')?.focus({ preventScroll: true });
    const shownTurn = chosen === undefined ? null : turnOf(shown, chosen);
    right.replaceChildren(
      shownTurn === null
        ? h('p', { class: 'tc-later' }, trans.__('Nothing was said yet.'))
        : page(shownTurn, {
            spent: spent.get(shownTurn.turn),
            thinking,
            exact: exactly(view, shownTurn.turn, acts),
            warning: warning(view, shownTurn, acts)
          })
    );
  });

  return {
    element,
    paint(next) {
      view = next;
      if (next.ui.tab === 'Messages')
        draw(
          next.model.messages,
          next.model.turns,
          next.model.calls,
          next.model.session.phase,
          next.model.shown,
          next.ui.turn,
          next.ui.sent,
          next.at,
          next.past
        );
    }
  };
}
