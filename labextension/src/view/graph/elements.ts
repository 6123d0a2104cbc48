/** SVG elements of the graph: boxes, pills and edges, what a box shows, and their layers. */
import type { ObjectRow, Preview } from '../../generated/contract';
import { afterLayout, joined, keyedChildren, s, setChanged } from '../dom';
import { safeImage } from '../safe_markup';
import { glyph, type IconName, mark, sign, STATE_ICONS } from '../icons';
import { clip, oneLine, shortLine } from '../text';
import type { Link, Spot } from './drawing';
import type { NodeText } from './node_texts';

/** What is drawn of a spot. */
export interface SceneNode {
  readonly spot: Spot;
  readonly text: NodeText;
  /** It is not in the lineage that is shown. */
  readonly isAway: boolean;
}

export interface SceneLink {
  readonly link: Link;
  readonly isAway: boolean;
}

/** The call to guess: a dashed box behind the drawing. */
export interface Guess {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

export interface Scene {
  readonly nodes: readonly SceneNode[];
  readonly links: readonly SceneLink[];
  readonly guess: Guess | null;
}

/** The width of an icon on a pill, the room before the first one, and what lines of text leave free in a box, in pixels. */
const [MARK, BEFORE, GAP] = [17, 10, 8];
/** The height of a box with more in it than a name. */
const LEAST_BOX = 40;

/** The icons of a pill, in order. */
export function pillIcons({ state, edited, stale }: Spot['node']): IconName[] {
  const icon = state === 'ran' ? null : STATE_ICONS[state];
  return [...(icon ? [icon] : []), ...(edited ? (['edited'] as const) : []), ...(stale ? (['clock'] as const) : [])];
}

/** The classes of a node: its kind, and what stands out about it. */
function nodeLook({ node, object }: Spot): string {
  return joined(
    ' ', node.kind, node.state, node.muted && 'pale', node.dashed && 'dashed', node.input && 'input', object?.role === 'output' && 'socket'
  );
}

const frame = (look: string, { width, height }: Spot['node'], beyond: number, rx: number): SVGElement =>
  s('rect', {
    class: look, x: -width / 2 - beyond, y: -height / 2 - beyond, width: width + 2 * beyond, height: height + 2 * beyond, rx: rx + beyond
  });

/** A line in a box; `data-room` is the width that it may have. */
const lineOf = (look: string, text: string, y: number, { width }: Spot['node']): SVGElement =>
  s('text', { class: look, y, 'data-room': width - GAP }, text);

const FLAG = 'M-3.5 5.5v-11h8l-2 3.5 2 3.5h-8';

function boxParts({ node, object }: Spot): SVGElement[] {
  if (node.height < LEAST_BOX) return [lineOf('name', node.label, 4, node)];
  const content = object ? [s('g', { transform: 'translate(0 -16)' }, inside(object, node.state))] : [];
  return [...content, lineOf('name', node.label, 19, node), ...(node.detail ? [lineOf('state', node.detail, 33, node)] : [])];
}

function pillParts({ node }: Spot): SVGElement[] {
  const icons = pillIcons(node);
  const left = BEFORE - node.width / 2;
  const x = left + MARK * icons.length;
  const room = node.width / 2 - x - GAP / 2;
  const line = (look: string, y: number, text: string): SVGElement => s('text', { class: look, x, y, 'data-room': room }, text);
  const texts = node.detail ? [line('tool', -3, node.label), line('state', 12, node.detail)] : [line('tool', 4, node.label)];
  return [...icons.map((name, index) => mark(name, left + MARK * index + 6, 0)), ...texts];
}

function parts(spot: Spot): SVGElement[] {
  const { kind, label, width } = spot.node;
  if (kind === 'branch') return [s('text', { class: 'name', x: -width / 2, y: 4 }, label)];
  if (kind === 'object') return boxParts(spot);
  return kind === 'call' ? pillParts(spot) : [lineOf(kind === 'reference' ? 'state' : 'name', label, 4, spot.node)];
}

/** The marks on the upper corners of a box, outside of its text: on the right the flag of an output, if it has one. */
function cornerMarks({ spot: { node, object }, text }: SceneNode): SVGElement[] {
  const isFlagged = node.flag !== '' && object?.role !== 'output';
  const corner = (side: 1 | -1, sign: SVGElement): SVGElement =>
    s('g', { transform: `translate(${(side * node.width) / 2} ${-node.height / 2})` }, s('circle', { class: 'mark', r: 9 }), sign);
  const flag = isFlagged ? [corner(1, s('path', { class: 'flag', d: FLAG }))] : [];
  return text.mark ? [...flag, corner(isFlagged ? -1 : 1, mark(text.mark, 0, 0))] : flag;
}

/** The button of a node, with its accessible name; the drawing beside it is hidden from screen readers. */
const nodeButton = ({ spot: { key, node }, text }: SceneNode): SVGElement =>
  s('rect', {
    class: 'hit', role: 'button', key: `button ${key}`, tabindex: -1, label: text.label, 'aria-description': text.state,
    x: -node.width / 2, y: -node.height / 2, width: node.width, height: node.height
  });

function nodeElement(shown: SceneNode): SVGElement {
  const { spot, text, isAway } = shown;
  const rx = spot.node.kind === 'call' ? spot.node.height / 2 : 8;
  // A fold looks as a stack does.
  const behind = spot.node.kind === 'fold' ? [s('g', { transform: 'translate(3 -3)' }, frame('tile', spot.node, 0, rx))] : [];
  const face = [frame('ring', spot.node, 4, rx), ...behind, frame('tile', spot.node, 0, rx), ...parts(spot), ...cornerMarks(shown)];
  const title = s('title', {}, joined(': ', text.label, text.state));
  const look = `node ${nodeLook(spot)}${isAway ? ' away' : ''}`;
  return s('g', { class: look, key: spot.key }, title, nodeButton(shown), s('g', { class: 'picture', silent: 'true' }, ...face));
}

function linkElement({ link: { edge, head, tail }, isAway }: SceneLink): SVGElement {
  const call = head.call ?? tail.call;
  const state = call ? (head.call ? head : tail).node.state : 'ran';
  const look = joined(' ', 'e', state, edge.muted && 'pale', edge.dashed && 'dashed', isAway && 'away');
  const label = edge.label ? [s('text', 'param', oneLine(edge.label, 80))] : [];
  return s('g', look, s('path', 'edge'), s('path', 'head'), ...label);
}

function placeNode(element: Element, { spot: { x, y } }: SceneNode, before?: SceneNode): void {
  if (before?.spot.x !== x || before.spot.y !== y) element.setAttribute('transform', `translate(${x} ${y})`);
}

function placeLink({ children: [path, head, label] }: Element, { link: { edge } }: SceneLink, before?: SceneLink): void {
  if (before?.link.edge.path === edge.path) return;
  path?.setAttribute('d', edge.path);
  head?.setAttribute('d', `${edge.path.split(/[ch]/)[0] ?? ''}h0`);
  label?.setAttribute('x', String(edge.label_x));
  label?.setAttribute('y', String(edge.label_y + 3.5));
}

/**
 * Fits texts into their room, in which they may be too wide: fonts differ from the kernel's table of letters. Returns
 * nodes that cannot be seen, nor measured.
 */
function fitTexts(nodes: readonly SVGElement[]): SVGElement[] {
  const texts = nodes.flatMap(
    node => [...node.querySelectorAll<SVGTextElement>('[data-room]')].map(text => ({ node, text, width: text.getComputedTextLength() }))
  );
  for (const { text, width } of texts) {
    const room = text.dataset.room ?? '';
    if (width <= Number(room)) continue;
    text.setAttribute('textLength', room);
    text.setAttribute('lengthAdjust', 'spacingAndGlyphs');
  }
  return [...new Set(texts.filter(({ node, width }) => width === 0 && node.isConnected).map(({ node }) => node))];
}

/** The side of the box of a guess. */
const GUESS = 48;

export const guessElement = ({ x, y, text }: Guess): SVGElement =>
  s(
    'g',
    {},
    s('rect', { class: 'guess', x: x - GUESS / 2, y: y - GUESS / 2, width: GUESS, height: GUESS, rx: 8 }),
    s('text', { class: 'guess', x, y: y + 7 }, '?'),
    s('text', { class: 'note', x, y: y + GUESS / 2 + 16 }, text)
  );

const nodeStamp = ({ spot, text, isAway }: SceneNode): unknown[] =>
  [nodeLook(spot), isAway, text.label, text.state, text.mark, JSON.stringify({ ...spot.node, x: 0, y: 0 }), spot.object?.preview];

const linkStamp = ({ link: { edge, head, tail }, isAway }: SceneLink): unknown[] =>
  [edge.label, edge.muted, edge.dashed, head.node.state, tail.node.state, isAway];

/** Half the width of what stands in a box, in pixels, the characters of a line, and the most lines. */
const [HALF, SIGNS, LINES] = [48, 17, 4];
/** A text size, with the characters of a line and the lines that fit into a box. */
type TextSize = readonly [size: number, signs: number, lines: number];
/** Short texts are larger. */
const TEXT_SIZES: readonly TextSize[] = [[11, 14, 3], [9, SIGNS, LINES]];

/** Moves what is drawn for 24 by 24 pixels into a box. */
function scaledGlyph(drawing: SVGElement): SVGElement {
  drawing.setAttribute('transform', 'translate(-15.3 -15.3) scale(1.275)');
  return drawing;
}

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

const isWhole = (lines: readonly string[]): boolean => !lines.some(text => text.includes('…'));

/** Text in the largest size that fits, else cut. */
function fittedWords(lay: (type: TextSize) => readonly string[]): SVGElement {
  const laid = TEXT_SIZES.map(type => ({ type, lines: lay(type) }));
  const fits = laid.find(({ type, lines }) => lines.length <= type[2] && isWhole(lines)) ?? laid.at(-1);
  const [size = 0, lines = []] = fits ? [fits.type[0], fits.lines] : [];
  const high = size * 1.25;
  const top = -((lines.length - 1) * high) / 2 + size * 0.35;
  return s('g', {}, ...lines.map((text, row) => s('text', { class: `small s${size}`, x: -HALF, y: top + row * high }, text)));
}

/** The first rows of a table, and how many columns have no room. */
function tableContent({ lines, others }: Preview): SVGElement {
  const texts = [...lines.slice(0, LINES), others].map((text, row) =>
    s('text', { class: row ? 'small' : 'small strong', x: -HALF, y: -13 + row * 11.25 }, text.slice(0, SIGNS))
  );
  return s('g', {}, s('path', { class: 'rule', d: `M${-HALF} -9.5h${2 * HALF}` }), ...texts);
}

/** Whether a text is more than a default `<… object at 0x…>`. */
const isTelling = (text: string): boolean => text !== '' && !/^<[\w.]+ object at 0x/.test(text);

function objectContent(preview: Preview): SVGElement {
  const href = safeImage(preview.image);
  if (preview.glyph.length > 0) return scaledGlyph(glyph(preview));
  if (href) {
    const box = { x: -20, y: -20, width: 40, height: 40, preserveAspectRatio: 'xMidYMid meet' };
    // The card gives transparent pictures a background.
    const card = s('rect', { class: 'card', x: -22, y: -22, width: 44, height: 44, rx: 6 });
    return s('g', {}, card, s('image', { href, class: 'thumb', ...box }));
  }
  if (preview.lines.length > 0) return tableContent(preview);
  const fields = preview.fields.map(([name, value]) => shortLine(`${name} ${value}`, 60)).slice(0, LINES);
  const [only] = fields;
  if (!preview.html && only !== undefined)
    return fittedWords(([, signs, lines]) => (fields.length > 1 ? fields.map(text => clip(text, signs)) : shortLines(only, lines, signs)));
  return isTelling(preview.text) ? fittedWords(([, signs, lines]) => shortLines(preview.text, lines, signs)) : scaledGlyph(sign('object'));
}

/** The content of an object's box. */
function inside(object: ObjectRow, state: Spot['node']['state']): SVGElement {
  if (object.role === 'output') return scaledGlyph(sign('flag'));
  if (object.role !== 'pending') return objectContent(object.preview);
  return scaledGlyph(sign(state === 'running' ? 'running' : 'next'));
}

interface Marks {
  /** The key of the chosen node. */
  readonly chosen: string | undefined;
  /** The key of the node with tabindex 0. */
  readonly tab: string | undefined;
  readonly found: ReadonlySet<string>;
}

const buttonOf = (node: Element): SVGElement | null => node.querySelector<SVGElement>(':scope > .hit');
const keyOf = (element: Element): string => element.getAttribute('data-k') ?? '';

export class GraphLayers {
  readonly edges = s('g');
  readonly nodes = s('g');
  private readonly _guess = s('g');
  private readonly _linkLayer = keyedChildren(this.edges, linkElement, placeLink);
  private readonly _nodeLayer = keyedChildren(this.nodes, item => this._nodeElement(item), placeNode);
  private readonly _guessLayer = keyedChildren(this._guess, guessElement);
  private _unmeasured: SVGElement[] = [];
  readonly world: SVGGElement = s('g', {}, this.edges, this.nodes, this._guess);

  draw({ nodes, links, guess }: Scene): void {
    this._linkLayer(links.map(item => ({ key: item.link.key, stamp: linkStamp(item), item })));
    this._nodeLayer(nodes.map(item => ({ key: item.spot.key, stamp: nodeStamp(item), item })));
    this._guessLayer(guess ? [{ key: 'guess', stamp: [guess.x, guess.y], item: guess }] : []);
    if (this._unmeasured.length) afterLayout(() => this.fit());
  }

  fit(): void {
    this._unmeasured = fitTexts(this._unmeasured);
  }

  private _nodeElement(node: SceneNode): SVGElement {
    const element = nodeElement(node);
    this._unmeasured.push(element);
    return element;
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
