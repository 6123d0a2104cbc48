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

export interface Camera {
  zoom(by: number): void;
  fit(box: Box): void;
  /** Takes the room that a drawing needs, as far as there is so much. */
  space(width: number, box: Box, most: number): void;
  /** Shows all that fits, else what is newest; not where the person has moved it. */
  follow(box: Box, newest: Spot | undefined): void;
  /** Shows all where it fits, and leaves the rest as it is. */
  keep(box: Box): void;
  reveal(spot: Spot, middle?: boolean): void;
  /** Whether the pointer was dragged since it was pressed. */
  dragged(): boolean;
  sees(spot: Spot, margin?: number): boolean;
  afar(): boolean;
}

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

export function camera(svg: SVGSVGElement, world: SVGGElement, moved: () => void): Camera {
  let [x, y, k] = [0, 0, 1];
  let [width, height] = [0, 0];
  let transform = '';
  let own = false;
  /** The top of a drawing that is too high, when it was last begun at its top. */
  let begun = NaN;
  /** The room is as high as all of it, drawn small: until the person looks closer. */
  let fitted = false;
  let all: { readonly box: Box; readonly most: number } = { box: { left: 0, top: 0, right: 0, bottom: 0 }, most: LOW };
  let drag: { x: number; y: number; far: boolean } | null = null;
  let wasDrag = false;
  let frame = 0;

  function apply(): void {
    const next = `translate(${Math.round(x) + 0.5} ${Math.round(y) + 0.5}) scale(${k})`;
    if (next === transform) return;
    transform = next;
    world.setAttribute('transform', next);
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      moved();
    });
  }

  function zoomAt(by: number, cx: number, cy: number): void {
    const next = clamp(k * by, SMALLEST, 3);
    [x, y] = [cx - ((cx - x) * next) / k, cy - ((cy - y) * next) / k];
    k = next;
    own = true;
    fitted = false;
    high();
    apply();
  }

  /** Whether it is too high to be seen from top to bottom. */
  const isHigh = ({ top, bottom } = all.box): boolean => (bottom - top) * k > height + 1;
  const middled = ({ top, bottom } = all.box): number => (height - (bottom - top) * k) / 2 - top * k;

  /** Brings a spot into sight: to the middle where it was out of it, else as little as can be. */
  function reveal(spot: Spot, middle = true): void {
    if (k < AFAR) k = 1;
    const [px, py] = [spot.x * k + x, spot.y * k + y];
    // What comes before it is to be seen too.
    const [left, right] = [Math.min(BEFORE * k, (spot.x - 4) * k, width / 2), Math.min(72 * k, width / 2)];
    const [top, low] = [Math.min(104, height / 2), Math.min(76 * k, height / 2)];
    const near = clamp(px, left, width - right);
    x += (middle && near !== px ? width / 2 : near) - px;
    const level = clamp(py, top, Math.max(top, height - low));
    if (!isHigh()) y = own && level === py ? y : middled();
    else y += (middle && level !== py ? height / 2 : level) - py;
    apply();
  }

  svg.addEventListener(
    'wheel',
    event => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = svg.getBoundingClientRect();
      zoomAt(Math.exp(-clamp(event.deltaY, -60, 60) / 200), event.clientX - box.left, event.clientY - box.top);
    },
    { passive: false }
  );
  svg.addEventListener('pointerdown', event => {
    wasDrag = false;
    if (event.button === 0) drag = { x: event.clientX - x, y: event.clientY - y, far: false };
  });
  svg.addEventListener('pointermove', event => {
    if (!drag) return;
    const [nx, ny] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.far && Math.hypot(nx - x, ny - y) < 4) return;
    if (!drag.far) svg.setPointerCapture(event.pointerId);
    drag.far = wasDrag = own = true;
    [x, y] = [nx, ny];
    svg.classList.add('drag');
    apply();
  });
  const end = (): void => {
    drag = null;
    svg.classList.remove('drag');
  };
  svg.addEventListener('pointerup', end);
  svg.addEventListener('pointercancel', end);

  /** How large a drawing is where all of it is shown unasked; null where it would be too small. */
  const whole = ({ left, right, top, bottom }: Box): number | null => {
    const [wide, tall] = [width / Math.max(1, right - left), all.most / Math.max(1, bottom - top)];
    if (wide < LEAST) return null;
    return Math.min(1, wide, tall < LEAST ? 1 : tall);
  };

  /** Takes the height that is needed. */
  function high(): void {
    const { box, most } = all;
    const scale = fitted ? k : (whole(box) ?? 1);
    const next = Math.round(clamp((box.bottom - box.top) * scale, LOW, most));
    if (next !== height) svg.setAttribute('height', String(next));
    height = next;
  }

  /** Across: all where it fits, else its end. Down: all where it fits. */
  function show(box: Box, scale: number): void {
    k = scale;
    x = Math.min(0, width - (box.right - box.left) * k) - box.left * k;
    // Moved once only: each move makes all that is seen be drawn anew.
    if (!isHigh(box)) y = middled(box);
    else if (begun !== box.top * k) y = -(begun = box.top * k);
    apply();
  }

  return {
    zoom: by => zoomAt(by, width / 2, height / 2),
    fit(box) {
      const [wide, tall] = [box.right - box.left, box.bottom - box.top];
      k = clamp(Math.min(width / Math.max(1, wide), all.most / Math.max(1, tall)), SMALLEST, 1);
      own = fitted = k < 1;
      high();
      show(box, k);
    },
    space(w, box, most) {
      all = { box, most };
      if (w !== width) svg.setAttribute('width', String(w));
      width = w;
      high();
    },
    follow(box, newest) {
      if (own) return;
      show(box, whole(box) ?? 1);
      if (newest) reveal(newest, false);
    },
    keep(box) {
      if (own) return;
      const scale = whole(box);
      if (scale !== null) return show(box, scale);
      if (!isHigh(box)) y = middled(box);
      apply();
    },
    reveal,
    dragged: () => wasDrag,
    sees: (spot, margin = MARGIN) =>
      Math.abs(spot.x * k + x - width / 2) < width / 2 + margin &&
      Math.abs(spot.y * k + y - height / 2) < height / 2 + margin,
    afar: () => k < AFAR
  };
}
