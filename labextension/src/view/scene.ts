/** The whole drawing as data: nodes, edges and notes with their places. Only pure functions live here. */
import { edges, type Edge } from './edges';
import type { IconName } from './icons';
import type { Look } from './look';
import { pitch, places, type Size, type Spot } from './place';
import type { FullBranch, FullObject, Model } from './rows';
import { clip, count, line, many } from './text';

export interface Node {
  readonly key: string;
  readonly spot: Spot;
  readonly look: string;
  /** The accessible name. */
  readonly label: string;
  readonly name: string;
  readonly state: string;
  readonly whole: string;
  readonly mark: IconName | null;
}

export interface Note {
  readonly key: string;
  readonly look: string;
  readonly text: string;
  readonly x: number;
  readonly y: number;
}

export interface Scene {
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  readonly notes: readonly Note[];
  /** Plain strokes: the divider and the brace, by their class. */
  readonly strokes: readonly { readonly look: string; readonly path: string }[];
  readonly width: number;
  readonly height: number;
  /** The key of the newest node of the shown branch. */
  readonly newest: string;
}

export function branchNamed(model: Model, branch: string): FullBranch | undefined {
  return model.branches.get(branch) ?? [...model.branches.values()].find(row => row.name === branch);
}

export const branchName = (model: Model, branch: string): string => branchNamed(model, branch)?.name ?? branch;

export const currentBranch = (model: Model): FullBranch | undefined =>
  [...model.branches.values()].find(row => row.current);

/** The name of the output that it is saved as, as far as is known at the time looked at. */
export function savedAs(view: Look, object: FullObject): string {
  if (!object.saved || !view.past) return object.saved;
  const saving = view.calls.some(call => call.tool === 'save' && call.uses.some(use => use.object === object.id));
  return saving ? object.saved : '';
}

/** One line under an object's name. */
export function stateOf(view: Look, object: FullObject, parked = false): string {
  const saved = savedAs(view, object);
  if (object.role === 'pending') return 'not made yet';
  if (object.role === 'output') return 'still to save';
  if (parked) return 'not used yet';
  if (saved && object.branch === '') return `saved as ${saved}`;
  if (object.preview.caption) return object.preview.caption;
  return object.role === 'input' ? 'from the notebook' : '';
}

function lookOf(view: Look, spot: Spot): string {
  const { object } = spot;
  if (spot.failed) return 'failed';
  if (!object) return 'stack';
  if (object.branch !== '') return 'pale';
  if (object.role === 'output') return 'socket';
  if (view.model.calls.get(object.call)?.status === 'failed') return 'failed';
  if (savedAs(view, object)) return 'output';
  return object.role === 'made' ? '' : object.role;
}

function markOf(view: Look, object: FullObject): IconName | null {
  if (object.branch === '' && view.model.calls.get(object.call)?.memory) return 'memory';
  return object.equals ? 'equal' : null;
}

interface Words {
  readonly name: string;
  readonly label: string;
  readonly state: string;
}

function wordsOf(view: Look, spot: Spot): Words {
  const { object, failed, folded } = spot;
  if (failed) return { name: 'no object', label: `No object, ${failed.tool} failed`, state: failed.error || 'failed' };
  if (!object) {
    const state = `${folded[0]?.name ?? ''} to ${folded.at(-1)?.name ?? ''}`;
    return { name: many(folded.length, 'call'), label: `${many(folded.length, 'call')} folded`, state };
  }
  const state = stateOf(view, object, spot.parked);
  if (object.role === 'output')
    return { name: `${object.name}: ${object.kind}`, label: `Output ${object.name}: ${object.kind}`, state };
  const label = object.branch ? `${object.name} of ${branchName(view.model, object.branch)}` : object.name;
  return { name: object.name, label, state };
}

const room = (size: Size, unit: number): number => Math.floor((pitch(size) - 10) / unit);

