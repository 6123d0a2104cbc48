/** The paths of a graph's edges, and what stands on them. Only pure functions live here. */
import type { IconName } from './icons';
import type { Look } from './look';
import { pitch, type Places, type Size, type Spot } from './place';
import { together, type FullCall, type FullUse } from './rows';
import { clip, line } from './text';

export interface Label {
  readonly text: string;
  readonly whole: string;
  readonly x: number;
  readonly y: number;
  readonly look: 'tool' | 'param';
}

export interface Edge {
  readonly key: string;
  /** The key of the spot that it leads to. */
  readonly to: string;
  readonly look: string;
  readonly path: string;
  readonly head: string;
  readonly thin: boolean;
  readonly label: Label | null;
  readonly mark: { readonly icon: IconName; readonly x: number; readonly y: number } | null;
}

const FAR = 2.2;

interface Line {
  /** The source is too far away to be led to: it is named instead. */
  readonly far: boolean;
  readonly path: string;
  readonly head: string;
  /** Where the label stands over the line. */
  readonly x: number;
  readonly y: number;
  /** The icon stands on the line, where it is straight. */
  readonly straight: boolean;
}

const right = (x: number, y: number): string => `M${x} ${y}l-7 -3.5v7z`;
const down = (x: number, y: number): string => `M${x} ${y}l-3.5 -7h7z`;

/** The line from one tile to the next of the chain. */
function mainLine(a: Spot, b: Spot, step: number): Line {
  const end = b.x - (b.object?.saved && b.object.branch === '' ? 36 : 32);
  const start = a.x + (a.folded.length ? 38 : 32);
  const tip = right(end, b.y);
  if (a.x === b.x) {
    return {
      path: `M${b.x} ${a.y + 63}V${b.y - 38}`,
      head: down(b.x, b.y - 32),
      x: b.x,
      y: b.y - 46,
      straight: false,
      far: false
    };
  }
  if (a.y === b.y && b.x - a.x <= step * 1.5 && b.x > a.x) {
    return {
      path: `M${start} ${a.y}H${end - 6}`,
      head: tip,
      x: (start + end) / 2,
      y: a.y - 8,
      straight: true,
      far: false
    };
  }
  if (a.y === b.y) {
    const path = `M${a.x + 12} ${a.y - 30}C${a.x + 30} ${a.y - 58} ${b.x - 40} ${b.y - 58} ${b.x - 12} ${b.y - 38}`;
    return { path, head: down(b.x - 12, b.y - 31), x: b.x - step / 2, y: a.y - 54, straight: false, far: false };
  }
  const path = `M${start} ${a.y}C${a.x + 75} ${a.y} ${b.x - 83} ${b.y} ${end - 6} ${b.y}`;
  return { path, head: tip, x: end - step / 2 + 33, y: b.y + (b.y > a.y ? 20 : -8), straight: false, far: false };
}

/** The thin line of another argument, which comes from above; `seat` tells several apart. */
function argumentLine(a: Spot, b: Spot, seat: number, step: number): Line {
  const x = b.x + seat * 14;
  const tip = b.y - 32;
  const head = down(x, tip);
  const label = { x: x + 8, y: tip - 12 - Math.abs(seat) * 13, straight: false, far: false };
  if (Math.abs(a.x - b.x) > FAR * step)
    return { path: `M${x} ${tip - 34}V${tip - 6}`, head, ...label, y: tip - 20, far: true };
  if (a.y < b.y && a.x === x) return { path: `M${x} ${a.y + 63}V${tip - 6}`, head, ...label };
  if (a.y < b.y) {
    const low = tip - 26;
    return { path: `M${a.x} ${a.y + 63}C${a.x} ${low} ${x} ${low - 22} ${x} ${tip - 6}`, head, ...label };
  }
  if (a.y === b.y) {
    const high = a.y - 72;
    return { path: `M${a.x + 14} ${a.y - 30}C${a.x + 20} ${high} ${x} ${high} ${x} ${tip - 6}`, head, ...label };
  }
  return { path: `M${a.x + 32} ${a.y}C${a.x + 90} ${a.y} ${x - 70} ${tip - 40} ${x} ${tip - 6}`, head, ...label };
}

const ICON: Partial<Record<FullCall['status'], IconName>> = {
  proposed: 'wait',
  unknown: 'unknown',
  answered: 'person',
  failed: 'failed'
};

function iconOf(call: FullCall): IconName | null {
  if (call.status !== 'succeeded') return ICON[call.status] ?? null;
  return call.edited && !call.memory ? 'edited' : null;
}

function lookOf(view: Look, call: FullCall): string {
  if (call.branch !== '') return 'e-pale';
  if (call.status === 'failed') return 'e-failed';
  if (call.status !== 'succeeded' && call.status !== 'answered') return 'e-pending';
  const anew = view.model.session.remembered > 0 && !call.memory;
  return anew || call.id === view.chosen.call ? 'e-now' : '';
}

/** The tool's name, as long as the line has room; the type that the node says is left out first. */
export function toolLabel(tool: string, kind: string, size: Size): string {
  const room = Math.floor((pitch(size) - 62) / 6.7);
  const name = line(tool, 200);
  const bare = kind && name.startsWith(`${kind}_`) ? name.slice(kind.length + 1) : name;
  return clip(size.narrow || name.length > room ? bare : name, room);
}

