/** SVG elements of the graph: nodes, edges and notes, what a tile shows, and their layers. */
import { h, keyedChildren, s } from '../dom';
import { safeImage } from '../safe_markup';
import { glyph, mark, sign } from '../icons';
import type { FullObject, FullPreview } from '../rows';
import { clip, oneLine } from '../text';
import { CHIP_HEIGHT } from './edge_routes';
import type { Edge } from './edges';
import type { GraphNode } from './node_labels';
import type { Note, Scene, Stroke, Surroundings } from './scene';

function square(look: string, half: number): SVGElement {
  const side = 2 * half;
  return s('rect', { class: look, x: -half, y: -half, width: side, height: side, rx: half === 24 ? 8 : 11 });
}

function tileSquares(node: GraphNode): SVGElement[] {
  const behind = node.look === 'output' ? [square('tile2', 28)] : [];
  const stack =
    node.look === 'stack'
      ? [8, 4].map(shift => s('rect', { class: 'tile', x: -24 + shift, y: -24 - shift, width: 48, height: 48, rx: 8 }))
      : [];
  return [square('ring', 28), ...behind, ...stack, square('tile', 24)];
}

const cellText = (look: string, [text, x, anchor]: GraphNode['name'], y: number): SVGElement =>
  s('text', { class: `${look} ${anchor}`, x, y }, text);

function nodeTexts(node: GraphNode): SVGElement[] {
  const low = node.look === 'output' ? 4 : 0;
  return [
    cellText('name', node.name, 41 + low),
    cellText('state', node.state, 56 + low),
    cellText('short', node.shortName, 0)
  ];
}

function cornerMark({ mark: icon }: GraphNode): SVGElement[] {
  return icon ? [s('circle', { class: 'mark', cx: 24, cy: -24, r: 9 }), mark(icon, 24, -24)] : [];
}

/** The button of a node, with its accessible name; the drawing beside it is hidden from screen readers. */
const nodeButton = (node: GraphNode): SVGElement =>
  s('rect', {
    class: 'hit',
    role: 'button',
    key: `button ${node.key}`,
    tabindex: -1,
    label: node.label,
    'aria-description': node.fullLabel.slice(node.label.length).replace(/^[:,] /, ''),
    x: -44,
    y: -32,
    width: 88,
    height: 92
  });

/** The number of the color that objects of a type have while the graph is zoomed out. */
const colorOf = (kind: string): number => (kind.charCodeAt(0) + kind.length) % 6;

/** A node; `bare`: without its texts. */
export function nodeElement(node: GraphNode, bare: boolean): SVGElement {
  const face = s('g', 'face', ...tileSquares(node), inside(node), ...cornerMark(node));
  return s(
    'g',
    {
      class: `node k${colorOf(node.spot.object?.kind ?? '')} ${node.look}${node.isAway ? ' away' : ''}`.trim(),
      key: node.key,
      transform: `translate(${node.spot.x} ${node.spot.y})`
    },
    s('title', {}, node.fullLabel),
    nodeButton(node),
    s('g', { class: 'picture', 'aria-hidden': 'true' }, face, ...(bare ? [] : nodeTexts(node)))
  );
}

function labelElement({ lines, whole, x, y, anchor, look }: NonNullable<Edge['label']>): SVGElement {
  const first = y - 12 * (lines.length - 1);
  const rows = lines.map((text, row) => s('tspan', { x, y: first + 12 * row }, text));
  const title = lines.join('') === whole ? [] : [s('title', {}, whole)];
  return s('text', { class: look, 'text-anchor': anchor }, ...title, ...rows);
}

function chipElement({ text, whole, left, top, width }: NonNullable<Edge['chip']>): SVGElement {
  const box = s('rect', { class: 'port', x: left, y: top, width, height: CHIP_HEIGHT, rx: 4 });
  return s('g', {}, s('title', {}, whole), box, s('text', { class: 'portname', x: left + width / 2, y: top + 10 }, text));
}

export function edgeElement(edge: Edge, bare: boolean): SVGElement {
  const path = s('path', { class: edge.thin ? 'edge arg' : 'edge', d: edge.path });
  const look = `e ${edge.look}${edge.isAway ? ' away' : ''}`.trim();
  if (bare) return s('g', look, path);
  const { mark: sign, label, chip } = edge;
  const icon = sign
    ? [s('circle', { class: 'mark', cx: sign.at[0], cy: sign.at[1], r: 10 }), mark(sign.icon, ...sign.at)]
    : [];
  const words = [...(chip ? [chipElement(chip)] : []), ...(label ? [labelElement(label)] : [])];
  const head = s('path', { class: 'head', d: edge.head });
  return s('g', look, path, head, ...icon, ...words);
}

export const noteElement = (note: Note): SVGElement => s('text', { class: note.look, x: note.x, y: note.y }, note.text);

export const strokeElement = (stroke: Stroke): SVGElement => s('path', { class: stroke.look, d: stroke.path });

