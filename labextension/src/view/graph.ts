/** The canvas of the graph, and the hand of the person on it. */
import { camera } from './camera';
import { h, keyed, s, type Keyed } from './dom';
import { edgeElement, neighbour, nodeElement, noteElement, stampOf, stateElement } from './draw';
import { button, icon } from './icons';
import type { Acts, Choice, Look } from './look';
import type { Size } from './place';
import { scene, type Node, type Scene } from './scene';

const NARROW = 640;
const TALL = 520;

const choiceOf = (node: Node): Choice => ({
  call: node.spot.failed?.id ?? node.spot.object?.call ?? '',
  object: node.spot.object?.id ?? ''
});

const DIRECTIONS: Readonly<Record<string, readonly [number, number]>> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1]
};

export interface Graph {
  readonly element: HTMLElement;
  paint(view: Look): void;
  resize(): void;
}

/** The canvas with the graph and its tools. */
export function graph(acts: Acts): Graph {
  const layers = { strokes: s('g'), edges: s('g'), nodes: s('g'), states: s('g', { 'aria-hidden': 'true' }), notes: s('g') };
  const world = s('g', {}, layers.strokes, layers.edges, layers.nodes, layers.states, layers.notes);
  const svg = s('svg', { class: 'g', role: 'graphics-document img', 'aria-label': 'Object lineage' }, world);
  const tidy = button('Tidy', { look: 'ghost', onclick: () => acts.send({ type: 'tidy' }) });
  const refold = button('Fold', { look: 'ghost', onclick: () => acts.set({ unfolded: new Set() }) });
  const hand = camera(svg, world, () => draw());
  const tools = h(
    'div',
    { class: 'tc-tools' },
    refold,
    tidy,
    button('', { icon: 'minus', label: 'Zoom out', look: 'ghost icon', onclick: () => hand.zoom(1 / 1.25) }),
    button('', { icon: 'plus', label: 'Zoom in', look: 'ghost icon', onclick: () => hand.zoom(1.25) }),
    button('', { icon: 'fit', label: 'Fit', look: 'ghost icon', onclick: () => hand.fit(now) })
  );
  const hint = h(
    'p',
    { class: 'tc-empty' },
    icon('info'),
    'No objects yet. What the session begins with, and what its calls make, stands here.'
  );
  const element = h('div', { class: 'tc-canvas' }, svg, tools, hint);

  const edgeLayer = keyed(layers.edges, edgeElement);
  const nodeLayer = keyed(layers.nodes, nodeElement);
  const stateLayer = keyed(layers.states, stateElement);
  const noteLayer = keyed(layers.notes, noteElement);
  const strokeLayer = keyed(layers.strokes, (stroke: Scene['strokes'][number]) =>
    s('path', { class: stroke.look, d: stroke.path })
  );

  let now: Scene = { nodes: [], edges: [], notes: [], strokes: [], width: 0, height: 0, newest: '' };
  let view: Look | null = null;
  let focused = '';
  let shown = '';

  let width = 0;

  /** The width is read once and when it changes: to read it makes the browser lay out. */
  const size = (): Size => {
    width ||= element.clientWidth;
    const known = width || 900;
    return { width: known, narrow: known < NARROW };
  };

  function nodeOf(event: Event): Node | undefined {
    const target = event.target instanceof Element ? event.target.closest('.node') : null;
    const key = target?.getAttribute('data-k');
    return now.nodes.find(node => node.key === key);
  }

  function open(node: Node): void {
    const first = node.spot.folded[0];
    if (first && view) {
      acts.set({ unfolded: new Set([...view.ui.unfolded, node.key]) });
      const begin = now.nodes.find(one => one.key === first.id);
      if (begin) focus(begin);
    } else acts.set({ chosen: choiceOf(node), form: null });
  }

  function focus(node: Node): void {
    focused = node.key;
    hand.reveal(node.spot);
    draw();
    const element = [...layers.nodes.children].find(child => child.getAttribute('data-k') === node.key);
    (element as SVGElement | undefined)?.focus({ preventScroll: true });
  }

  function press(event: KeyboardEvent): void {
    const node = nodeOf(event);
    const direction = DIRECTIONS[event.key];
    if (event.key === 'Escape') acts.set({ chosen: null, form: null });
    else if (!node) return;
    else if (event.key === 'Enter' || event.key === ' ') open(node);
    else if (direction) {
      const next = neighbour(now.nodes, node, direction);
      if (next) focus(next);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function mind(): void {
    const chosen = view?.chosen;
    const tab = now.nodes.some(node => node.key === focused)
      ? focused
      : chosen && now.nodes.some(n => n.key === chosen.object)
        ? chosen.object
        : now.newest;
    for (const child of layers.nodes.children) {
      const key = child.getAttribute('data-k');
      const pressed = key !== null && key !== '' && (key === chosen?.object || key === `call:${chosen?.call ?? ''}`);
      child.setAttribute('aria-pressed', String(pressed));
      child.setAttribute('tabindex', key === tab ? '0' : '-1');
    }
  }

  const keyedItem = <T extends { readonly key: string }>(item: T, stamp: unknown[]): Keyed<T> => ({
    key: item.key,
    stamp,
    item
  });

  /** Puts what can be seen into the drawing; far away nodes of a great graph are left out. */
  function draw(): void {
    const { nodes, edges } = hand.inSight(now, focused);
    strokeLayer(now.strokes.map(item => ({ key: item.look, stamp: [item.path], item })));
    edgeLayer(edges.map(edge => keyedItem(edge, [edge.look, edge.path, edge.label?.text, edge.mark?.icon])));
    nodeLayer(nodes.map(node => keyedItem(node, stampOf(node))));
    stateLayer(nodes.map(node => keyedItem(node, [node.state, node.look, node.spot.x, node.spot.y])));
    noteLayer(now.notes.map(note => keyedItem(note, [note.text, note.x, note.y, note.look])));
    mind();
  }

  function paint(next: Look): void {
    view = next;
    now = scene(next, size());
    tidy.hidden = !next.live || next.past;
    refold.hidden = next.ui.unfolded.size === 0;
    hint.hidden = now.nodes.length > 0;
    tools.hidden = !hint.hidden;
    hand.space(size().width, Math.min(TALL, now.nodes.length ? Math.max(120, now.height) : 64));
    const failed = `call:${next.chosen.call}`;
    const choice = next.follow
      ? now.newest
      : (now.nodes.find(node => node.key === next.chosen.object || node.key === failed)?.key ?? '');
    const spot = now.nodes.find(node => node.key === choice)?.spot;
    if (next.follow) hand.follow(now, spot);
    else if (spot && shown !== choice) hand.reveal(spot);
    shown = choice;
    draw();
  }

  function resize(): void {
    const now = element.clientWidth;
    if (now === width || now === 0) return;
    width = now;
    if (view) paint(view);
  }

  svg.addEventListener('click', event => {
    const node = hand.dragged() ? undefined : nodeOf(event);
    if (!node) return;
    focused = node.key;
    open(node);
  });
  svg.addEventListener('keydown', press);
  svg.addEventListener('focusin', event => {
    const node = nodeOf(event);
    if (node) focused = node.key;
    mind();
  });
  return { element, paint, resize };
}
