/** The overview: the durations and the problems of all calls in one line, with a frame around the visible ones. */
import { h, s, whenChanged } from '../dom';
import { mark } from '../icons';
import type { FullCall } from '../rows';
import { formatNumber, plural } from '../text';
import type { ViewState } from '../view_state';
import { CALL_KINDS, type CallKind, KIND_ICONS, type SearchHit, type UsualCalls, worstKind } from './search';

const HIGH = 44;
const FLOOR = 26;
const BAR = 4;
/** The overview is redrawn when it has grown by this fraction. */
const FINE = 200;

interface Bar {
  /** From 0 to 1. */
  readonly high: number;
  readonly kind: CallKind | null;
  readonly hit: boolean;
}

/** The calls in `parts` bars: each with its longest duration and its worst kind. */
function bars(calls: readonly FullCall[], parts: number, hits: ReadonlySet<string>, usual: UsualCalls): readonly Bar[] {
  let longest = 1;
  for (const call of calls) if (call.ms > longest) longest = call.ms;
  const size = Math.max(1, calls.length / parts);
  const found: { ms: number; kind: CallKind | null; hit: boolean }[] = [];
  for (let index = 0; index < calls.length; index++) {
    const call = calls[index];
    if (!call) continue;
    const bar = (found[Math.floor(index / size)] ??= { ms: 0, kind: null, hit: false });
    if (call.ms > bar.ms) bar.ms = call.ms;
    if (hits.has(call.id)) bar.hit = true;
    const kind = worstKind(call, usual);
    if (kind && (bar.kind === null || CALL_KINDS.indexOf(kind) < CALL_KINDS.indexOf(bar.kind))) bar.kind = kind;
  }
  return found.map(({ ms, kind, hit }) => ({ high: Math.log1p(ms) / Math.log1p(longest), kind, hit }));
}

interface StepRange {
  readonly from: number;
  readonly to: number;
}

/** Steps as ranges; near steps are joined. */
function rangesOf(steps: readonly number[], near: number): readonly StepRange[] {
  const ranges: { from: number; to: number }[] = [];
  for (const step of [...steps].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last && step - last.to <= near) last.to = step;
    else ranges.push({ from: step, to: step });
  }
  return ranges;
}

/** The found and the problematic calls. */
export interface SearchedCalls {
  readonly hits: readonly SearchHit[];
  readonly kindCounts: ReadonlyMap<CallKind, number>;
  readonly usual: UsualCalls;
}

/** The overview as text, for screen readers. */
function overviewText(view: ViewState, seen: readonly StepRange[], wrong: ReadonlyMap<CallKind, number>): string {
  const kinds = CALL_KINDS.flatMap(kind => (kind !== 'slow' && wrong.has(kind) ? [`${formatNumber(wrong.get(kind) ?? 0)} ${kind}`] : []));
  const troubles = kinds.length ? `: ${kinds.join(', ')}` : '';
  const parts = seen.slice(0, 6).map(({ from, to }) => (from === to ? formatNumber(from) : `${formatNumber(from)} to ${formatNumber(to)}`));
  return `showing ${parts.join(', ') || 'none'} of ${plural(view.calls.length, 'call')}${troubles}`;
}

/** The overview; `go` shows a step. */
export class Overview {
  private readonly _layer = s('g');
  private readonly _frameRect = s('rect', { class: 'frame', y: 1, height: FLOOR + 4, rx: 2 });
  private readonly _svg = s('svg', { class: 'g', height: HIGH, 'aria-hidden': 'true' }, this._layer, this._frameRect);
  readonly element = h('div', { class: 'tc-overview', role: 'slider', tabindex: 0, 'aria-label': 'Overview' }, this._svg);
  private _view!: ViewState;
  private _searched: SearchedCalls = { hits: [], kindCounts: new Map(), usual: { slow: Infinity, unusual: new Map(), large: new Map() } };
  private _width = 0;
  private _visibleRanges: readonly StepRange[] = [];
  private _currentRange: StepRange = { from: 1, to: 1 };
  private _isPressed = false;
  private readonly _draw = whenChanged(() => {
    const { hits, usual } = this._searched;
    const all = bars(this._view.calls, Math.max(1, Math.floor(this._width / BAR)), new Set(hits.map(hit => hit.call)), usual);
    const step = this._width / Math.max(1, all.length);
    const d = (chosen: (bar: Bar) => boolean): string =>
      all.map((bar, at) => (chosen(bar) ? `M${(at * step).toFixed(1)} ${FLOOR}v${-(3 + 19 * bar.high).toFixed(1)}h${(step * 0.75).toFixed(1)}V${FLOOR}z` : '')).join('');
    const marks = all.flatMap((bar, at) => (bar.kind ? [{ kind: bar.kind, at: at * step + step / 2 }] : []));
    const apart = marks.filter((one, index) => one.at - (marks[index - 1]?.at ?? -99) > 10 || one.kind !== marks[index - 1]?.kind);
    this._layer.replaceChildren(
      s('path', { class: 'bars', d: d(bar => !bar.hit) }),
      s('path', { class: 'bars hits', d: d(bar => bar.hit) }),
      ...apart.map(one => s('g', `at ${one.kind}`, mark(KIND_ICONS[one.kind], Math.min(this._width - 7, Math.max(7, one.at)), 36)))
    );
  });

