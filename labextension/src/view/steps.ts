/** The list of steps. One list serves the graph and its own tab. */
import { bringIn, h, keyed, reader, type Child } from './dom';
import { icon, type IconName } from './icons';
import { choiceOf, type Acts, type Look } from './look';
import { together, type FullCall } from './rows';
import { duration, line, many } from './text';
import { tools } from './tools';
import { trans } from './words';

const ICONS: Readonly<Record<FullCall['status'], IconName>> = {
  proposed: 'wait',
  approved: 'run',
  running: 'run',
  succeeded: 'done',
  failed: 'failed',
  rejected: 'reject',
  answered: 'person',
  interrupted: 'stop',
  unknown: 'unknown'
};

const WORDS: Readonly<Record<FullCall['status'], string>> = {
  proposed: 'waits for you',
  approved: 'approved',
  running: 'running',
  succeeded: 'done',
  failed: 'failed',
  rejected: 'rejected',
  answered: 'answered by you',
  interrupted: 'interrupted',
  unknown: 'outcome unknown'
};

export function iconOf(call: FullCall): IconName {
  if (call.status !== 'succeeded') return ICONS[call.status];
  if (call.memory) return 'memory';
  return call.edited ? 'edited' : 'done';
}

/** What stands at the right: what came of it, and how long it took. */
export function endOf(call: FullCall): string {
  if (call.status !== 'succeeded') return Object.hasOwn(WORDS, call.status) ? trans.__(WORDS[call.status]) : '';
  if (call.outdated) return 'outdated';
  if (call.memory) return trans.__('from memory');
  const time = duration(call.ms);
  if (call.edited) return time ? `edited, ${time}` : 'edited';
  if (call.saves) return trans.__('saved');
  return call.stale ? trans.__('may be stale') : time;
}

/** What a screen reader hears before the line, where the end does not say it. */
const spoken = (call: FullCall): string => (call.status === 'succeeded' && !call.memory ? 'done, ' : '');

interface Item {
  readonly call: FullCall;
  readonly made: string;
  readonly pending: boolean;
}

/** What a scheme's own calls give back: it says no more than the tick does. */
const DONE = 'ok';

function what(item: Item): Child[] {
  const { call } = item;
  if (call.status === 'failed' && call.error) return [line(call.error, 200)];
  const came = call.status === 'failed' ? '' : item.made || (call.result === DONE ? '' : call.result);
  const name = item.pending || !item.made ? line(came, 80) : h('b', {}, line(came, 80));
  const arrow = call.what ? ' → ' : item.made ? '→ ' : '';
  return [line(call.what, 200), ...(came ? [arrow, name] : [])];
}

function element(item: Item, open: (call: FullCall) => void): HTMLElement {
  const { call } = item;
  return h(
    'li',
    { class: `tc-step ${call.status}`, 'data-n': call.step },
    icon(iconOf(call)),
    h(
      'button',
      { type: 'button', class: 'tool', 'data-k': `step ${call.id}`, onclick: () => open(call) },
      line(call.tool, 120)
    ),
    h('span', { class: 'what' }, spoken(call) ? reader(spoken(call)) : null, ...what(item)),
    h('span', { class: 'end' }, endOf(call))
  );
}

const ALL = 1500;
const BLOCK = 100;

/** Which steps the list holds: all, or in a very long session those around the chosen one. */
export function span(length: number, chosen: number): readonly [number, number] {
  if (length <= ALL) return [0, length];
  const middle = Math.floor((chosen < 0 ? length : chosen) / BLOCK) * BLOCK;
  return [Math.max(0, middle - 2 * BLOCK), Math.min(length, middle + 3 * BLOCK)];
}

function fold(element: HTMLElement, number: number, which: string): void {
  element.hidden = number === 0;
  element.textContent = `${many(number, `${which} step`)} folded: the graph and Time lead there`;
}

export interface Steps {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

/** The heading and the list. */
export function steps(acts: Acts): Steps {
  const list = h('ol', { class: 'tc-steps', 'aria-label': trans.__('Steps') });
  const later = h('p', { class: 'tc-later' });
  const none = h('p', { class: 'tc-later' }, trans.__('No steps yet.'));
  const pane = h('div', { class: 'tc-pane' }, h('h3', { class: 'tc-h' }, trans.__('Steps')), list, none, later);
  const earlier = h('p', { class: 'tc-later' });
  const further = h('p', { class: 'tc-later' });
  list.before(earlier);
  list.after(further);
  const toolbox = tools(acts);
  pane.append(toolbox.element);
  const rows = keyed(list, (item: Item) => element(item, call => acts.set({ chosen: choiceOf(call), form: null })));
  let current: Element | null = null;
  let frame = 0;

  function arrows(event: KeyboardEvent): void {
    const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key] as
      'nextElementSibling' | undefined;
    const item = event.target instanceof Element ? event.target.closest('li') : null;
    const next = step && item?.[step]?.querySelector('button');
    if (!next) return;
    next.focus();
    event.preventDefault();
  }

  function pick(item: Element | null, follow: boolean): void {
    if (item === current && item?.hasAttribute('aria-current')) return;
    current?.removeAttribute('aria-current');
    item?.setAttribute('aria-current', 'step');
    current = item;
    if (item instanceof HTMLElement) soon(item, follow);
  }

  /** With the next picture: to ask where things are makes the browser lay them out. */
  function soon(item: HTMLElement, follow: boolean): void {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => show(item, follow));
  }

  function show(item: HTMLElement, follow: boolean): void {
    if (follow) list.scrollTop = list.scrollHeight;
    bringIn(list, item);
  }

  list.addEventListener('keydown', arrows);
  return {
    element: pane,
    paint(view) {
      const { objects } = view.model;
      const lists = together(view.objects);
      const chosen = view.calls.findIndex(call => call.id === view.chosen.call);
      const [from, to] = span(view.calls.length, chosen);
      rows(
        view.calls.slice(from, to).map(call => {
          const object = objects.get(call.object);
          const names = lists.get(call.id)?.map(each => each.name) ?? (object ? [object.name] : []);
          const made = names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
          const item = { call, made, pending: object?.role === 'pending' };
          return { key: call.id, stamp: [call, item.made, item.pending], item };
        })
      );
      list.style.setProperty('--tc-n', view.last > 999 ? '36px' : '20px');
      pick(list.children[chosen - from] ?? null, view.follow);
      fold(earlier, from, 'earlier');
      fold(further, view.calls.length - to, 'further');
      const hidden = view.past
        ? [...view.model.calls.values()].filter(call => call.branch === '' && call.step > view.at).length
        : 0;
      later.hidden = hidden === 0;
      later.textContent = `${many(hidden, 'later step')} ${hidden === 1 ? 'is' : 'are'} hidden`;
      none.hidden = view.calls.length > 0;
      toolbox.paint(view);
    }
  };
}
