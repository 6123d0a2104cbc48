/** Pan and zoom: which part of the drawing is seen. It moves on its own only while it follows what is new. */
import type { Box, Spot } from './layout';

const MARGIN = 300;
/** A drawing that fits when it is drawn this small is shown whole, without being asked. */
const LEAST = 0.8;
const SMALLEST = 0.05;
const LOW = 120;
/** So much is to be seen at the left of what is brought into sight. */
const BEFORE = 210;
/** Drawn smaller than this, words cannot be read: only tiles are drawn. */
const AFAR = 0.35;

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

export class Camera {
  private x = 0;
  private y = 0;
  private scale = 1;
  private width = 0;
  private height = 0;
  private transform = '';
  private movedByPerson = false;
  /** The top of a drawing that is too high, when it was last begun at its top. */
  private topOfTallDrawing = NaN;
  /** The room is as high as all of it, drawn small: until the person looks closer. */
  private fitted = false;
  private drawingSize: { readonly box: Box; readonly most: number } = { box: { left: 0, top: 0, right: 0, bottom: 0 }, most: LOW };
  private drag: { x: number; y: number; far: boolean } | null = null;
  private hasDragged = false;
  private frame = 0;

  constructor(private readonly svg: SVGSVGElement, private readonly world: SVGGElement, private readonly moved: () => void) {
    this.svg.addEventListener(
      'wheel',
      event => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const box = this.svg.getBoundingClientRect();
        this.zoomAt(Math.exp(-clamp(event.deltaY, -60, 60) / 200), event.clientX - box.left, event.clientY - box.top);
      },
      { passive: false }
    );
    this.svg.addEventListener('pointerdown', event => {
      this.hasDragged = false;
      if (event.button === 0) this.drag = { x: event.clientX - this.x, y: event.clientY - this.y, far: false };
    });
    this.svg.addEventListener('pointermove', event => {
      if (!this.drag) return;
      const [nx, ny] = [event.clientX - this.drag.x, event.clientY - this.drag.y];
      if (!this.drag.far && Math.hypot(nx - this.x, ny - this.y) < 4) return;
      if (!this.drag.far) this.svg.setPointerCapture(event.pointerId);
      this.drag.far = this.hasDragged = this.movedByPerson = true;
      [this.x, this.y] = [nx, ny];
      this.svg.classList.add('drag');
      this.applyTransform();
    });
    this.svg.addEventListener('pointerup', () => this.endDrag());
    this.svg.addEventListener('pointercancel', () => this.endDrag());
  }

  /** Brings a spot into sight: to the middle where it was out of it, else as little as can be. */
  reveal(spot: Spot, middle = true): void {
    if (this.scale < AFAR) this.scale = 1;
    const [px, py] = [spot.x * this.scale + this.x, spot.y * this.scale + this.y];
    // What comes before it is to be seen too.
    const [left, right] = [Math.min(BEFORE * this.scale, (spot.x - 4) * this.scale, this.width / 2), Math.min(72 * this.scale, this.width / 2)];
    const [top, low] = [Math.min(104, this.height / 2), Math.min(76 * this.scale, this.height / 2)];
    const near = clamp(px, left, this.width - right);
    this.x += (middle && near !== px ? this.width / 2 : near) - px;
    const level = clamp(py, top, Math.max(top, this.height - low));
    if (!this.isTooTall()) this.y = this.movedByPerson && level === py ? this.y : this.centredY();
    else this.y += (middle && level !== py ? this.height / 2 : level) - py;
    this.applyTransform();
  }

  zoom(by: number): void {
    this.zoomAt(by, this.width / 2, this.height / 2);
  }

  fit(box: Box): void {
    const [wide, tall] = [box.right - box.left, box.bottom - box.top];
    this.scale = clamp(Math.min(this.width / Math.max(1, wide), this.drawingSize.most / Math.max(1, tall)), SMALLEST, 1);
    this.movedByPerson = this.fitted = this.scale < 1;
    this.setHeight();
    this.show(box, this.scale);
  }

  /** Takes the room that a drawing needs, as far as there is so much. */
  setSize(w: number, box: Box, most: number): void {
    this.drawingSize = { box, most };
    if (w !== this.width) this.svg.setAttribute('width', String(w));
    this.width = w;
    this.setHeight();
  }

  /** Shows all that fits, else what is newest; not where the person has moved it. */
  followNewest(box: Box, newest: Spot | undefined): void {
    if (this.movedByPerson) return;
    this.show(box, this.scaleToShowAll(box) ?? 1);
    if (newest) this.reveal(newest, false);
  }

  /** Shows all where it fits, and leaves the rest as it is. */
  showIfItFits(box: Box): void {
    if (this.movedByPerson) return;
    const scale = this.scaleToShowAll(box);
    if (scale !== null) return this.show(box, scale);
    if (!this.isTooTall(box)) this.y = this.centredY(box);
    this.applyTransform();
  }

  /** Whether the pointer was dragged since it was pressed. */
  wasDragged(): boolean {
    return this.hasDragged;
  }

  isVisible(spot: Spot, margin: number = MARGIN): boolean {
    return Math.abs(spot.x * this.scale + this.x - this.width / 2) < this.width / 2 + margin &&
      Math.abs(spot.y * this.scale + this.y - this.height / 2) < this.height / 2 + margin;
  }

  isZoomedOut(): boolean {
    return this.scale < AFAR;
  }

  private applyTransform(): void {
    const next = `translate(${Math.round(this.x) + 0.5} ${Math.round(this.y) + 0.5}) scale(${this.scale})`;
    if (next === this.transform) return;
    this.transform = next;
    this.world.setAttribute('transform', next);
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.moved();
    });
  }

  private zoomAt(by: number, cx: number, cy: number): void {
    const next = clamp(this.scale * by, SMALLEST, 3);
    [this.x, this.y] = [cx - ((cx - this.x) * next) / this.scale, cy - ((cy - this.y) * next) / this.scale];
    this.scale = next;
    this.movedByPerson = true;
    this.fitted = false;
    this.setHeight();
    this.applyTransform();
  }

  /** Whether it is too high to be seen from top to bottom. */
  private isTooTall({ top, bottom } = this.drawingSize.box): boolean {
    return (bottom - top) * this.scale > this.height + 1;
  }

  private centredY({ top, bottom } = this.drawingSize.box): number {
    return (this.height - (bottom - top) * this.scale) / 2 - top * this.scale;
  }

  private endDrag(): void {
    this.drag = null;
    this.svg.classList.remove('drag');
  }

  /** How large a drawing is where all of it is shown unasked; null where it would be too small. */
  private scaleToShowAll({ left, right, top, bottom }: Box): number | null {
    const [wide, tall] = [this.width / Math.max(1, right - left), this.drawingSize.most / Math.max(1, bottom - top)];
    if (wide < LEAST) return null;
    return Math.min(1, wide, tall < LEAST ? 1 : tall);
  }

  /** Takes the height that is needed. */
  private setHeight(): void {
    const { box, most } = this.drawingSize;
    const scale = this.fitted ? this.scale : (this.scaleToShowAll(box) ?? 1);
    const next = Math.round(clamp((box.bottom - box.top) * scale, LOW, most));
    if (next !== this.height) this.svg.setAttribute('height', String(next));
    this.height = next;
  }

  /** Across: all where it fits, else its end. Down: all where it fits. */
  private show(box: Box, scale: number): void {
    this.scale = scale;
    this.x = Math.min(0, this.width - (box.right - box.left) * this.scale) - box.left * this.scale;
    // Moved once only: each move makes all that is seen be drawn anew.
    if (!this.isTooTall(box)) this.y = this.centredY(box);
    else if (this.topOfTallDrawing !== box.top * this.scale) this.y = -(this.topOfTallDrawing = box.top * this.scale);
    this.applyTransform();
  }
}
