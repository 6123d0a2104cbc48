/** The graph as a picture to copy, as it is shown. */
import type { GraphNode, GraphRow } from '../../generated/contract';
import { h, joined, s } from '../dom';
import { t } from '../text';
import type { Box } from './drawing';
import { GraphLayers, type Scene } from './elements';

const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`;

/** Names for nodes: their labels, numbered where they are equal, those of the shown branch first. */
function namesOf(nodes: readonly GraphNode[]): readonly string[] {
  const places = new Map<string, number>();
  for (const [place, { label }] of [...nodes.entries()].sort(([, a], [, b]) => Number(a.muted) - Number(b.muted))) {
    let name = label;
    for (let number = 2; places.has(name); number++) name = `${label} (${number})`;
    places.set(name, place);
  }
  return [...places].sort(([, a], [, b]) => a - b).map(([name]) => quoted(name));
}

/** Pixels of an inch of Graphviz. */
const INCH = 72;

function dotNode({ kind, label, detail, state, dashed, width, height }: GraphNode, name: string): string {
  const text = joined('\n', label, detail, kind === 'call' && state !== 'ran' && state);
  // As in the kernel's own DOT: a call is a rounded box.
  const style = [...(kind === 'call' ? ['rounded'] : []), ...(dashed ? ['dashed'] : [])].join(',');
  const size = `width=${(width / INCH).toFixed(2)}, height=${(height / INCH).toFixed(2)}`;
  return `  ${name} [label=${quoted(text)}, shape=box, style="${style}", ${size}];`;
}

/** The drawing as DOT. */
export function dotText({ nodes, edges }: GraphRow): string {
  const names = namesOf(nodes);
  const boxes = nodes.flatMap((node, place) => (node.kind === 'branch' ? [] : [dotNode(node, names[place] ?? '')]));
  const arrows = edges.map(({ tail, head, label }) => `  ${names[tail] ?? ''} -> ${names[head] ?? ''}${label && ` [label=${quoted(label)}]`};`);
  return ['digraph lineage {', '  rankdir=LR;', ...boxes, ...arrows, '}', ''].join('\n');
}

const COPIED_STYLES = [
  'fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'paint-order', 'font-family', 'font-size',
  'font-weight', 'text-anchor', 'opacity'
] as const;

/** Writes the computed styles into an element, so that it needs no style sheet. */
function writeStyles(element: Element): void {
  // Before the class of this element goes, which the styles of its children depend on.
  for (const child of [...element.children]) writeStyles(child);
  const style = getComputedStyle(element);
  for (const name of COPIED_STYLES) {
    const value = style.getPropertyValue(name);
    if (!['', 'normal', 'auto', '1'].includes(value)) element.setAttribute(name, value);
  }
  for (const name of ['class', 'tabindex', 'role', 'data-k', 'aria-hidden']) element.removeAttribute(name);
}

/** The drawing as a standalone SVG; `place` is an element under the style sheet. */
export function svgText(scene: Scene, { left, top, right, bottom }: Box, place: Element): string {
  const [width, height] = [Math.ceil(right - left), Math.ceil(bottom - top)];
  const layers = new GraphLayers();
  layers.draw({ ...scene, guess: null });
  const ground = s('rect', { class: 'ground', x: left, y: top, width, height });
  const picture = s(
    'svg',
    { class: 'g', width, height, viewBox: `${left} ${top} ${width} ${height}`, label: t('Object lineage') },
    ground,
    layers.world
  );
  place.append(picture);
  layers.fit();
  for (const gone of picture.querySelectorAll('.hit, .ring')) gone.remove();
  writeStyles(picture);
  picture.remove();
  return new XMLSerializer().serializeToString(picture);
}

const isDone = (copied: Promise<unknown>): Promise<boolean> => copied.then(() => true, () => false);

/** Copies a text to the clipboard; returns whether it succeeded. */
export const copyText = (text: string): Promise<boolean> => isDone(Promise.resolve().then(() => navigator.clipboard.writeText(text)));

/** Pixels of a copied picture for each pixel of the graph, and its longest side at most. */
const [SHARPNESS, LONGEST] = [2, 8000];

/** An SVG as a PNG. */
async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const scale = Math.min(SHARPNESS, LONGEST / Math.max(image.width, image.height));
  const canvas = h('canvas', { width: image.width * scale, height: image.height * scale });
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob(blob => (blob ? resolve(blob) : reject(new Error('no picture'))), 'image/png'));
}

/** Copies an SVG to the clipboard as a PNG; returns whether it succeeded. */
export const copyPicture = (svg: string): Promise<boolean> =>
  isDone(Promise.resolve().then(() => navigator.clipboard.write([new ClipboardItem({ 'image/png': pngOf(svg) })])));
