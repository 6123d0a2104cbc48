/** The layers of the drawing: what did not change is not touched. */
import { keyed, s } from '../dom';
import { edgeElement, edgeStamp, nodeElement, nodeStamp, noteElement, strokeElement } from './draw';
import type { Around, Scene } from './scene';

export interface Marks {
  /** The key of the chosen node. */
  readonly chosen: string | undefined;
  /** The key of the node that Tab leads to. */
  readonly tab: string | undefined;
  readonly found: ReadonlySet<string>;
}

export interface Layers {
  readonly world: SVGGElement;
  readonly edges: SVGGElement;
  readonly nodes: SVGGElement;
  /** Seen from afar only tiles and lines are drawn. */
  draw(drawn: Scene, rest: Around, afar: boolean): void;
  mark(marks: Marks): void;
  /** What takes the focus of a node. */
  nodeOf(key: string): SVGElement | null | undefined;
}

/** What stands there already is not written again: to write makes the browser look at it anew. */
function put(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

const buttonOf = (node: Element): SVGElement | null => node.querySelector<SVGElement>(':scope > .hit');
const keyOf = (element: Element): string => element.getAttribute('data-k') ?? '';

export function layers(): Layers {
  const [strokes, edges, nodes, notes] = [s('g'), s('g'), s('g'), s('g')];
  let far = false;
  const strokeLayer = keyed(strokes, strokeElement);
  const edgeLayer = keyed(edges, (edge: Scene['edges'][number]) => edgeElement(edge, far));
  const nodeLayer = keyed(nodes, (node: Scene['nodes'][number]) => nodeElement(node, far));
  const noteLayer = keyed(notes, noteElement);
  return {
    world: s('g', {}, strokes, edges, nodes, notes),
    edges,
    nodes,
    draw(drawn, rest, afar) {
      far = afar;
      strokeLayer(rest.strokes.map(item => ({ key: item.look, stamp: [item.path], item })));
      edgeLayer(drawn.edges.map(item => ({ key: item.key, stamp: [...edgeStamp(item), afar], item })));
      nodeLayer(drawn.nodes.map(item => ({ key: item.key, stamp: [...nodeStamp(item), afar], item })));
      noteLayer(rest.notes.map(item => ({ key: item.key, stamp: [item.text, item.x, item.y, item.look], item })));
    },
    mark({ chosen, tab, found }) {
      for (const child of nodes.children) {
        const key = keyOf(child);
        const button = buttonOf(child);
        if (button) {
          put(button, 'aria-pressed', String(key === chosen));
          put(button, 'tabindex', key === tab ? '0' : '-1');
        }
        if (child.classList.contains('found') !== found.has(key)) child.classList.toggle('found');
      }
    },
    nodeOf(key) {
      const node = [...nodes.children].find(child => keyOf(child) === key);
      return node && buttonOf(node);
    }
  };
}
