/** The drawing that the kernel sent, with the rows that its nodes stand for. Nothing is placed or routed here. */
import type { CallRow, GraphEdge, GraphNode, GraphRow, ObjectRow } from '../../generated/contract';
import { joined } from '../dom';
import { savedName } from '../labels';
import { mainUse } from '../lineage';
import { drawnId } from '../model';
import { oneLine } from '../text';
import type { ViewState } from '../view_state';

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** A node at its place. */
export interface Spot {
  /** The kind and the row of the node. */
  readonly key: string;
  readonly x: number;
  readonly y: number;
  readonly node: GraphNode;
  readonly object: ObjectRow | null;
  readonly call: CallRow | null;
}

/** The box that a node takes. */
export const boxOf = ({ x, y, node }: Spot): Box => {
  const [across, up] = [node.width / 2, node.height / 2];
  return { left: x - across, right: x + across, top: y - up, bottom: y + up };
};

export interface Link {
  readonly key: string;
  readonly tail: Spot;
  readonly head: Spot;
  readonly edge: GraphEdge;
}

export interface Drawing {
  readonly spots: readonly Spot[];
  readonly links: readonly Link[];
  /** The spot of an object, by the id of its row. */
  readonly spotOf: (object: string) => Spot | undefined;
  /** The pill of a call, by the id of its row. */
  readonly pillOf: (call: string) => Spot | undefined;
  /** The newest object of the shown branch, else its newest call. */
  readonly newest: Spot | undefined;
  /** The boxes that stand for calls that are not drawn, each with the last of them. */
  readonly folds: readonly Spot[];
  readonly box: Box;
}

/** The box around some spots, with space; null if there is none. */
export function boxAround(spots: readonly (Spot | undefined)[], space = 0): Box | null {
  const boxes = spots.flatMap(spot => (spot ? [boxOf(spot)] : []));
  if (boxes.length === 0) return null;
  return {
    left: Math.min(...boxes.map(({ left }) => left)) - space, right: Math.max(...boxes.map(({ right }) => right)) + space,
    top: Math.min(...boxes.map(({ top }) => top)) - space, bottom: Math.max(...boxes.map(({ bottom }) => bottom)) + space
  };
}

const EMPTY_BOX: Box = { left: 0, top: 0, right: 0, bottom: 0 };
export const NO_DRAWING: Drawing = {
  spots: [], links: [], spotOf: () => undefined, pillOf: () => undefined, newest: undefined, folds: [], box: EMPTY_BOX
};

/** The number of the call that a spot is of; 0 for what was there before. */
export const stepOf = ({ object, call }: Spot): number => call?.step ?? object?.step ?? 0;

/** An object has a reference in each row of the drawing in which it is taken again. */
const keyOf = ({ kind, row, y }: GraphNode): string => `${kind}:${row}${kind === 'reference' ? ` ${y}` : ''}`;

