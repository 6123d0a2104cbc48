/** The search bar of the graph, and what was found. */
import type { CallRow } from '../../generated/contract';
import { consume, focusInPlace, h, listen, redraw, whenChanged } from '../dom';
import { button, icon } from '../icons';
import { finished } from '../incremental';
import { formatNumber, t } from '../text';
import type { PanelActions, ViewState } from '../view_state';
import type { Drawing } from './drawing';
import type { SearchedCalls } from './overview';
import {
  CALL_KINDS, type CallKind, chosenHit, countKinds, KIND_ICONS, nextHit, type SearchHit, searchHits, slowFrom, unusualCalls, type UsualCalls
} from './search';

interface Query {
  readonly text: string;
  readonly kind: CallKind | null;
}

const NO_QUERY: Query = { text: '', kind: null };

interface SearchBarActions {
  look(query: Query): void;
  go(by: 1 | -1): void;
  close(): void;
}

interface SearchResults {
  readonly query: Query;
  readonly found: readonly SearchHit[];
  /** How many calls there are of each kind. */
  readonly wrong: ReadonlyMap<CallKind, number>;
  /** Why the chosen call is unusual. */
  readonly why: string;
}

const resultText = (hits: readonly SearchHit[], view: ViewState, query: Query): string => {
  if (query.text.trim() === '' && query.kind === null) return '';
  if (hits.length === 0) return t('no results');
  const index = chosenHit(hits, view);
  return index < 0 ? t('%1 found', hits.length) : t('%1 of %2', index + 1, hits.length);
};

class SearchBar {
  private readonly _label = t('Search calls and objects');
  readonly field = h('input', { type: 'search', class: 'tc-in', label: this._label, placeholder: t('Search  /'), spellcheck: 'false' });
  private readonly _status = h('span', { class: 'small muted tc-found', role: 'status', label: t('Search results') });
  private readonly _reason = h('span', 'small tc-why');
  private readonly _previousButton = button('', { icon: 'up', label: t('Previous result'), look: 'ghost icon', onclick: () => this._actions.go(-1) });
  private readonly _nextButton = button('', { icon: 'down', label: t('Next result'), look: 'ghost icon', onclick: () => this._actions.go(1) });
  private readonly _chips = h('div', { class: 'tc-chips', role: 'group', label: t('Filter calls by status') });
  private readonly _closeButton = button('', { icon: 'close', label: t('Close search'), look: 'ghost icon', onclick: () => this._actions.close() });
  readonly element = h(
    'div', { class: 'tc-find', role: 'search' }, h('div', 'tc-field1', icon('search'), this.field), this._status, this._previousButton,
    this._nextButton, this._chips, this._closeButton, this._reason
  );
  private _query = NO_QUERY;
  private _counts: ReadonlyMap<CallKind, number> = new Map();
  private readonly _drawChips = whenChanged(() => {
    redraw(
      this._chips,
      () => this._chips.replaceChildren(
        ...CALL_KINDS.flatMap(
          kind => (this._counts.has(kind) || this._query.kind === kind ? [this._chip(kind, this._counts.get(kind) ?? 0)] : [])
        )
      )
    );
    this._chips.hidden = this._chips.childElementCount === 0;
  });

  constructor(private readonly _actions: SearchBarActions) {
    listen(this.field, 'input', () => this._actions.look({ ...this._query, text: this.field.value }));
    listen(this.field, 'keydown', event => {
      if (event.key === 'Enter') this._actions.go(event.shiftKey ? -1 : 1);
      else if (event.key === 'Escape') {
        if (this.field.value === '' && this._query.kind === null) this._actions.close();
        else this._actions.look(NO_QUERY);
      } else return;
      consume(event);
    });
  }

  paint(view: ViewState, shown: SearchResults): void {
    [this._query, this._counts] = [shown.query, shown.wrong];
    this._drawChips(this._query.kind, ...CALL_KINDS.map(kind => this._counts.get(kind)));
    if (this.field.value !== this._query.text) this.field.value = this._query.text;
    this._status.textContent = resultText(shown.found, view, this._query);
    this._reason.textContent = shown.why;
    this._previousButton.hidden = this._nextButton.hidden = shown.found.length < 2;
  }

