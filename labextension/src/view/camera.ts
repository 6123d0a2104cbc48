/** Pan and zoom: which part of the drawing is seen. It moves on its own only while it follows what is new. */
import type { Edge } from './edges';
import type { Spot } from './place';
import type { Node, Scene } from './scene';

const GREAT = 150;
const MARGIN = 300;
/** A drawing that fits when it is drawn this small is shown whole, without being asked. */
const LEAST = 0.8;

export interface Camera {
  zoom(by: number): void;
  fit(scene: Scene): void;
  space(width: number, height: number): void;
  follow(scene: Scene, newest: Spot | undefined): void;
  reveal(spot: Spot): void;
  dragged(): boolean;
  inSight(scene: Scene, always: string): { nodes: readonly Node[]; edges: readonly Edge[] };
}

const clamp = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

export function camera(svg: SVGSVGElement, world: SVGGElement, moved: () => void): Camera {
  let [x, y, k] = [0, 0, 1];
  let [width, height] = [900, 264];
  let great = false;
  let own = false;
  let drag: { x: number; y: number; far: boolean } | null = null;
  let wasDrag = false;
  let frame = 0;

  function apply(): void {
    world.setAttribute('transform', `translate(${Math.round(x) + 0.5} ${Math.round(y) + 0.5}) scale(${k})`);
    if (!great || frame) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      moved();
    });
  }

  function zoomAt(by: number, cx: number, cy: number): void {
    const next = clamp(k * by, 0.1, 3);
    [x, y] = [cx - ((cx - x) * next) / k, cy - ((cy - y) * next) / k];
    k = next;
    own = true;
    apply();
  }

  /** Brings a spot into sight: to the middle where it was out of it, else as little as can be. */
  function reveal(spot: Spot, middle = true): void {
    const [px, py] = [spot.x * k + x, spot.y * k + y];
    const [mx, my] = [Math.min(64 * k, width / 2), Math.min(70 * k, height / 2)];
    const near = clamp(px, mx, width - mx);
    x += (middle && near !== px ? width / 2 : near) - px;
    y += clamp(py, Math.min(40, my), height - my) - py;
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

  return {
    zoom: by => zoomAt(by, width / 2, height / 2),
    fit(scene) {
      k = Math.min(1, width / Math.max(1, scene.width), height / Math.max(1, scene.height));
      [x, y] = [
        scene.width * k < width ? 0 : (width - scene.width * k) / 2,
        Math.max(0, (height - scene.height * k) / 2)
      ];
      own = k < 1;
      apply();
    },
    space(w, tall) {
      [width, height] = [w, tall];
      svg.setAttribute('width', String(w));
      svg.setAttribute('height', String(tall));
    },
    follow(scene, newest) {
      great = scene.nodes.length > GREAT;
      if (own) return;
      k = scene.width * LEAST <= width ? Math.min(1, width / Math.max(1, scene.width)) : 1;
      x = Math.min(0, width - scene.width * k);
      y = scene.height * k <= height ? (height - scene.height * k) / 2 : y;
      apply();
      if (newest) reveal(newest, false);
    },
    reveal: spot => reveal(spot),
    dragged: () => wasDrag,
    inSight(scene, always) {
      great = scene.nodes.length > GREAT;
      if (!great) return scene;
      const seen = (spot: Spot): boolean =>
        Math.abs(spot.x * k + x - width / 2) < width / 2 + MARGIN &&
        Math.abs(spot.y * k + y - height / 2) < height / 2 + MARGIN;
      const near = new Set(scene.nodes.filter(node => seen(node.spot) || node.key === always).map(node => node.key));
      const nodes = scene.nodes.filter(node => near.has(node.key));
      return { nodes, edges: scene.edges.filter(edge => near.has(edge.to)) };
    }
  };
}