  constructor(private readonly _go: (step: number) => void) {
    this.element.addEventListener('pointerdown', event => {
      this._isPressed = event.button === 0;
      if (!this._isPressed) return;
      this.element.setPointerCapture(event.pointerId);
      this._goToPointer(event);
    });
    this.element.addEventListener('pointermove', event => this._isPressed && this._goToPointer(event));
    for (const over of ['pointerup', 'pointercancel'] as const) this.element.addEventListener(over, () => (this._isPressed = false));
    this.element.addEventListener('keydown', event => {
      const { from, to: end } = this._currentRange;
      const page = Math.max(1, end - from);
      const middle = Math.round((from + end) / 2);
      const to = {
        ArrowRight: middle + 1,
        ArrowLeft: middle - 1,
        ArrowUp: middle + 1,
        ArrowDown: middle - 1,
        PageUp: middle + page,
        PageDown: middle - page,
        Home: 1,
        End: this._lastStep()
      }[event.key];
      if (to === undefined) return;
      this._go(Math.min(this._lastStep(), Math.max(1, to)));
      event.preventDefault();
      event.stopPropagation();
    });
  }

  paint(next: ViewState, searched: SearchedCalls, wide: number): void {
    [this._view, this._searched, this._width] = [next, { hits: searched.hits, kindCounts: searched.kindCounts, usual: searched.usual }, Math.max(1, wide)];
    this._svg.setAttribute('width', String(this._width));
    const { model, calls } = next;
    const replacedCalls = model.lastUpdate === null ? model.calls : null;
    const wrong = CALL_KINDS.map(kind => searched.kindCounts.get(kind) ?? 0).join();
    // One more call among thousands is not visible, and not drawn.
    this._draw(replacedCalls, Math.floor(Math.log(calls.length + 1) * FINE), wrong, searched.hits, searched.usual, model.branches, this._width);
  }

  /** Sets the visible steps; the frame is around the current one. */
  frame(steps: readonly number[], here: number): void {
    if (!this._view) return;
    this._visibleRanges = rangesOf(steps, Math.max(4, this._lastStep() / 100));
    this._currentRange = this._visibleRanges.find(({ from, to }) => from <= here && here <= to) ?? { from: here, to: here };
    this._updateFrame();
  }

  private _lastStep(): number {
    return Math.max(1, this._view.calls.length);
  }

  private _x(step: number): number {
    return ((step - 1) / this._lastStep()) * this._width;
  }

  private _moveFrame({ from, to }: StepRange): void {
    const wide = Math.max(8, this._x(to + 1) - this._x(from));
    const left = Math.max(1, Math.min(this._width - wide - 1, this._x((from + to + 1) / 2) - wide / 2));
    this._frameRect.setAttribute('x', String(Math.round(left)));
    this._frameRect.setAttribute('width', String(Math.round(wide)));
  }

  private _updateFrame(): void {
    this._moveFrame(this._currentRange);
    this.element.setAttribute('aria-valuemin', '1');
    this.element.setAttribute('aria-valuemax', String(this._lastStep()));
    this.element.setAttribute('aria-valuenow', String(this._currentRange.from));
    this.element.setAttribute('aria-valuetext', overviewText(this._view, this._visibleRanges, this._searched.kindCounts));
  }

  private _goToPointer(event: PointerEvent): void {
    const box = this._svg.getBoundingClientRect();
    const share = (event.clientX - box.left) / Math.max(1, box.width);
    this._go(Math.min(this._lastStep(), Math.max(1, Math.round(share * this._lastStep() + 0.5))));
  }
}
