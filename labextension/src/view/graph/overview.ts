/** The overview: a small map of the graph, with a frame around the part that is in sight. */
import { consume, h, listen, s, setChanged, whenChanged } from '../dom';
import { t, tn } from '../text';
import type { ViewState } from '../view_state';
import { type Box, type Drawing, type Spot, spotOfCall, stepOf } from './drawing';
import { type CallKind, type SearchHit, type UsualCalls, worstKind } from './search';

/** The height of the map at most, in pixels, and its scale at most. */
const [HIGH, LARGEST] = [64, 0.12];
/** Space around the marks, and the least side of the frame. */
const [EDGE, LEAST_FRAME] = [5, 10];
/** How far an arrow key moves the frame, as a share of its side. */
const STEP = 0.25;

/** The marks, from the least to the most important: where several stand in one place, one is drawn. */
const MARKS = {
  pale: 'm-1.5-1.5h3v3h-3z',
  own: 'm-2-2h4v4h-4z',
  odd: 'm0-3.5l3.5 6h-7z',
  stopped: 'm-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0-5 0',
  failed: 'm-2.5-2.5l5 5m0-5l-5 5',
  hit: 'm-3-3h6v6h-6z'
} as const;
type Mark = keyof typeof MARKS;
const RANKS = Object.keys(MARKS) as Mark[];

const markOf = (kind: CallKind): Mark =>
  kind === 'failed' || kind === 'unknown' ? 'failed' : kind === 'slow' || kind === 'large' || kind === 'unusual' ? 'odd' : 'stopped';

/** The found and the problematic calls. */
export interface SearchedCalls {
  readonly hits: readonly SearchHit[];
  readonly kindCounts: ReadonlyMap<CallKind, number>;
  readonly usual: UsualCalls;
}

/** What the map shows. */
interface Shown {
  readonly view: ViewState;
  readonly drawing: Drawing;
  /** The bounding box of the graph. */
  readonly box: Box;
  readonly searched: SearchedCalls;
  /** The keys of the nodes of the lineage that is shown; null without one. */
  readonly lineage: ReadonlySet<string> | null;
}

/** The first and the last step at some spots; zeros if there is none. */
function stepsAt(spots: readonly Spot[]): readonly [number, number] {
  const steps = spots.map(stepOf).filter(step => step > 0);
  return steps.length ? [Math.min(...steps), Math.max(...steps)] : [0, 0];
}

/** The overview; `go` shows a point of the graph in the middle. */
export class Overview {
  private readonly _marks = s('g');
  private readonly _frameRect = s('rect', { class: 'frame', rx: 2 });
  private readonly _svg = s('svg', { class: 'g', silent: 'true' }, this._marks, this._frameRect);
  readonly element = h('div', { class: 'tc-overview', role: 'slider', tabindex: 0, label: t('Overview'), 'aria-valuemin': 0 }, this._svg);
  private _shown!: Shown;
  /** Pixels of the map for each pixel of the graph, the corner of the graph, and the size of the map. */
  private _scale = { x: 0, y: 0, left: 0, top: 0, width: 0, height: 0 };
  private _width = 0;
  private _frame: Box = { left: 0, right: 0, top: 0, bottom: 0 };
  /** The part of the graph that is in sight, which the frame in the map shows about. */
  private _inSight = this._frame;
  /** From the pointer to the middle of what is in sight while its frame is dragged. */
  private _grip: readonly [number, number] | null = null;
  private readonly _draw = whenChanged(() => this._drawMarks());

  constructor(private readonly _go: (x: number, y: number) => void) {
    listen(this.element, 'pointerdown', event => {
      if (event.button !== 0) return;
      this.element.setPointerCapture(event.pointerId);
      const [x, y] = this._pointed(event);
      const { left, right, top, bottom } = this._frame;
      const isInside = x >= left && x <= right && y >= top && y <= bottom;
      const seen = this._inSight;
      this._grip = isInside ? [this._x((seen.left + seen.right) / 2) - x, this._y((seen.top + seen.bottom) / 2) - y] : [0, 0];
      this._follow(event);
    });
    listen(this.element, 'pointermove', event => this._follow(event));
    for (const end of ['pointerup', 'pointercancel'] as const) listen(this.element, end, () => (this._grip = null));
    listen(this.element, 'keydown', event => this._handleKey(event));
  }

  /** Draws the map, up to a width in pixels. */
  paint(shown: Shown, width: number): void {
    this._shown = shown;
    const { view, box, searched, lineage } = shown;
    const past = view.isPast && view.step;
    this._draw(
      view.model.graph, ...Object.values(box), [...searched.kindCounts].join(), searched.hits, searched.usual, past, lineage,
      (this._width = width)
    );
  }