/** What is drawn of a state; at an earlier step, what had happened by then. */
export function drawingOf(view: ViewState): Drawing {
  const { model, isPast, step } = view;
  const { graph } = model;
  const all = graph.nodes.map((node): Spot => {
    const object = ['object', 'reference'].includes(node.kind) ? (model.objects.get(node.row) ?? null) : null;
    const call = ['call', 'fold'].includes(node.kind) ? (model.calls.get(node.row) ?? null) : null;
    // What is saved after the shown step is not saved there.
    const isSavedLater = node.kind === 'object' && object !== null && object.saved !== savedName(view, object);
    const now = isSavedLater ? { ...node, flag: '', detail: oneLine(joined(' · ', object.label, object.preview.caption), 24) } : node;
    return { key: keyOf(node), x: node.x, y: node.y, node: now, object, call };
  });
  // The rows of what is not to be seen yet are left out.
  const hasRow = ({ object, call, node }: Spot): boolean => object !== null || call !== null || ['branch', 'fold'].includes(node.kind);
  const isMade = (spot: Spot): boolean => hasRow(spot) && (!isPast || (stepOf(spot) <= step && spot.object?.role !== 'output'));
  // A reference is there with a call that takes it, and a branch with what is in its rows.
  const taken = new Set(graph.edges.filter(({ head }) => all[head] && isMade(all[head])).map(({ tail }) => all[tail]));
  const hasRows = (spot: Spot): boolean => {
    const below = all.slice(all.indexOf(spot) + 1);
    const next = below.findIndex(({ node }) => node.kind === 'branch');
    return !isPast || below.slice(0, next < 0 ? below.length : next).some(isMade);
  };
  const isThere = (spot: Spot): boolean => (spot.node.kind === 'reference' ? taken.has(spot) : spot.node.kind === 'branch' ? hasRows(spot) : isMade(spot));
  const spots = all.filter(isThere);
  const links = graph.edges.flatMap((edge): Link[] => {
    const [tail, head] = [all[edge.tail], all[edge.head]];
    return tail && head && isThere(tail) && isThere(head) ? [{ key: `${tail.key} ${head.key}`, tail, head, edge }] : [];
  });
  const byKey = new Map(spots.map(spot => [spot.key, spot]));
  const spotOf = (object: string): Spot | undefined => byKey.get(`object:${object}`) ?? byKey.get(`object:${drawnId(model, object)}`);
  const pillOf = (call: string): Spot | undefined => byKey.get(`call:${call}`) ?? byKey.get(`call:${model.calls.get(call)?.same ?? ''}`);
  const isNewest = ({ node }: Spot): boolean => !node.muted && !node.input && !node.flag && ['object', 'call'].includes(node.kind);
  const steps = spots.filter(isNewest).sort((a, b) => stepOf(a) - stepOf(b) || Number(a.node.kind === 'object') - Number(b.node.kind === 'object'));
  const { width, height } = graph;
  const [shown, whole] = [boxAround(spots), boxAround(all)];
  // What happened later takes no height; from left to right nothing moves.
  const box = shown && whole ? { left: 0, top: shown.top - whole.top, right: width, bottom: height + shown.bottom - whole.bottom } : EMPTY_BOX;
  return { spots, links, spotOf, pillOf, newest: steps.at(-1) ?? spots[0], folds: spots.filter(({ node }) => node.kind === 'fold'), box };
}

/** A drawing that stays as it is, with the states of another one. */
export function withStates(shown: GraphRow, { nodes }: GraphRow): GraphRow {
  const states = new Map(nodes.map(node => [keyOf(node), node]));
  const now = shown.nodes.map((node): GraphNode => {
    const { state, edited, stale, dashed, flag } = states.get(keyOf(node)) ?? node;
    return { ...node, state, edited, stale, dashed, flag };
  });
  return { ...shown, nodes: now };
}

/** The box that stands for a call that is not drawn: of its branch the first that ends with it or after it. */
export const boxOfHidden = ({ folds }: Drawing, { branch, step }: CallRow): Spot | undefined =>
  folds.find(({ call }) => call?.branch === branch && call.step >= step) ?? folds[0];

/** The pill of a call, or its object, or what it used; of a call that is not drawn, the box that stands for it. */
export function spotOfCall(drawing: Drawing, call: CallRow): Spot | undefined {
  const { pillOf, spotOf, newest } = drawing;
  const isEarlier = !call.scheme && newest !== undefined && call.step < stepOf(newest);
  return pillOf(call.id) ?? spotOf(call.object) ?? spotOf(mainUse(call)?.object ?? '') ?? (isEarlier ? boxOfHidden(drawing, call) : undefined);
}

const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] } as const;
type Arrow = keyof typeof DIRECTIONS;

export const isArrow = (key: string): key is Arrow => key in DIRECTIONS;

/** The nearest spot in a direction; sideways distance counts three times. */
function nearest(spots: readonly Spot[], from: Spot, arrow: Arrow): Spot | undefined {
  const [dx, dy] = DIRECTIONS[arrow];
  let best: Spot | undefined;
  let least = Infinity;
  for (const spot of spots) {
    const [x, y] = [spot.x - from.x, spot.y - from.y];
    const along = x * dx + y * dy;
    const far = along > 0 ? along + 3 * Math.abs(x * dy - y * dx) : Infinity;
    if (far < least) [best, least] = [spot, far];
  }
  return best;
}

/** The spot that an arrow key leads to: along an edge, the straightest one, else the nearest. */
export function arrowTarget({ spots, links }: Drawing, from: Spot, arrow: Arrow): Spot | undefined {
  const ends =
    arrow === 'ArrowLeft' ? links.filter(link => link.head === from).map(link => link.tail)
    : arrow === 'ArrowRight' ? links.filter(link => link.tail === from).map(link => link.head)
    : [];
  const [straight] = ends.sort((a, b) => Math.abs(a.y - from.y) - Math.abs(b.y - from.y));
  return straight ?? nearest(spots, from, arrow);
}
