/** One request and its reply: what fills it, what is new in it, what came back, what it took. */
import { anew } from '../decide';
import { h, type Child } from '../dom';
import { button, icon } from '../icons';
import type { Acts, Look } from '../look';
import type { FullMessage, FullTurn } from '../rows';
import { block, count, line, many } from '../text';
import { trans } from '../words';
import { answered, asked, shares, sizeOf, sum, type Turn } from './turns';

const WHO: readonly FullMessage['role'][] = ['system', 'tools', 'user', 'session', 'assistant', 'call', 'tool'];
const who = ({ role }: FullMessage): string => (WHO.includes(role) ? role : '');

interface Row {
  readonly look: string;
  readonly sign: string;
  readonly who: string;
  readonly body: Child;
  readonly size?: number;
}

const row = ({ look, sign, who, body, size }: Row): HTMLElement =>
  h(
    'div',
    { class: `tc-msg ${look}`.trim() },
    h('span', { class: 'sign' }, sign),
    h('span', { class: 'who' }, who),
    h('div', { class: 'body' }, body),
    size === undefined ? null : h('span', { class: 'size', title: trans._n('%1 character', '%1 characters', size) }, count(size))
  );

/** A call as it was written, its tool first to the eye. */
function called({ text, tool }: FullMessage): HTMLElement {
  return h('span', {}, h('b', {}, block(tool)), block(text.slice(tool.length)));
}

function whole(message: FullMessage, look: string, sign: string): HTMLElement {
  const prose = message.role === 'assistant' || message.role === 'user' ? ' prose' : '';
  const body = message.role === 'call' ? called(message) : block(message.text);
  return row({ look: look + prose, sign, who: who(message), body, size: sizeOf(message) });
}

const HEADS: readonly FullMessage['role'][] = ['system', 'tools', 'user'];

/** What begins the conversation, each by itself; tools that were sent later stand with the first ones. */
function heads(old: readonly FullMessage[]): FullMessage[][] {
  const first = old.filter((message, index) => HEADS.includes(message.role) && index < 6 && message.turn === 1);
  return first.map(head => (head.role === 'tools' ? old.filter(message => message.role === 'tools') : [head]));
}

/** What is not new keeps a quiet line: the beginning one by one, the rest together. */
function quiet(old: readonly FullMessage[]): HTMLElement[] {
  const begin = heads(old);
  const rest = old.filter(message => !begin.some(head => head.includes(message)));
  const same = (who: string, body: string, of: readonly FullMessage[]): HTMLElement =>
    row({ look: 'old', sign: '=', who, body, size: sum(of.map(sizeOf)) });
  const lines = begin.map(head => same(head[0] ? who(head[0]) : '', line(head.map(message => message.text).join(' · '), 300), head));
  const words = rest.map(message => `${who(message)}: ${line(message.text, 40)}`).join(' · ');
  return rest.length ? [...lines, same(many(rest.length, 'message'), line(words, 400), rest)] : lines;
}

/** What fills the request, as a thin bar and in words. */
function share(turn: Turn): HTMLElement {
  const parts = shares(turn);
  const bar = h('div', { class: 'bar', 'aria-hidden': 'true' });
  for (const [part, size] of parts) {
    const piece = h('i', { class: part });
    piece.style.flexGrow = String(size);
    bar.append(piece);
  }
  const words = parts.map(([part, size]) =>
    h('span', { class: part }, h('i', { class: part, 'aria-hidden': 'true' }), `${trans.__(part)} ${count(size)}`)
  );
  return h(
    'div',
    { class: 'tc-share', role: 'group', 'aria-label': trans.__('What fills the request') },
    bar,
    h('div', { class: 'small muted' }, ...words, h('span', {}, trans.__('characters')))
  );
}

/** The request as it goes to the model, where it was asked for; else the way to it. */
function exactly(view: Look, turn: number, acts: Acts): { readonly text: Child; readonly way: Child } {
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

/** The heading of a part: what it is, and quietly what is to be known of it. */
const heading = (look: string, title: Child, aside: string, ...more: Child[]): HTMLElement =>
  h('div', { class: `tc-row tc-subhead ${look}`.trim() }, title, aside ? h('span', { class: 'muted small' }, line(aside, 160)) : null, ...more);

const strong = (text: string): HTMLElement => h('span', { class: 'strong' }, text);

/** Why a request has no reply. */
function silence(view: Look): string {
  const { phase } = view.model.session;
  if (phase === 'thinking' && !view.past) return trans.__('No reply yet.');
  return phase === 'failed' ? trans.__('No reply came.') : trans.__('Not sent yet: the session stands before it.');
}

function reply(view: Look, turn: Turn, spent: FullTurn | undefined, acts: Acts): Child[] {
  if (turn.reply.length === 0) return [heading('', h('span', { class: 'muted' }, silence(view)), '')];
  const tried = (spent?.attempts ?? []).map(said => row({ look: 'old', sign: '!', who: 'tried', body: line(said, 300) }));
  return [
    ...tried,
    heading('', strong(`Reply ${turn.turn}`), answered(spent, trans.__('cost unknown'))),
    ...warning(view, turn, acts),
    ...turn.reply.map(message => whole(message, message.stale ? 'stale' : '', ''))
  ];
}

/** What came of the last reply: a model is told of it only where it is asked again. */
const after = (turn: Turn): Child[] =>
  turn.after.length
    ? [
        heading('', strong(trans.__('What came of it')), trans.__('the session ended: the model is not told')),
        ...turn.after.map(message => whole(message, '', ''))
      ]
    : [];

/** The page of a turn; `spent` is what its request took. */
export function page(view: Look, turn: Turn, spent: FullTurn | undefined, acts: Acts): HTMLElement {
  const exact = exactly(view, turn.turn, acts);
  const since =
    turn.turn > 1 ? `since request ${turn.turn - 1}: ${many(turn.fresh.length, 'message')} more` : many(turn.fresh.length, 'part');
  return h(
    'div',
    { class: 'tc-request' },
    heading('first', strong(`Request ${turn.turn}`), [asked(spent), since].filter(Boolean).join(' · '), exact.way),
    share(turn),
    ...quiet(turn.old),
    ...turn.fresh.map(message => whole(message, 'new', '+')),
    exact.text,
    ...reply(view, turn, spent, acts),
    ...after(turn)
  );
}
