/** Nodes, edges and notes of the graph as elements: data in, an element out. */
import { s } from './dom';
import type { Edge } from './edges';
import { glyph, mark, sign } from './icons';
import { stackCount, type Node, type Note } from './scene';

function tile(node: Node): SVGElement[] {
  const square = (look: string, half: number): SVGElement =>
    s('rect', { class: look, x: -half, y: -half, width: 2 * half, height: 2 * half, rx: half === 24 ? 8 : 11 });
  const behind = node.look === 'output' ? [square('tile2', 28)] : [];
  const stack =
    node.look === 'stack'
      ? [8, 4].map(shift => s('rect', { class: 'tile', x: -24 + shift, y: -24 - shift, width: 48, height: 48, rx: 8 }))
      : [];
  return [
    s('rect', { class: 'hit', x: -44, y: -32, width: 88, height: 92 }),
    square('ring', 28),
    ...behind,
    ...stack,
    square('tile', 24)
  ];
}

function picture(node: Node): SVGElement {
  const { object } = node.spot;
  if (node.look === 'stack') return s('text', { class: 'name', y: 4 }, stackCount(node.spot));
  const drawing =
    node.look === 'failed'
      ? sign('failed')
      : node.look === 'pending'
        ? sign('next')
        : node.look === 'socket' || !object
          ? sign('flag')
          : glyph(object.preview);
  return s('g', { transform: 'translate(-17 -17) scale(1.4167)' }, drawing);
}

export function nodeElement(node: Node): SVGElement {
  const low = node.look === 'output' ? 4 : 0;
  const seal = node.mark ? [s('circle', { class: 'mark', cx: 24, cy: -24, r: 9 }), mark(node.mark, 24, -24)] : [];
  const attributes = {
    class: `node ${node.look}`.trim(),
    role: 'button',
    'data-k': node.key,
    'aria-label': node.label,
    'aria-description': node.state,
    transform: `translate(${node.spot.x} ${node.spot.y})`
  };
  const name = s('text', { class: 'name', y: 41 + low }, node.name);
  return s('g', attributes, s('title', {}, node.whole), ...tile(node), picture(node), ...seal, name);
}

/** What stands below a node's name: a description, and no part of what the node is called. */
export function stateElement(node: Node): SVGElement {
  const [x, y] = [node.spot.x, node.spot.y + 56 + (node.look === 'output' ? 4 : 0)];
  return s('text', { class: 'state', x, y }, node.state);
}

export function edgeElement(edge: Edge): SVGElement {
  const { label } = edge;
  const words = label ? s('text', { class: label.look, x: label.x, y: label.y }, label.text) : null;
  if (label && label.text !== label.whole) words?.append(s('title', {}, label.whole));
  const seal = edge.mark
    ? [
        s('circle', { class: 'mark', cx: edge.mark.x, cy: edge.mark.y, r: 10 }),
        mark(edge.mark.icon, edge.mark.x, edge.mark.y)
      ]
    : [];
  const path = s('path', { class: edge.thin ? 'edge arg' : 'edge', d: edge.path });
  return s('g', { class: `e ${edge.look}`.trim() }, path, s('path', { class: 'head', d: edge.head }), ...seal, words);
}

export const noteElement = (note: Note): SVGElement => s('text', { class: note.look, x: note.x, y: note.y }, note.text);

export const stampOf = (node: Node): unknown[] => [
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

/** The nearest node in a direction; what stands aside counts as farther. */
export function neighbour(nodes: readonly Node[], from: Node, [dx, dy]: readonly [number, number]): Node | null {
  let best: Node | null = null;
  let least = Infinity;
  for (const node of nodes) {
    const x = node.spot.x - from.spot.x;
    const y = node.spot.y - from.spot.y;
    const along = x * dx + y * dy;
    const far = along > 0 ? along + 3 * Math.abs(x * dy - y * dx) : Infinity;
    if (far < least) [best, least] = [node, far];
  }
  return best;
}