interface Ends {
  readonly from: Spot;
  readonly to: Spot;
  readonly call: FullCall;
  readonly use: FullUse;
}

function mainEdge(view: Look, ends: Ends, size: Size): Edge {
  const { from, to, call } = ends;
  const way = mainLine(from, to, pitch(size));
  const icon = iconOf(call);
  const raised = icon !== null && way.straight ? 6 : 0;
  const kind = view.model.objects.get(ends.use.object)?.kind ?? '';
  const text = toolLabel(call.tool, kind, size);
  const folded = from.folded.length + to.folded.length > 0;
  const label: Label = { text, whole: call.tool, x: way.x, y: way.y - raised, look: 'tool' };
  const mark = icon && way.straight ? { icon, x: way.x, y: from.y } : null;
  const shape = {
    path: way.path,
    head: way.head,
    thin: false,
    label: folded ? null : label,
    mark: folded ? null : mark
  };
  return { key: `${call.id} ${ends.use.parameter} main`, to: to.key, look: lookOf(view, call), ...shape };
}

function argumentEdge(view: Look, ends: Ends, seat: number, size: Size): Edge {
  const way = argumentLine(ends.from, ends.to, seat, pitch(size));
  const parameter = ends.use.parameter;
  const whole = way.far ? `${parameter} ${ends.from.object?.name ?? ''}` : parameter;
  const label: Label = { text: clip(line(whole, 80), 18), whole, x: way.x, y: way.y, look: 'param' };
  const look = lookOf(view, ends.call);
  const quiet = look === 'e-now' ? '' : look;
  const key = `${ends.call.id} ${parameter} ${ends.use.object}`;
  return { key, to: ends.to.key, look: quiet, path: way.path, head: way.head, thin: true, label, mark: null };
}

/** The call makes its object: one that gives an object back makes no edge. */
function makes(view: Look, call: FullCall): boolean {
  const object = view.model.objects.get(call.object);
  return object ? object.call === call.id || object.call === '' : call.status === 'failed';
}

const SEATS = [0, 1, -1, 2, -2];

/** Which of a call's uses is the edge of the main line: the receiver, unless it stands above and another leads on. */
function mainOf(ends: readonly Ends[]): Ends | undefined {
  const level = ends.filter(({ from, to }) => from.x < to.x && !(from.object?.role === 'input' && from.y < to.y));
  return level.find(({ use }) => use.receiver) ?? level[0] ?? ends.find(({ use }) => use.receiver) ?? ends[0];
}

function endsOf(call: FullCall, to: Spot, found: Places, spots: ReadonlyMap<string, Spot>): Ends[] {
  return call.uses.flatMap(use => {
    const from = spots.get(found.spotOf(use.object));
    return from && from !== to && !from.parked ? [{ from, to, call, use }] : [];
  });
}

function edgesOf(view: Look, call: FullCall, found: Places, spots: ReadonlyMap<string, Spot>, size: Size): Edge[] {
  const stack = found.stackOf.get(call.object);
  if (stack !== undefined && call.uses.every(use => found.stackOf.get(use.object) === stack)) return [];
  const to = spots.get(found.spotOf(call.object)) ?? spots.get(`call:${call.id}`);
  if (!to || !makes(view, call)) return [];
  const folded = (one: Ends): boolean => one.from.folded.length + one.to.folded.length > 0;
  const declared = call.uses.find(use => use.receiver) ?? call.uses[0];
  const ends = endsOf(call, to, found, spots).filter(one => !folded(one) || one.use === declared);
  const main = mainOf(ends);
  const free = (one: Ends): boolean =>
    !found.spots.some(spot => spot.x === one.to.x && one.from.x === spot.x && spot.y > one.from.y && spot.y < one.to.y);
  const others = ends.filter(one => one !== main && free(one));
  const thin = others.map((one, index) => argumentEdge(view, one, SEATS[index] ?? 0, size));
  return main ? [...thin, mainEdge(view, main, size)] : thin;
}

/** To what else a call made: only the edge to the first of its objects bears the tool's name. */
const unnamed = (edge: Edge, object: string): Edge => ({ ...edge, key: `${edge.key} ${object}`, label: null, mark: null });

/** All edges; between two tiles that stand for folded runs there is one. */
export function edges(view: Look, found: Places, size: Size): Edge[] {
  const spots = new Map(found.spots.map(spot => [spot.key, spot]));
  const calls = [...view.model.calls.values()].filter(
    call => call.branch !== '' && (!view.past || call.step <= view.at)
  );
  const lists = together(view.objects);
  const all = [...calls, ...view.calls].flatMap(call => {
    const others = (lists.get(call.id) ?? []).map(object => object.id).filter(id => id !== call.object);
    const more = others.flatMap(id =>
      edgesOf(view, { ...call, object: id }, found, spots, size).map(edge => unnamed(edge, id))
    );
    return [...edgesOf(view, call, found, spots, size), ...more];
  });
  return [...new Map(all.map(edge => [edge.look + edge.path, edge])).values()];
}
