/** The search bar of the graph, and what was found. */
import { h, whenChanged } from '../dom';
import { button, icon } from '../icons';
import type { FullCall } from '../rows';
import { formatNumber } from '../text';
import type { PanelActions, ViewState } from '../view_state';
import type { SearchedCalls } from './overview';
import {
  CALL_KINDS,
  type CallKind,
  chosenHit,
  countKinds,
  KIND_ICONS,
  nextHit,
  type SearchHit,
  searchHits,
  slowFrom,
  unusualCalls,
  type UsualCalls
} from './search';

export interface Query {
  readonly text: string;
  readonly kind: CallKind | null;
}

export const NO_QUERY: Query = { text: '', kind: null };

export interface SearchBarActions {
  look(query: Query): void;
  go(by: 1 | -1): void;
  focus(on: boolean): void;
  close(): void;
}

export interface SearchResults {
  readonly query: Query;
  readonly found: readonly SearchHit[];
  /** How many calls there are of each kind. */
  readonly wrong: ReadonlyMap<CallKind, number>;
  readonly focus: boolean;
  /** Why the chosen call is among what was found, where that cannot be seen from it. */
  readonly why: string;
}

export interface SearchBar {
  readonly element: HTMLElement;
  readonly field: HTMLInputElement;
  paint(view: ViewState, shown: SearchResults): void;
}

const resultText = (found: readonly SearchHit[], view: ViewState, query: Query): string => {
  if (query.text.trim() === '' && query.kind === null) return '';
  if (found.length === 0) return 'no results';
  const at = chosenHit(found, view);
  return at < 0 ? `${formatNumber(found.length)} found` : `${formatNumber(at + 1)} of ${formatNumber(found.length)}`;
};

export function searchBar(wishes: SearchBarActions): SearchBar {
  const label = 'Search calls and objects';
  const field = h('input', { type: 'search', class: 'tc-in', 'aria-label': label, placeholder: 'Search  /', spellcheck: 'false' });
  const told = h('span', { class: 'small muted tc-found', role: 'status', 'aria-label': 'Search results' });
  const reason = h('span', { class: 'small tc-why' });
  const back = button('', { icon: 'up', label: 'Previous result', look: 'ghost icon', onclick: () => wishes.go(-1) });
  const on = button('', { icon: 'down', label: 'Next result', look: 'ghost icon', onclick: () => wishes.go(1) });
  const chips = h('div', { class: 'tc-chips', role: 'group', 'aria-label': 'Filter calls by status' });
  const focus = h('button', { type: 'button', class: 'tc-chip', title: 'Show only objects within two steps (f)', onclick: () => wishes.focus(focus.getAttribute('aria-pressed') !== 'true') }, 'Focus ±2');
  const close = button('', { icon: 'close', label: 'Close search', look: 'ghost icon', onclick: () => wishes.close() });
  const element = h('div', { class: 'tc-find', role: 'search' }, h('div', { class: 'tc-field1' }, icon('search'), field), told, back, on, chips, focus, close, reason);
  let query = NO_QUERY;
  let counted: ReadonlyMap<CallKind, number> = new Map();

  field.addEventListener('input', () => wishes.look({ ...query, text: field.value }));
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter') wishes.go(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape') {
      if (field.value === '' && query.kind === null) wishes.close();
      else wishes.look(NO_QUERY);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  function chip(kind: CallKind, number: number): HTMLElement {
    const pressed = query.kind === kind;
    const act = (): void => wishes.look({ ...query, kind: pressed ? null : kind });
    return h(
      'button',
      { type: 'button', class: `tc-chip ${kind}`, 'data-k': kind, 'aria-pressed': String(pressed), onclick: act },
      icon(KIND_ICONS[kind]),
      `${formatNumber(number)} ${kind}`
    );
  }

  const drawChips = whenChanged(() => {
    const held = chips.contains(document.activeElement) ? document.activeElement?.getAttribute('data-k') : null;
    chips.replaceChildren(...CALL_KINDS.flatMap(kind => (counted.has(kind) || query.kind === kind ? [chip(kind, counted.get(kind) ?? 0)] : [])));
    chips.hidden = chips.childElementCount === 0;
    if (held) chips.querySelector<HTMLElement>(`[data-k="${held}"]`)?.focus({ preventScroll: true });
  });

  return {
    element,
    field,
    paint(view, shown) {
      [query, counted] = [shown.query, shown.wrong];
      drawChips(query.kind, ...CALL_KINDS.map(kind => counted.get(kind)));
      if (field.value !== query.text) field.value = query.text;
      told.textContent = resultText(shown.found, view, query);
      reason.textContent = shown.why;
      back.hidden = on.hidden = shown.found.length < 2;
      focus.setAttribute('aria-pressed', String(shown.focus));
    }
  };
}

