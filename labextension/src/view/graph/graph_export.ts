/** The graph as text to copy: DOT, and SVG as it is shown. */
import { h, s } from '../dom';
import { oneLine, t } from '../text';
import type { ViewState } from '../view_state';
import { edgeElement, nodeElement, noteElement, strokeElement } from './elements';
import type { Box } from './layout';
import type { Note, Scene, Surroundings } from './scene';

/** A text as a quoted DOT string. */
const quoted = (text: string): string => `"${oneLine(text, 400).replace(/\\/g, '\\\\').replace(/"/g, '\\"')}"`;

/** The lineage of the shown branch as DOT. */
export function dotText(view: ViewState): string {
  const own = view.objects.filter(object => object.branch === '' && object.role !== 'output');
  const known = new Set(own.map(object => object.id));
  const nodes = own.map(object => `  ${quoted(object.name)}${object.role === 'pending' ? ' [style=dashed]' : ''};`);
  const edges = own.flatMap(object => {
    const call = view.model.calls.get(object.call);
    const uses = call?.uses.filter(use => known.has(use.object) && use.object !== object.id) ?? [];
    const name = (id: string): string => view.model.objects.get(id)?.name ?? '';
    return uses.map(use => {
      const label = use.receiver ? quoted(call?.tool ?? '') : quoted(use.parameter);
      return `  ${quoted(name(use.object))} -> ${quoted(object.name)} [label=${label}${use.receiver ? '' : ', style=dotted'}];`;
    });
  });
  return ['digraph lineage {', '  rankdir=LR;', '  node [shape=box, style=rounded];', ...nodes, ...edges, '}', ''].join('\n');
}

const COPIED_STYLES = [
  'fill',
  'stroke',
  'stroke-width',
  'stroke-dasharray',
  'stroke-linecap',
  'stroke-linejoin',
  'paint-order',
  'font-family',
  'font-size',
  'font-weight',
  'text-anchor',
  'opacity'
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
  for (const name of ['class', 'tabindex', 'role', 'data-k', 'aria-hidden'])
    element.removeAttribute(name);
}

/** The drawing as a standalone SVG; `place` is an element under the style sheet. */
export function svgText(shownScene: Scene, surrounding: Surroundings, branches: readonly Note[], box: Box, place: Element): string {
  const right = Math.max(box.right, surrounding.right, ...branches.map(note => note.x + 7 * note.text.length));
  const [width, height] = [Math.ceil(right - box.left), Math.ceil(box.bottom - box.top)];
  const ground = s('rect', { class: 'ground', x: box.left, y: box.top, width, height });
  const picture = s(
    'svg',
    { class: 'g', width, height, viewBox: `${box.left} ${box.top} ${width} ${height}`, label: t('Object lineage') },
    ground,
    ...surrounding.strokes.map(strokeElement),
    ...shownScene.edges.map(edge => edgeElement(edge, false)),
    ...shownScene.nodes.map(node => nodeElement(node, false)),
    ...[...surrounding.notes, ...branches].map(noteElement)
  );
  place.append(picture);
  for (const gone of picture.querySelectorAll('.hit, .ring, .short, .big')) gone.remove();
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
