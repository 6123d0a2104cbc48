/** What is drawn of a part of the graph: nodes, edges and notes with their places. */
import type { ViewState } from '../view_state';
import { WIDE } from './edge_routes';
import { type Edge, edges } from './edges';
import type { Layout, Size, Spot } from './layout';
import { type GraphNode, nodeAt } from './node_labels';
import { t } from '../text';

export interface Note {
  readonly key: string;
  readonly look: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

export interface Stroke {
  readonly look: string;
  readonly path: string;
}

export interface Scene {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly Edge[];
}

/** The nodes at these spots, and the edges that lead to them; what is not in the `lineage` is pale. */
export function scene(view: ViewState, spots: readonly Spot[], layout: Layout, size: Size, lineage: ReadonlySet<string> | null): Scene {
  const isIn = ({ object, failedCall, folded }: Spot, ids: ReadonlySet<string>): boolean =>
    ids.has(object?.id ?? '') || folded.some(one => ids.has(one.id)) || (failedCall?.uses.some(use => ids.has(use.object)) ?? false);
  const isAway = (spot: Spot): boolean => lineage !== null && !isIn(spot, lineage);
  return { nodes: spots.map(spot => nodeAt(view, spot, size, isAway(spot))), edges: edges(view, spots, layout, size, isAway) };
}

const isLine = ({ object, parked }: Spot): boolean => object !== null && !parked && object.role !== 'input';

const COLUMN_WIDTH = WIDE.pitch;

/** The place of the call to guess: after the newest node. */
const guessSpot = (view: ViewState, newest: Spot | undefined): Spot | null => (view.toGuess && !view.isPast && newest) || null;

const guessNotes = ({ x, y }: Spot): Note[] => [
  { key: 'guess', look: 'guess', text: '?', x: x + COLUMN_WIDTH, y: y + 7 },
  { key: 'yours', look: 'note', text: t('your guess'), x: x + COLUMN_WIDTH, y: y + 44 }
];

const guessStrokes = ({ x, y }: Spot): Stroke[] => [
  { look: 'guess', path: `M${x + COLUMN_WIDTH - 16} ${y - 24}h32a8 8 0 0 1 8 8v32a8 8 0 0 1-8 8h-32a8 8 0 0 1-8-8v-32a8 8 0 0 1 8-8zM${x + 32} ${y}h${COLUMN_WIDTH - 65}` },
  { look: 'guess tip', path: `M${x + COLUMN_WIDTH - 26} ${y}l-7-3.5v7z` }
];

export interface Surroundings {
  readonly notes: readonly Note[];
  /** The divider, and the frame of the call to guess. */
  readonly strokes: readonly Stroke[];
  /** The newest node of the shown branch. */
  readonly newest: Spot | undefined;
  /** How far the notes reach. */
  readonly right: number;
}

/** Notes and strokes around the nodes. */
export function surroundings(view: ViewState, layout: Layout): Surroundings {
  const { spots, divider } = layout;
  const newest = spots.findLast(spot => isLine(spot) && spot.object?.branch === '') ?? spots.findLast(spot => !spot.parked);
  const row = divider === null ? [] : [{ look: 'div', path: `M${divider} -48V64` }];
  const asked = guessSpot(view, newest);
  return {
    notes: asked ? guessNotes(asked) : [],
    strokes: [...row, ...(asked ? guessStrokes(asked) : [])],
    newest,
    right: asked ? asked.x + COLUMN_WIDTH + 40 : 0
  };
}