export interface Search extends SearchedCalls {
  readonly element: HTMLElement;
  /** The keys of the nodes that stand for what was found. */
  readonly keys: ReadonlySet<string>;
  readonly open: boolean;
  set(open: boolean): void;
  /** The bar; `always` where the session is long. */
  paint(view: ViewState, always: boolean, focus: boolean): void;
}

export interface SearchActions {
  again(): void;
  focus(on: boolean): void;
  close(): void;
}

const NO_COUNTS: ReadonlyMap<CallKind, number> = new Map();
const NOTHING_USUAL: UsualCalls = { slow: Infinity, unusual: new Map() };
/** Before a session ends, what is usual is asked again when it has grown by so much. */
const GROWTH = 1.05;

/** What is usual among the calls; looking through all of them at each step would be slow. */
function usualOfCalls(): (view: ViewState) => UsualCalls {
  let calls: readonly FullCall[] = [];
  let usual = NOTHING_USUAL;
  return view => {
    const [now, then] = [view.calls.length, calls.length];
    const ended = view.model.session.phase === 'finished';
    const same = now === then && view.calls.at(-1) === calls.at(-1);
    if (same || (!ended && now >= then && now < GROWTH * then)) return usual;
    calls = view.calls;
    usual = { slow: slowFrom(calls), unusual: unusualCalls(calls) };
    return usual;
  };
}

export function search(acts: PanelActions, wishes: SearchActions): Search {
  const bar: SearchBar = searchBar({ look: ask, go: step, focus: on => wishes.focus(on), close: () => wishes.close() });
  let view: ViewState | null = null;
  let query: Query = NO_QUERY;
  let found: readonly SearchHit[] = [];
  let wrong = NO_COUNTS;
  let usual = NOTHING_USUAL;
  const judged = usualOfCalls();
  let open = false;

  function ask(next: Query): void {
    query = next;
    found = view ? searchHits(view, query.text, query.kind, usual) : [];
    if (query.kind !== null && found.length > 0) step(1);
    else wishes.again();
  }

  function step(by: 1 | -1): void {
    const hit = view && nextHit(found, view, by);
    if (hit) acts.setState({ chosen: { call: hit.call, object: hit.object }, form: null });
    else wishes.again();
  }

  return {
    element: bar.element,
    get hits() {
      return found;
    },
    get keys() {
      return new Set(found.flatMap(hit => [hit.object, `call:${hit.call}`]));
    },
    get wrong() {
      return wrong;
    },
    get usual() {
      return usual;
    },
    get open() {
      return open;
    },
    set(on) {
      open = on;
      if (!on) [query, found] = [NO_QUERY, []];
      wishes.again();
      if (on) bar.field.focus({ preventScroll: true });
    },
    paint(next, always, focus) {
      view = next;
      bar.element.hidden = !(always || open || focus);
      bar.element.classList.toggle('fixed', always);
      usual = bar.element.hidden ? NOTHING_USUAL : judged(next);
      if (query !== NO_QUERY) found = searchHits(next, query.text, query.kind, usual);
      wrong = bar.element.hidden ? NO_COUNTS : countKinds(next.calls, usual);
      const why = query.kind === 'unusual' ? (usual.unusual.get(next.chosen.call) ?? '') : '';
      if (!bar.element.hidden) bar.paint(next, { query, found, wrong, focus, why });
    }
  };
}
