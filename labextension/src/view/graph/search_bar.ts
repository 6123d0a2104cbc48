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

const resultText = (found: readonly SearchHit[], view: ViewState, query: Query): string => {
  if (query.text.trim() === '' && query.kind === null) return '';
  if (found.length === 0) return 'no results';
  const at = chosenHit(found, view);
  return at < 0 ? `${formatNumber(found.length)} found` : `${formatNumber(at + 1)} of ${formatNumber(found.length)}`;
};

export class SearchBar {
  private readonly label = 'Search calls and objects';
  readonly field = h('input', { type: 'search', class: 'tc-in', 'aria-label': this.label, placeholder: 'Search  /', spellcheck: 'false' });
  private readonly status = h('span', { class: 'small muted tc-found', role: 'status', 'aria-label': 'Search results' });
  private readonly reason = h('span', { class: 'small tc-why' });
  private readonly previousButton = button('', { icon: 'up', label: 'Previous result', look: 'ghost icon', onclick: () => this.actions.go(-1) });
  private readonly nextButton = button('', { icon: 'down', label: 'Next result', look: 'ghost icon', onclick: () => this.actions.go(1) });
  private readonly chips = h('div', { class: 'tc-chips', role: 'group', 'aria-label': 'Filter calls by status' });
  private readonly focusButton = h('button', { type: 'button', class: 'tc-chip', title: 'Show only objects within two steps (f)', onclick: () => this.actions.focus(this.focusButton.getAttribute('aria-pressed') !== 'true') }, 'Focus ±2');
  private readonly closeButton = button('', { icon: 'close', label: 'Close search', look: 'ghost icon', onclick: () => this.actions.close() });
  readonly element = h('div', { class: 'tc-find', role: 'search' }, h('div', { class: 'tc-field1' }, icon('search'), this.field), this.status, this.previousButton, this.nextButton, this.chips, this.focusButton, this.closeButton, this.reason);
  private query = NO_QUERY;
  private counts: ReadonlyMap<CallKind, number> = new Map();
  private readonly drawChips = whenChanged(() => {
    const held = this.chips.contains(document.activeElement) ? document.activeElement?.getAttribute('data-k') : null;
    this.chips.replaceChildren(...CALL_KINDS.flatMap(kind => (this.counts.has(kind) || this.query.kind === kind ? [this.chip(kind, this.counts.get(kind) ?? 0)] : [])));
    this.chips.hidden = this.chips.childElementCount === 0;
    if (held) this.chips.querySelector<HTMLElement>(`[data-k="${held}"]`)?.focus({ preventScroll: true });
  });

  constructor(private readonly actions: SearchBarActions) {
    this.field.addEventListener('input', () => this.actions.look({ ...this.query, text: this.field.value }));
    this.field.addEventListener('keydown', event => {
      if (event.key === 'Enter') this.actions.go(event.shiftKey ? -1 : 1);
      else if (event.key === 'Escape') {
        if (this.field.value === '' && this.query.kind === null) this.actions.close();
        else this.actions.look(NO_QUERY);
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  paint(view: ViewState, shown: SearchResults): void {
    [this.query, this.counts] = [shown.query, shown.wrong];
    this.drawChips(this.query.kind, ...CALL_KINDS.map(kind => this.counts.get(kind)));
    if (this.field.value !== this.query.text) this.field.value = this.query.text;
    this.status.textContent = resultText(shown.found, view, this.query);
    this.reason.textContent = shown.why;
    this.previousButton.hidden = this.nextButton.hidden = shown.found.length < 2;
    this.focusButton.setAttribute('aria-pressed', String(shown.focus));
  }

  private chip(kind: CallKind, number: number): HTMLElement {
    const pressed = this.query.kind === kind;
    const act = (): void => this.actions.look({ ...this.query, kind: pressed ? null : kind });
    return h(
      'button',
      { type: 'button', class: `tc-chip ${kind}`, 'data-k': kind, 'aria-pressed': String(pressed), onclick: act },
      icon(KIND_ICONS[kind]),
      `${formatNumber(number)} ${kind}`
    );
  }
}

export interface SearchActions {
  repaint(): void;
  setFocus(on: boolean): void;
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

export class Search implements SearchedCalls {
  private readonly bar: SearchBar = new SearchBar({ look: next => this.setQuery(next), go: by => this.step(by), focus: on => this.actions.setFocus(on), close: () => this.actions.close() });
  private view: ViewState | null = null;
  private query: Query = NO_QUERY;
  hits: readonly SearchHit[] = [];
  kindCounts = NO_COUNTS;
  usual = NOTHING_USUAL;
  private readonly computeUsual = usualOfCalls();
  isOpen = false;
  readonly element: HTMLElement = this.bar.element;

  constructor(private readonly acts: PanelActions, private readonly actions: SearchActions) {}

  /** The keys of the nodes that stand for what was found. */
  get keys(): ReadonlySet<string> {
    return new Set(this.hits.flatMap(hit => [hit.object, `call:${hit.call}`]));
  }

  setOpen(on: boolean): void {
    this.isOpen = on;
    if (!on) [this.query, this.hits] = [NO_QUERY, []];
    this.actions.repaint();
    if (on) this.bar.field.focus({ preventScroll: true });
  }

  /** The bar; `always` where the session is long. */
  paint(next: ViewState, always: boolean, focus: boolean): void {
    this.view = next;
    this.bar.element.hidden = !(always || this.isOpen || focus);
    this.bar.element.classList.toggle('fixed', always);
    this.usual = this.bar.element.hidden ? NOTHING_USUAL : this.computeUsual(next);
    if (this.query !== NO_QUERY) this.hits = searchHits(next, this.query.text, this.query.kind, this.usual);
    this.kindCounts = this.bar.element.hidden ? NO_COUNTS : countKinds(next.calls, this.usual);
    const why = this.query.kind === 'unusual' ? (this.usual.unusual.get(next.chosen.call) ?? '') : '';
    if (!this.bar.element.hidden) this.bar.paint(next, { query: this.query, found: this.hits, wrong: this.kindCounts, focus, why });
  }

  private setQuery(next: Query): void {
    this.query = next;
    this.hits = this.view ? searchHits(this.view, this.query.text, this.query.kind, this.usual) : [];
    if (this.query.kind !== null && this.hits.length > 0) this.step(1);
    else this.actions.repaint();
  }

  private step(by: 1 | -1): void {
    const hit = this.view && nextHit(this.hits, this.view, by);
    if (hit) this.acts.setState({ chosen: { call: hit.call, object: hit.object }, form: null });
    else this.actions.repaint();
  }
}