const nodeStamp = ({ look, isAway, fullLabel, spot }: GraphNode): unknown[] => [look, isAway, fullLabel, spot.x, spot.y, spot.object?.preview];

const edgeStamp = (edge: Edge): unknown[] => [
  edge.look,
  edge.isAway,
  edge.path,
  edge.label?.whole,
  edge.label?.lines.length,
  edge.chip?.whole,
  edge.mark?.icon
];

const HALF = 21;
const LINES = 4;
/** A text size, with the characters of a line and the lines that fit into a tile. */
type TextSize = readonly [size: number, signs: number, lines: number];
/** Largest first: short texts are large. */
const TEXT_SIZES: readonly TextSize[] = [
  [11, 6, 3],
  [9, 7, 3],
  [8, 8, 4],
  [7, 10, LINES]
];

const scaledGlyph = (tileContent: SVGElement): SVGElement => s('g', { transform: 'translate(-17 -17) scale(1.4167)' }, tileContent);

/** Words wrapped to short lines; long words are cut. */
function shortLines(text: string, lines: number, signs: number): readonly string[] {
  const found: string[] = [];
  for (const word of oneLine(text, 200).split(/\s+|(?<=[,;:=(])/)) {
    const last = found.at(-1);
    if (last !== undefined && last.length + word.length < signs) found[found.length - 1] = `${last} ${word}`;
    else if (found.length < lines) found.push(clip(word, signs));
    else return [...found.slice(0, -1), clip(`${last ?? ''}…`, signs)];
  }
  return found;
}

const smallText = (text: string, x: number, y: number, look = 'small'): SVGElement => s('text', { class: look, x, y }, text);

const isWhole = (lines: readonly string[]): boolean => !lines.some(text => text.includes('…'));

/** Text in the largest size that fits, else cut. */
function fittedWords(lay: (type: TextSize) => readonly string[]): SVGElement {
  const laid = TEXT_SIZES.map(type => ({ type, lines: lay(type) }));
  const fits = laid.find(({ type, lines }) => lines.length <= type[2] && isWhole(lines)) ?? laid.at(-1);
  const [size = 0, lines = []] = fits ? [fits.type[0], fits.lines] : [];
  const high = size * 1.25;
  const top = -((lines.length - 1) * high) / 2 + size * 0.35;
  return s('g', {}, ...lines.map((text, row) => smallText(text, -HALF, top + row * high, `small s${size}`)));
}

/** The first two columns and the first rows of a table. */
function tableContent({ columns, cells }: FullPreview): SVGElement {
  const rows = [columns, ...cells].slice(0, LINES);
  const texts = rows.flatMap((row, number) =>
    row.slice(0, 2).map((cell, column) =>
      smallText(clip(oneLine(cell, 40), 5), -HALF + column * 22.5, -12.5 + number * 10.5, number ? 'small' : 'small strong')
    )
  );
  return s('g', {}, s('path', { class: 'rule', d: `M${-HALF - 3} -9.500h48M0.500 -24v48` }), ...texts);
}

/** Whether a text is more than a default `<… object at 0x…>`. */
const isTelling = (text: string): boolean => text !== '' && !/^<[\w.]+ object at 0x/.test(text);

function objectContent(preview: FullPreview): SVGElement {
  const href = safeImage(preview.image);
  if (preview.glyph.length > 0) return scaledGlyph(glyph(preview));
  if (href) {
    const box = { x: -20, y: -20, width: 40, height: 40, preserveAspectRatio: 'xMidYMid meet' };
    // The card gives transparent pictures a background.
    const card = s('rect', { class: 'card', x: -22, y: -22, width: 44, height: 44, rx: 6 });
    return s('g', {}, card, s('image', { href, class: 'thumb', ...box }));
  }
  if (preview.columns.length > 0) return tableContent(preview);
  const fields = preview.fields.map(([name, value]) => oneLine(`${name} ${value}`, 60)).slice(0, LINES);
  const [only] = fields;
  if (!preview.html && only !== undefined)
    return fittedWords(([, signs, lines]) => (fields.length > 1 ? fields.map(text => clip(text, signs)) : shortLines(only, lines, signs)));
  return isTelling(preview.text) ? fittedWords(([, signs, lines]) => shortLines(preview.text, lines, signs)) : scaledGlyph(sign('object'));
}

/** A text as wide as a tile. */
function largeText(text: string, look: string): SVGElement {
  const element = s('text', { class: look, y: '.36em' }, text);
  // Not as an attribute: the policy of an exported page allows none.
  element.style.fontSize = `${Math.min(22, 70 / text.length)}px`;
  return element;
}

/** The content of an object's tile; zoomed out, words give way to what tells the object apart, or to its type. */
function tileContent({ preview, label, kind }: FullObject): SVGElement {
  const content = objectContent(preview);
  if (preview.glyph.length > 0 || safeImage(preview.image)) return content;
  const initials = kind.replace(/(?!^)[^A-Z]/g, '').slice(0, 2);
  const short = label || preview.caption.replace(/ × /g, '×') || initials;
  return s('g', 'words', content, largeText(oneLine(short, 8), 'big'));
}

/** An object's tile for use in text. */
export function tileOf(preview: FullPreview): HTMLElement {
  const drawing = s('svg', { class: 'g', viewBox: '-24 -24 48 48', 'aria-hidden': 'true' }, objectContent(preview));
  return h('span', 'tc-thumb whole', drawing);
}

const SIGNS_OF: Readonly<Record<string, Parameters<typeof sign>[0]>> = {
  rejected: 'rejected',
  interrupted: 'interrupted',
  failed: 'failed'
};

/** The content of a node's tile. */
function inside(node: GraphNode): SVGElement {
  const { object, failedCall: nothing, stack } = node.spot;
  if (stack) return largeText(String(Math.max(1, stack.calls)), 'count');
  if (nothing) return scaledGlyph(sign(SIGNS_OF[nothing.status] ?? 'failed'));
  if (!object || object.role === 'output') return scaledGlyph(sign('flag'));
  if (object.role !== 'pending') return tileContent(object);
  return scaledGlyph(sign(node.look === 'running' ? 'running' : 'next'));
}

interface Marks {
  /** The key of the chosen node. */
  readonly chosen: string | undefined;
  /** The key of the node with tabindex 0. */
  readonly tab: string | undefined;
  readonly found: ReadonlySet<string>;
}

/** Sets an attribute only if it changed: each write costs a style update. */
function setChanged(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

const buttonOf = (node: Element): SVGElement | null => node.querySelector<SVGElement>(':scope > .hit');
const keyOf = (element: Element): string => element.getAttribute('data-k') ?? '';

export class GraphLayers {
  private readonly _strokes = s('g');
  readonly edges = s('g');
  readonly nodes = s('g');
  private readonly _notes = s('g');
  private _isBare = false;
  private readonly _strokeLayer = keyedChildren(this._strokes, strokeElement);
  private readonly _edgeLayer = keyedChildren(this.edges, (edge: Scene['edges'][number]) => edgeElement(edge, this._isBare));
  private readonly _nodeLayer = keyedChildren(this.nodes, (node: Scene['nodes'][number]) => nodeElement(node, this._isBare));
  private readonly _noteLayer = keyedChildren(this._notes, noteElement);
  readonly world: SVGGElement = s('g', {}, this._strokes, this.edges, this.nodes, this._notes);

  /** `bare`: only tiles and lines. */
  draw(shownScene: Scene, surrounding: Surroundings, bare: boolean): void {
    this._isBare = bare;
    this._strokeLayer(surrounding.strokes.map(item => ({ key: item.look, stamp: [item.path], item })));
    this._edgeLayer(shownScene.edges.map(item => ({ key: item.key, stamp: [...edgeStamp(item), bare], item })));
    this._nodeLayer(shownScene.nodes.map(item => ({ key: item.key, stamp: [...nodeStamp(item), bare], item })));
    this._noteLayer(surrounding.notes.map(item => ({ key: item.key, stamp: [item.text, item.x, item.y, item.look], item })));
  }

  markNodes({ chosen, tab, found }: Marks): void {
    for (const child of this.nodes.children) {
      const key = keyOf(child);
      const button = buttonOf(child);
      if (button) {
        setChanged(button, 'aria-pressed', String(key === chosen));
        setChanged(button, 'tabindex', key === tab ? '0' : '-1');
      }
      if (child.classList.contains('found') !== found.has(key)) child.classList.toggle('found');
    }
  }

  /** The focusable button of a node. */
  buttonOfNode(key: string): SVGElement | null | undefined {
    const node = [...this.nodes.children].find(child => keyOf(child) === key);
    return node && buttonOf(node);
  }
}

/** The animation of `Tidy`: moved nodes slide to their new positions. */
const MOVE_MS = 360;

type Positions = ReadonlyMap<string, readonly [number, number]>;

const prefersNoMotion = (): boolean =>
  typeof matchMedia === 'function' && matchMedia('(prefers-reduced-motion: reduce)').matches;

/** Animates the nodes from their old positions, and fades in the edges. */
export function animateMoves(nodes: Element, edges: Element, before: Positions, after: Positions): void {
  if (prefersNoMotion() || typeof nodes.animate !== 'function') return;
  const timing = { duration: MOVE_MS, easing: 'cubic-bezier(.2, 0, 0, 1)' };
  for (const node of nodes.children) {
    const key = node.getAttribute('data-k') ?? '';
    const [from, to] = [before.get(key), after.get(key)];
    if (!from || !to || (from[0] === to[0] && from[1] === to[1])) continue;
    const at = ([x, y]: readonly [number, number]): string => `translate(${x}px, ${y}px)`;
    node.animate([{ transform: at(from) }, { transform: at(to) }], timing);
  }
  edges.animate([{ opacity: 0 }, { opacity: 0 }, { opacity: 1 }], timing);
}
