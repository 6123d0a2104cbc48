/** Pan and zoom of the graph. It moves by itself only while the view follows the newest call. */
import { listen } from '../dom';
import type { Box, Spot } from './drawing';

const MARGIN = 300;
/** The smallest scale: names have 11 pixels. What is larger than the canvas is scrolled. */
export const LEAST = 0.96;
const LOW = 120;
/** Pixels that stay visible at the left of a revealed node. */
const BEFORE = 210;
/** Where in the width a followed node stands that is far before the end of the drawing. */
const AHEAD = 0.7;
/** Milliseconds after which a drawing has come to rest. */
const GLIDE_MS = 250;

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

export class Camera {
  private _x = 0;
  private _y = 0;
  private _scale = 1;
  private _width = 0;
  private _height = 0;
  private _transform = '';
  private _movedByPerson = false;
  /** The top of a too tall drawing when it was last scrolled to its top. */
  private _topOfTallDrawing = NaN;
  /** The whole drawing is in sight, also in another size, until the person zooms, pans, or sends a command. */
  isFitted = false;
  private _drawingSize: { readonly box: Box; readonly most: number } = { box: { left: 0, top: 0, right: 0, bottom: 0 }, most: LOW };
  private _drag: { x: number; y: number; far: boolean } | null = null;
  private _hasDragged = false;
  private _frame = 0;
  private _atRest: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly _svg: SVGSVGElement, private readonly _world: SVGGElement, private readonly _moved: () => void) {
    this._svg.addEventListener(
      'wheel',
      event => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const box = this._svg.getBoundingClientRect();
        this._zoomAt(Math.exp(-clamp(event.deltaY, -60, 60) / 200), event.clientX - box.left, event.clientY - box.top);
      },
      { passive: false }
    );
    listen(this._svg, 'pointerdown', event => {
      this._hasDragged = false;
      if (event.button === 0) this._drag = { x: event.clientX - this._x, y: event.clientY - this._y, far: false };
    });
    listen(this._svg, 'pointermove', event => {
      if (!this._drag) return;
      const [nx, ny] = [event.clientX - this._drag.x, event.clientY - this._drag.y];
      if (!this._drag.far && Math.hypot(nx - this._x, ny - this._y) < 4) return;
      if (!this._drag.far) this._svg.setPointerCapture(event.pointerId);
      this._drag.far = this._hasDragged = this._movedByPerson = true;
      this.isFitted = false;
      [this._x, this._y] = [nx, ny];
      this._svg.classList.add('drag');
      this._applyTransform();
    });
    listen(this._svg, 'pointerup', () => this._endDrag());
    listen(this._svg, 'pointercancel', () => this._endDrag());
  }

  /** Scrolls to a node: to the middle if it was outside, else as little as possible. */
  reveal(spot: Spot, middle = true): void {
    if (this.isFitted && this.fits(this._drawingSize.box, this._height)) return;
    const [px, py] = [spot.x * this._scale + this._x, spot.y * this._scale + this._y];
    // The nodes before it should be visible too.
    const [left, right] = [Math.min(BEFORE * this._scale, (spot.x - 4) * this._scale, this._width / 2), Math.min(72 * this._scale, this._width / 2)];
    const [top, low] = [Math.min(104, this._height / 2), Math.min(76 * this._scale, this._height / 2)];
    const near = clamp(px, left, this._width - right);
    const moved = this._x + (middle && near !== px ? this._width / 2 : near) - px;
    this._x = this._movedByPerson ? moved : this._boundedX(moved);
    const level = clamp(py, top, Math.max(top, this._height - low));
    const { top: first, bottom: last } = this._drawingSize.box;
    if (!this.isTooTall()) this._y = this._movedByPerson && level === py ? this._y : this._centredY();
    // Nothing outside of the drawing is shown while a part of it is out of sight.
    else this._y = clamp(this._y + (middle && level !== py ? this._height / 2 : level) - py, this._height - last * this._scale, -first * this._scale);
    this._applyTransform();
  }

  /** Keeps a node at its place on the screen, though it moved in the drawing. */
  keep(before: Spot, { x, y }: Spot): void {
    this._x = this._boundedX(this._x + (before.x - x) * this._scale);
    this._y += (before.y - y) * this._scale;
    // Of a drawing that fits nothing goes out of sight.
    if (!this.isTooTall()) this._y = this._centredY();
    this._applyTransform();
  }

  /** Lets what the next drawing moves glide to its place, the view with it. */
  glide(): void {
    clearTimeout(this._atRest);
    this._world.classList.add('glide');
    this._atRest = setTimeout(() => this._world.classList.remove('glide'), GLIDE_MS);
  }

  /** Moves by itself again, until the person moves the graph the next time. */
  follow(): void {
    this._movedByPerson = this.isFitted = false;
  }

  zoom(by: number): void {
    this._zoomAt(by, this._width / 2, this._height / 2);
  }

  fit(box: Box): void {
    this._scale = this._scaleToShowAll(box) ?? LEAST;
    this._movedByPerson = this.isFitted = true;
    this._setHeight();
    this._show(box, this._scale);
  }

  get scale(): number {
    return this._scale;
  }

  /** Sets the width and the height for a drawing, up to a maximum. */
  setSize(w: number, box: Box, most: number): void {
    this._drawingSize = { box, most };
    if (w !== this._width) this._svg.setAttribute('width', String(w));
    this._width = w;
    this._setHeight();
  }

  /** Shows the whole drawing if it fits, else the newest node; not after the person moved it. In the past nothing is drawn behind that node. */
  followNewest(box: Box, newest: Spot | undefined, isPast: boolean): void {
    if (this._movedByPerson) return;
    const [top, fitting] = [this._topOfTallDrawing, this._scaleToShowAll(box)];
    this._show(box, fitting ?? 1);
    if (!newest) return;
    // A node far before the right end is shown with what led to it.
    const at = newest.x * this._scale + this._x;
    const isFar = at < this._width / 2 || isPast;
    if (isFar && fitting === null) this._x = Math.min(-box.left * this._scale, this._x + Math.max(0, this._width * AHEAD - at));
    // In a drawing that is shown for the first time, so is what stands around it.
    this.reveal(newest, this.isTooTall() && top !== this._topOfTallDrawing);
  }

  /** Shows the whole drawing if it fits, else this part of it; not after the person moved it. */
  showPart(whole: Box, part: Box): void {
    if (this._movedByPerson) return;
    const isWhole = this.fits(whole, this._drawingSize.most);
    const shown = isWhole ? whole : part;
    this._scale = this._scaleToShowAll(whole) ?? 1;
    this._setHeight(this._scale);
    this._x = Math.min(0, this._width - whole.right * this._scale);
    if (!isWhole) this._x = clamp(this._x, -shown.left * this._scale, this._width - shown.right * this._scale);
    else this._x = Math.min(0, this._width - (whole.right - whole.left) * this._scale) - whole.left * this._scale;
    // Nothing outside of the drawing is shown while a part of it is out of sight.
    this._y = this.isTooTall()
      ? clamp(this._centredY(shown), this._height - whole.bottom * this._scale, -whole.top * this._scale)
      : this._centredY();
    this._applyTransform();
  }

  /** Shows the whole drawing if it fits, else changes nothing. */
  showIfItFits(box: Box): void {
    if (this._movedByPerson) return;
    const scale = this._scaleToShowAll(box);
    if (scale !== null) return this._show(box, scale);
    if (!this.isTooTall(box)) this._y = this._centredY(box);
    this._applyTransform();
  }

  /** Whether a drawing of at most this height can be shown whole. */
  fits(box: Box, most: number, width = this._width): boolean {
    const scale = this._scaleToShowAll(box, width);
    return scale !== null && (box.bottom - box.top) * scale <= most + 1;
  }

  /** The part of the drawing that is in sight. */
  inSight(): Box {
    const [left, top] = [-this._x / this._scale, -this._y / this._scale];
    return { left, top, right: left + this._width / this._scale, bottom: top + this._height / this._scale };
  }

  /** Shows a point in the middle, but nothing outside of the drawing. */
  showPoint(x: number, y: number): void {
    const { left, right, top, bottom } = this._drawingSize.box;
    const start = (middle: number, low: number, high: number, size: number): number => Math.max(low, Math.min(middle - size / 2, high - size));
    this._x = -start(x, left, right, this._width / this._scale) * this._scale;
    this._y = this.isTooTall() ? -start(y, top, bottom, this._height / this._scale) * this._scale : this._centredY();
    this._movedByPerson = true;
    this.isFitted = false;
    this._applyTransform();
  }

  /** Whether the pointer was dragged since it was pressed. */
  wasDragged(): boolean {
    return this._hasDragged;
  }

  isVisible(spot: Spot, margin: number = MARGIN): boolean {
    return Math.abs(spot.x * this._scale + this._x - this._width / 2) < this._width / 2 + margin &&
      Math.abs(spot.y * this._scale + this._y - this._height / 2) < this._height / 2 + margin;
  }

  private _applyTransform(): void {
    const next = `translate(${Math.round(this._x) + 0.5} ${Math.round(this._y) + 0.5}) scale(${this._scale})`;
    if (next === this._transform) return;
    this._transform = next;
    this._world.setAttribute('transform', next);
    this._frame ||= requestAnimationFrame(() => this.drawNow());
  }

  /** Tells of the last move at once: not again in the next frame. */
  drawNow(): void {
    cancelAnimationFrame(this._frame);
    this._frame = 0;
    this._moved();
  }

  private _zoomAt(by: number, cx: number, cy: number): void {
    const next = clamp(this._scale * by, LEAST, 3);
    [this._x, this._y] = [cx - ((cx - this._x) * next) / this._scale, cy - ((cy - this._y) * next) / this._scale];
    this._scale = next;
    this._movedByPerson = true;
    this.isFitted = false;
    this._setHeight();
    // What fits stays in sight as a whole.
    const { left, right } = this._drawingSize.box;
    if ((right - left) * next <= this._width) this._x = -left * next;
    if (!this.isTooTall()) this._y = this._centredY();
    this._applyTransform();
  }

  /** Whether the drawing is taller than the canvas. */
  isTooTall({ top, bottom } = this._drawingSize.box): boolean {
    return (bottom - top) * this._scale > this._height + 1;
  }

  private _centredY({ top, bottom } = this._drawingSize.box): number {
    return (this._height - (bottom - top) * this._scale) / 2 - top * this._scale;
  }

  /** A place from left to right at which nothing that fits is out of sight, and else no room is left empty. */
  private _boundedX(x: number): number {
    const { left, right } = this._drawingSize.box;
    const ends = [-left * this._scale, this._width - right * this._scale];
    return clamp(x, Math.min(...ends), Math.max(...ends));
  }

  private _endDrag(): void {
    this._drag = null;
    this._svg.classList.remove('drag');
  }

  /** The scale that shows the whole width of a drawing; null if it would be too small. No height changes it: it stays while a drawing grows. */
  private _scaleToShowAll({ left, right }: Box, width = this._width): number | null {
    const wide = width / Math.max(1, right - left);
    return wide < LEAST ? null : Math.min(1, wide);
  }

  /** Sets the height that the drawing needs. */
  private _setHeight(part?: number): void {
    const { box, most } = this._drawingSize;
    const scale = part ?? (this._movedByPerson ? this._scale : (this._scaleToShowAll(box) ?? 1));
    // Where the person zooms it grows with the drawing, and does not shrink under the pointer.
    const least = this._movedByPerson && !this.isFitted ? Math.min(most, this._height) : LOW;
    const next = Math.round(clamp((box.bottom - box.top) * scale, least, most));
    if (next !== this._height) this._svg.setAttribute('height', String(next));
    this._height = next;
  }

  /** Aligns the drawing: its right end, and its middle or top. */
  private _show(box: Box, scale: number): void {
    this._scale = scale;
    this._x = Math.min(0, this._width - (box.right - box.left) * this._scale) - box.left * this._scale;
    // Moved only once: each move redraws everything visible.
    if (!this.isTooTall(box)) this._y = this._centredY(box);
    else if (this._topOfTallDrawing !== box.top * this._scale) this._y = -(this._topOfTallDrawing = box.top * this._scale);
    this._applyTransform();
  }
}