function node(view: Look, spot: Spot, size: Size): Node {
  const words = wordsOf(view, spot);
  const equal = spot.object?.equals ? `, equal to ${spot.object.equals}` : '';
  const width = spot.parked ? 0.62 : 1;
  return {
    key: spot.key,
    spot,
    look: lookOf(view, spot),
    label: line(words.label, 120),
    name: clip(line(words.name, 120), Math.floor(room(size, 6.6) * width)),
    state: clip(line(words.state, 200), Math.floor(room(size, 5.6) * width)),
    whole: line(`${words.label}: ${words.state}${equal}`, 400),
    mark: spot.object ? markOf(view, spot.object) : null
  };
}

/** The last node of each branch that has pale ones says whose it is. */
function branchNotes(view: Look, nodes: readonly Node[]): Note[] {
  const last = new Map<string, Spot>();
  for (const { spot } of nodes) {
    if (!spot.object || spot.parked || spot.y < 0 || spot.object.role === 'input') continue;
    const known = last.get(spot.object.branch);
    if (!known || spot.x >= known.x) last.set(spot.object.branch, spot);
  }
  if (last.size < 2) return [];
  return [...last].map(([branch, spot]) => {
    const text = branch === '' ? (currentBranch(view.model)?.name ?? 'this') : branchName(view.model, branch);
    return {
      key: `branch ${branch}`,
      look: branch === '' ? 'branch on' : 'branch off',
      text: clip(line(text, 80), 12),
      x: spot.x + 38,
      y: spot.y + 4
    };
  });
}

interface Brace {
  readonly notes: readonly Note[];
  readonly path: string;
}

/** The brace under what both branches share, where it has room. */
function brace(view: Look, nodes: readonly Node[]): Brace | null {
  const pale = nodes.filter(one => one.look === 'pale');
  if (pale.length === 0 || view.past) return null;
  const begin = Math.min(...pale.map(one => one.spot.object?.step ?? 0));
  const main = nodes.filter(({ spot }) => spot.object?.branch === '' && !spot.parked && spot.object.step < begin);
  const low = Math.max(...main.map(one => one.spot.y));
  const line0 = main.filter(one => one.spot.y === low);
  if (line0.length < 2) return null;
  const left = Math.min(...line0.map(one => one.spot.x)) - 24;
  const right = Math.max(...line0.map(one => one.spot.x)) + 24;
  if (nodes.some(({ spot }) => spot.y > low && spot.x < right + 40)) return null;
  const y = low + 74;
  const note = {
    key: 'shared',
    look: 'note',
    text: 'shared by both branches, nothing ran again',
    x: (left + right) / 2,
    y: y + 24
  };
  return { notes: [note], path: `M${left} ${y}v6h${right - left}v-6` };
}

function after(view: Look, nodes: readonly Node[]): Note[] {
  const chain = nodes.filter(
    one => !one.spot.parked && one.spot.object?.branch === '' && one.spot.object.role !== 'input'
  );
  const last = chain.at(-1)?.spot;
  return view.past && last
    ? [{ key: 'after', look: 'note', text: 'after this: nothing known yet', x: last.x + 145, y: last.y + 4 }]
    : [];
}

/** What to draw in a space of this size. */
export function scene(view: Look, size: Size): Scene {
  const found = places(view, size);
  const nodes = found.spots.map(spot => node(view, spot, size));
  const shared = brace(view, nodes);
  const rows = nodes.filter(one => one.spot.parked).map(one => one.spot.y);
  const y = rows[0] ?? 0;
  const divider = found.divider === null ? [] : [{ look: 'div', path: `M${found.divider} ${y - 48}V${y + 64}` }];
  const branches = branchNotes(view, nodes);
  const made = nodes.filter(
    one => one.spot.object?.branch === '' && !one.spot.parked && one.spot.object.role !== 'input'
  );
  return {
    nodes,
    edges: edges(view, found, size),
    notes: [...branches, ...(shared?.notes ?? []), ...after(view, nodes)],
    strokes: [...divider, ...(shared ? [{ look: 'brace', path: shared.path }] : [])],
    width: Math.max(found.width, ...branches.map(note => note.x + note.text.length * 6.6 + 8)),
    height: found.bottom + (shared ? 2 : 0),
    newest: made.at(-1)?.key ?? nodes.at(-1)?.key ?? ''
  };
}

export const stackCount = (spot: Spot): string => count(spot.folded.length);