  /** Sets the frame around the part of the graph that is in sight, with these nodes. */
  frame(inSight: Box, spots: readonly Spot[]): void {
    if (!this._shown) return;
    const [left, right] = this._side(this._x(inSight.left), this._x(inSight.right), this._scale.width);
    const [top, bottom] = this._side(this._y(inSight.top), this._y(inSight.bottom), this._scale.height);
    [this._frame, this._inSight] = [{ left, right, top, bottom }, inSight];
    const [first, last] = stepsAt(spots);
    const calls = this._shown.view.calls.length;
    const frame = { x: left, y: top, width: right - left, height: bottom - top };
    for (const [name, value] of Object.entries(frame)) setChanged(this._frameRect, name, String(Math.round(value)));
    setChanged(this.element, 'aria-valuemax', String(calls));
    setChanged(this.element, 'aria-valuenow', String(first));
    setChanged(
      this.element, 'aria-valuetext',
      last ? tn('showing %2 to %3 of %1 call', 'showing %2 to %3 of %1 calls', calls, first, last) : t('showing no calls')
    );
  }

  private _x(x: number): number {
    return EDGE + (x - this._scale.left) * this._scale.x;
  }

  private _y(y: number): number {
    return EDGE + (y - this._scale.top) * this._scale.y;
  }

  /** A side of the frame inside of the map, and not too small to be seen. */
  private _side(from: number, to: number, size: number): readonly [number, number] {
    const start = Math.max(1, Math.min(from, size - 1 - LEAST_FRAME));
    return [start, Math.max(start + LEAST_FRAME, Math.min(to, size - 1))];
  }

  private _drawMarks(): void {
    const { view, drawing, box, searched, lineage } = this._shown;
    const [wide, tall] = [box.right - box.left, box.bottom - box.top];
    const [x, y] = [Math.min((this._width - 2 * EDGE) / wide, LARGEST), Math.min((HIGH - 2 * EDGE) / tall, LARGEST)];
    this._scale = { x, y, left: box.left, top: box.top, width: Math.ceil(wide * x) + 2 * EDGE, height: Math.ceil(tall * y) + 2 * EDGE };
    this._svg.setAttribute('width', String(this._scale.width));
    this._svg.setAttribute('height', String(this._scale.height));
    const ranks = new Map<string, number>();
    const put = (spot: Spot | undefined, mark: Mark): void => {
      if (!spot) return;
      const key = `M${Math.round(this._x(spot.x))} ${Math.round(this._y(spot.y))}`;
      ranks.set(key, Math.max(ranks.get(key) ?? 0, RANKS.indexOf(mark)));
    };
    for (const spot of drawing.spots) if (spot.node.kind !== 'branch') put(spot, (lineage ? lineage.has(spot.key) : !spot.node.muted) ? 'own' : 'pale');
    for (const call of view.calls) {
      const kind = worstKind(call, searched.usual);
      if (kind) put(spotOfCall(drawing, call), markOf(kind));
    }
    for (const hit of searched.hits) put(drawing.pillOf(hit.call) ?? drawing.spotOf(hit.object), 'hit');
    const paths = RANKS.map(() => '');
    for (const [key, rank] of ranks) paths[rank] += key + MARKS[RANKS[rank] ?? 'own'];
    this._marks.replaceChildren(...RANKS.map((mark, rank) => s('path', { class: mark, d: paths[rank] })));
  }

  /** A point of the map, in pixels. */
  private _pointed(event: PointerEvent): readonly [number, number] {
    const { left, top } = this._svg.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  /** Moves the middle of the frame with the pointer that holds it. */
  private _follow(event: PointerEvent): void {
    if (!this._grip) return;
    const [x, y] = this._pointed(event);
    const { x: wide, y: high, left, top } = this._scale;
    this._go((x + this._grip[0] - EDGE) / wide + left, (y + this._grip[1] - EDGE) / high + top);
  }

  private _handleKey(event: KeyboardEvent): void {
    const { left, right, top, bottom } = this._inSight;
    const [dx = 0, dy = 0] = {
      ArrowRight: [STEP, 0], ArrowLeft: [-STEP, 0], ArrowDown: [0, STEP], ArrowUp: [0, -STEP], PageUp: [1, 0], PageDown: [-1, 0]
    }[event.key] ?? [];
    const { view, drawing } = this._shown;
    const last = view.calls.at(-1);
    const end = event.key === 'Home' ? drawing.spots[0] : event.key === 'End' && last ? spotOfCall(drawing, last) : undefined;
    if (end) this._go(end.x, end.y);
    else if (dx || dy) this._go((left + right) / 2 + dx * (right - left), (top + bottom) / 2 + dy * (bottom - top));
    else return;
    consume(event);
  }
}
