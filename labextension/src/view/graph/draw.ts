/** Nodes, edges and notes of the graph as elements: data in, an element out. */
import { s } from '../dom';
import { mark } from '../icons';
import type { Edge, Label, Port } from './edges';
import type { Note, Stroke } from './scene';
import { inside } from './tile';
import type { Node } from './words';

function square(look: string, half: number): SVGElement {
  const side = 2 * half;
  return s('rect', { class: look, x: -half, y: -half, width: side, height: side, rx: half === 24 ? 8 : 11 });
}

function tile(node: Node): SVGElement[] {
  const behind = node.look === 'output' ? [square('tile2', 28)] : [];
  const stack =
    node.look === 'stack'
      ? [8, 4].map(shift => s('rect', { class: 'tile', x: -24 + shift, y: -24 - shift, width: 48, height: 48, rx: 8 }))
      : [];
  return [square('ring', 28), ...behind, ...stack, square('tile', 24)];
}

function texts(node: Node): SVGElement[] {
  const low = node.look === 'output' ? 4 : 0;
  return [
    s('text', { class: 'name', y: 41 + low }, node.name),
    s('text', { class: 'state', y: 56 + low }, node.state)
  ];
}

function seal({ mark: icon }: Node): SVGElement[] {
  return icon ? [s('circle', { class: 'mark', cx: 24, cy: -24, r: 9 }), mark(icon, 24, -24)] : [];
}

/** What is pressed and read out. The picture beside it is neither: its words would not be those of the name. */
const button = (node: Node): SVGElement =>
  s('rect', {
    class: 'hit',
    role: 'button',
    'data-k': `button ${node.key}`,
    tabindex: -1,
    'aria-label': node.label,
    'aria-description': node.whole.slice(node.label.length).replace(/^[:,] /, ''),
    x: -44,
    y: -32,
    width: 88,
    height: 92
  });

/** A node; seen from afar only its tile is drawn. */
export function nodeElement(node: Node, afar: boolean): SVGElement {
  const picture = afar
    ? [square('ring', 28), square('tile', 24)]
    : [...tile(node), inside(node), ...seal(node), ...texts(node)];
  return s(
    'g',
    { class: `node ${node.look}`.trim(), 'data-k': node.key, transform: `translate(${node.spot.x} ${node.spot.y})` },
    s('title', {}, node.whole),
    button(node),
    s('g', { class: 'picture', 'aria-hidden': 'true' }, ...picture)
  );
}

function labelElement(label: Label): SVGElement {
  const first = label.at.y - 12 * (label.lines.length - 1);
  const rows = label.lines.map((text, row) => s('tspan', { x: label.at.x, y: first + 12 * row }, text));
  const title = label.lines.join('') === label.whole ? [] : [s('title', {}, label.whole)];
  return s('text', { class: label.look, 'text-anchor': label.anchor }, ...title, ...rows);
}

function portElement({ text, whole, left, top, width }: Port): SVGElement {
  const box = s('rect', { class: 'port', x: left, y: top, width, height: 14, rx: 4 });
  return s('g', {}, s('title', {}, whole), box, s('text', { class: 'portname', x: left + width / 2, y: top + 10.5 }, text));
}

export function edgeElement(edge: Edge, afar: boolean): SVGElement {
  const path = s('path', { class: edge.thin ? 'edge arg' : 'edge', d: edge.path });
  if (afar) return s('g', { class: `e ${edge.look}`.trim() }, path);
  const { mark: sign, label, port } = edge;
  const icon = sign
    ? [s('circle', { class: 'mark', cx: sign.at.x, cy: sign.at.y, r: 10 }), mark(sign.icon, sign.at.x, sign.at.y)]
    : [];
  const words = [...(port ? [portElement(port)] : []), ...(label ? [labelElement(label)] : [])];
  const head = s('path', { class: 'head', d: edge.head });
  return s('g', { class: `e ${edge.look}`.trim() }, path, head, ...icon, ...words);
}

export const noteElement = (note: Note): SVGElement => s('text', { class: note.look, x: note.x, y: note.y }, note.text);

export const strokeElement = (stroke: Stroke): SVGElement => s('path', { class: stroke.look, d: stroke.path });

export const nodeStamp = (node: Node): unknown[] => [
  node.look,
  node.label,
  node.name,
  node.state,
  node.whole,
  node.mark,
  node.spot.x,
  node.spot.y,
  node.spot.object?.preview,
  node.spot.folded.length
];

export const edgeStamp = (edge: Edge): unknown[] => [
  edge.look,
  edge.path,
  edge.label?.whole,
  edge.label?.lines.length,
  edge.port?.whole,
  edge.mark?.icon
];
