/** The search bar of the graph, and what was found. */
import type { CallRow } from '../../generated/contract';
import { consume, focusInPlace, h, listen, redraw, whenChanged } from '../dom';
import { button, icon } from '../icons';
import { finished } from '../incremental';
import { formatNumber, t } from '../text';
import type { PanelActions, ViewState } from '../view_state';
import { boxOfHidden, type Drawing } from './drawing';
import type { SearchedCalls } from './overview';
import {
  CALL_KINDS, type CallKind, chosenHit, countKinds, KIND_ICONS, nextHit, type SearchHit, searchHits, slowFrom, unusualCalls, type UsualCalls
} from './search';

interface Query {
  readonly text: string;
  readonly kind: CallKind | null;
}

const NO_QUERY: Query = { text: '', kind: null };

const resultText = (hits: readonly SearchHit[], view: ViewState, query: Query): string => {
  if (query.text.trim() === '' && query.kind === null) return '';
  if (hits.length === 0) return t('no results');
  const index = chosenHit(hits, view);
  return index < 0 ? t('%1 found', hits.length) : t('%1 of %2', index + 1, hits.length);
};

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
  private readonly _label = t('Search calls and objects');
  private readonly _field = h('input', { type: 'search', class: 'tc-in', label: this._label, placeholder: t('Search  /'), spellcheck: 'false' });
  private readonly _status = h('span', { class: 'small muted tc-found', role: 'status', label: t('Search results') });
  private readonly _reason = h('span', 'small tc-why');
  private readonly _previousButton = button('', { icon: 'up', label: t('Previous result'), look: 'ghost icon', onclick: () => this._step(-1) });
  private readonly _nextButton = button('', { icon: 'down', label: t('Next result'), look: 'ghost icon', onclick: () => this._step(1) });
  private readonly _chips = h('div', { class: 'tc-chips', role: 'group', label: t('Filter calls by status') });
  private readonly _closeButton = button('', { icon: 'close', label: t('Close search'), look: 'ghost icon', onclick: () => this._actions.close() });
  readonly element = h(
    'div', { class: 'tc-find', role: 'search' }, h('div', 'tc-field1', icon('search'), this._field), this._status, this._previousButton,
    this._nextButton, this._chips, this._closeButton, this._reason
  );
  private _view: ViewState | null = null;
  private _query: Query = NO_QUERY;
  hits: readonly SearchHit[] = [];
  /** How many calls there are of each kind. */
  kindCounts = NO_COUNTS;
  usual = NOTHING_USUAL;
  private readonly _computeUsual = usualOfCalls();
  isOpen = false;
  private readonly _drawChips = whenChanged(() => {
    const shown = CALL_KINDS.filter(kind => this.kindCounts.has(kind));
    redraw(this._chips, () => this._chips.replaceChildren(...shown.map(kind => this._chip(kind, this.kindCounts.get(kind) ?? 0))));
    this._chips.hidden = shown.length === 0;
  });

  constructor(private readonly _acts: PanelActions, private readonly _actions: SearchActions) {
    listen(this._field, 'input', () => this._setQuery({ ...this._query, text: this._field.value }));
    listen(this._field, 'keydown', event => {
      if (event.key === 'Enter') this._step(event.shiftKey ? -1 : 1);
      else if (event.key === 'Escape') {
        if (this._field.value === '' && this._query.kind === null) this._actions.close();
        else this._setQuery(NO_QUERY);
      } else return;
      consume(event);
    });
  }

  /** The keys of the nodes that stand for what was found: what is not drawn is among the earlier calls. */
  keysIn(drawing: Drawing): ReadonlySet<string> {
    const found = this.hits.flatMap(({ call, object }) => {
      const drawn = [drawing.pillOf(call), drawing.spotOf(object)].filter(spot => spot !== undefined);
      const row = this._view?.model.calls.get(call);
      return drawn.length ? drawn : ((row && boxOfHidden(drawing, row)) ?? []);
    });
    return new Set(found.map(spot => spot.key));
  }

  setOpen(on: boolean): void {
    this.isOpen = on;
    if (!on) this._query = NO_QUERY;
    this._actions.repaint();
    if (on) focusInPlace(this._field);
  }

  /** Draws the bar in slices; `always` where the session is long. */
  *painting(next: ViewState, always: boolean): Generator<void, void> {
    this._view = next;
    const isHidden = (this.element.hidden = !(always || this.isOpen));
    this.element.classList.toggle('fixed', always);
    this.usual = isHidden ? NOTHING_USUAL : this._computeUsual(next);
    yield;
    this.kindCounts = isHidden ? NO_COUNTS : countKinds(next.calls, this.usual);
    if (this._query.kind && !this.kindCounts.has(this._query.kind)) this._query = { ...this._query, kind: null };
    this.hits = this._query === NO_QUERY ? [] : yield* searchHits(next, this._query.text, this._query.kind, this.usual);
    if (!isHidden) this._paint(next);
  }

  private _paint(view: ViewState): void {
    const { text, kind } = this._query;
    this._drawChips(kind, ...CALL_KINDS.map(one => this.kindCounts.get(one)));
    if (this._field.value !== text) this._field.value = text;
    this._status.textContent = resultText(this.hits, view, this._query);
    this._reason.textContent = kind === 'unusual' || kind === 'large' ? (this.usual[kind].get(view.chosen.call) ?? '') : '';
    this._previousButton.hidden = this._nextButton.hidden = this.hits.length < 2;
  }

  private _chip(kind: CallKind, count: number): HTMLElement {
    const isPressed = this._query.kind === kind;
    const onclick = (): void => this._setQuery({ ...this._query, kind: isPressed ? null : kind });
    return h(
      'button', { class: `tc-chip ${kind}`, key: kind, 'aria-pressed': String(isPressed), onclick }, icon(KIND_ICONS[kind]),
      `${formatNumber(count)} ${t(kind)}`
    );
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
