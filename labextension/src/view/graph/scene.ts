/** What is drawn of a part of the graph: nodes, edges and notes with their places. */
import { branchName, currentBranch } from '../labels';
import { clip, oneLine } from '../text';
import type { ViewState } from '../view_state';
import { WIDE } from './edge_routes';
import { type Edge, edges } from './edges';
import type { Layout, Size, Spot } from './layout';
import { type GraphNode, nodeAt } from './node_labels';

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

/** The nodes at these spots, and the edges that lead to them. */
export const scene = (view: ViewState, spots: readonly Spot[], layout: Layout, size: Size): Scene => ({
  nodes: spots.map(spot => nodeAt(view, spot, size)),
  edges: edges(view, spots, layout, size)
});

const isLine = ({ object, parked }: Spot): boolean => object !== null && !parked && object.role !== 'input';

/** The branch names, at the last node of each branch. */
function branchNotes(view: ViewState, spots: readonly Spot[]): Note[] {
  const last = new Map<string, Spot>();
  for (const spot of spots) {
    if (!isLine(spot) || !spot.object) continue;
    const known = last.get(spot.object.branch);
    if (!known || spot.x >= known.x) last.set(spot.object.branch, spot);
  }
  if (last.size < 2) return [];
  return [...last].map(([branch, spot]) => {
    const text = branch === '' ? (currentBranch(view.model)?.name ?? 'this') : branchName(view.model, branch);
    const look = branch === '' ? 'branch on' : 'branch off';
    return { key: `branch ${branch}`, look, text: clip(oneLine(text, 80), 12), x: spot.x + 38, y: spot.y + 4 };
  });
}

/** A narrower brace gets the short note. */
const LEAST_LONG_NOTE = 250;

interface Brace {
  readonly note: Note;
  readonly path: string;
}

/** The brace under the calls that both branches share; null if there is no space. */
function brace(view: ViewState, spots: readonly Spot[]): Brace | null {
  const pale = spots.filter(spot => spot.object?.branch);
  if (pale.length === 0 || view.isPast) return null;
  const begin = Math.min(...pale.map(spot => spot.object?.step ?? 0));
  const shared = spots.filter(
    ({ object, parked }) => object?.branch === '' && !parked && object.step < begin
  );
  const low = Math.max(...shared.map(spot => spot.y));
  const row = shared.filter(spot => spot.y === low);
  if (row.length < 2) return null;
  const left = Math.min(...row.map(spot => spot.x)) - 24;
  const right = Math.max(...row.map(spot => spot.x)) + 24;
  if (spots.some(spot => spot.y > low && spot.x < right + 40)) return null;
  const y = low + 74;
  const text = right - left < LEAST_LONG_NOTE ? 'shared, not run again' : 'shared by both branches, not run again';
  const note = { key: 'shared', look: 'note', text, x: (left + right) / 2, y: y + 24 };
  return { note, path: `M${left} ${y}v6h${right - left}v-6` };
}

const COLUMN_WIDTH = WIDE.pitch;

/** The place of the call to guess: after the newest node. */
const guessSpot = (view: ViewState, newest: Spot | undefined): Spot | null => (view.toGuess && !view.isPast && newest) || null;

const guessNotes = ({ x, y }: Spot): Note[] => [
  { key: 'guess', look: 'guess', text: '?', x: x + COLUMN_WIDTH, y: y + 7 },
  { key: 'yours', look: 'note', text: 'your guess', x: x + COLUMN_WIDTH, y: y + 44 }
];

const guessStrokes = ({ x, y }: Spot): Stroke[] => [
  { look: 'guess', path: `M${x + COLUMN_WIDTH - 16} ${y - 24}h32a8 8 0 0 1 8 8v32a8 8 0 0 1-8 8h-32a8 8 0 0 1-8-8v-32a8 8 0 0 1 8-8zM${x + 32} ${y}h${COLUMN_WIDTH - 65}` },
  { look: 'guess tip', path: `M${x + COLUMN_WIDTH - 26} ${y}l-7-3.5v7z` }
];

function pastNote(view: ViewState, newest: Spot | undefined): Note[] {
  if (!view.isPast || !newest) return [];
  return [{ key: 'after', look: 'note', text: 'later steps are hidden', x: newest.x + 145, y: newest.y + 4 }];
}

export interface Surroundings {
  readonly notes: readonly Note[];
  /** The divider and the brace. */
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
  const branches = view.model.branches.size > 1 ? branchNotes(view, spots) : [];
  const shared = view.model.branches.size > 1 ? brace(view, spots) : null;
  const row = divider === null ? [] : [{ look: 'div', path: `M${divider} -48V64` }];
  const asked = guessSpot(view, newest);
  return {
    notes: [...branches, ...(shared ? [shared.note] : []), ...(asked ? guessNotes(asked) : pastNote(view, newest))],
    strokes: [...row, ...(shared ? [{ look: 'brace', path: shared.path }] : []), ...(asked ? guessStrokes(asked) : [])],
    newest,
    right: Math.max(asked ? asked.x + COLUMN_WIDTH + 40 : 0, ...branches.map(note => note.x + note.text.length * 6.6 + 8))
  };
}