  private _chip(kind: CallKind, number: number): HTMLElement {
    const pressed = this._query.kind === kind;
    const act = (): void => this._actions.look({ ...this._query, kind: pressed ? null : kind });
    return h(
      'button',
      { class: `tc-chip ${kind}`, key: kind, 'aria-pressed': String(pressed), onclick: act },
      icon(KIND_ICONS[kind]),
      `${formatNumber(number)} ${t(kind)}`
    );
  }
}

interface SearchActions {
  repaint(): void;
  /** Scrolls the page to the chosen node: the graph may be taller than the window. */
  scroll(): void;
  close(): void;
}

const NO_COUNTS: ReadonlyMap<CallKind, number> = new Map();
const NOTHING_USUAL: UsualCalls = { slow: Infinity, unusual: new Map(), large: new Map() };
/** Before a session ends, the usual values are computed again after this growth. */
const GROWTH = 1.05;

/** Computes what is usual, not at each step: that would be slow. */
function usualOfCalls(): (view: ViewState) => UsualCalls {
  let calls: readonly CallRow[] = [];
  let usual = NOTHING_USUAL;
  return view => {
    const [now, then] = [view.calls.length, calls.length];
    const ended = view.model.session.phase === 'finished';
    const same = now === then && view.calls.at(-1) === calls.at(-1);
    if (same || (!ended && now >= then && now < GROWTH * then)) return usual;
    calls = view.calls;
    const large = view.objects.filter(object => object.preview.large).map(object => [object.call, object.preview.large] as const);
    usual = { slow: slowFrom(calls), unusual: unusualCalls(calls), large: new Map(large) };
    return usual;
  };
}

export class Search implements SearchedCalls {
  private readonly _bar: SearchBar = new SearchBar({
    look: next => this._setQuery(next), go: by => this._step(by), close: () => this._actions.close()
  });
  private _view: ViewState | null = null;
  private _query: Query = NO_QUERY;
  hits: readonly SearchHit[] = [];
  kindCounts = NO_COUNTS;
  usual = NOTHING_USUAL;
  private readonly _computeUsual = usualOfCalls();
  isOpen = false;
  readonly element: HTMLElement = this._bar.element;

  constructor(private readonly _acts: PanelActions, private readonly _actions: SearchActions) {}

  /** The keys of the nodes that stand for what was found: what is not drawn is among the earlier calls. */
  keysIn({ pillOf, spotOf, earlier }: Drawing): ReadonlySet<string> {
    const found = this.hits.flatMap(({ call, object }) => {
      const drawn = [pillOf(call), spotOf(object)].filter(spot => spot !== undefined);
      return drawn.length ? drawn : (earlier ?? []);
    });
    return new Set(found.map(spot => spot.key));
  }

  setOpen(on: boolean): void {
    this.isOpen = on;
    if (!on) [this._query, this.hits] = [NO_QUERY, []];
    this._actions.repaint();
    if (on) focusInPlace(this._bar.field);
  }

  /** Draws the bar in slices; `always` where the session is long. */
  *painting(next: ViewState, always: boolean): Generator<void, void> {
    this._view = next;
    this._bar.element.hidden = !(always || this.isOpen);
    this._bar.element.classList.toggle('fixed', always);
    this.usual = this._bar.element.hidden ? NOTHING_USUAL : this._computeUsual(next);
    yield;
    if (this._query !== NO_QUERY) this.hits = yield* searchHits(next, this._query.text, this._query.kind, this.usual);
    this.kindCounts = this._bar.element.hidden ? NO_COUNTS : countKinds(next.calls, this.usual);
    const { kind } = this._query;
    const why = kind === 'unusual' || kind === 'large' ? (this.usual[kind].get(next.chosen.call) ?? '') : '';
    if (!this._bar.element.hidden) this._bar.paint(next, { query: this._query, found: this.hits, wrong: this.kindCounts, why });
  }

  private _setQuery(next: Query): void {
    this._query = next;
    if (!this._view || next.kind === null) return this._actions.repaint();
    // Few calls are of a kind: the first of them is shown at once.
    this.hits = finished(searchHits(this._view, next.text, next.kind, this.usual));
    this._step(1);
  }

  private _step(by: 1 | -1): void {
    const hit = this._view && nextHit(this.hits, this._view, by);
    if (!hit) return this._actions.repaint();
    this._acts.setState({ chosen: { call: hit.call, object: hit.object }, form: null });
    this._actions.scroll();
  }
}
