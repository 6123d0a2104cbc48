/** The edges of a graph, and what stands on them. Only pure functions live here. */
import type { IconName } from '../icons';
import type { Look } from '../look';
import type { FullCall, FullUse } from '../rows';
import { clip, line } from '../text';
import { SIGN, toolLabel } from './label';
import { mainUse } from './lineage';
import type { Places, Size, Spot } from './place';
import { comes, mainWay, PORT, thinWay, TURN, type Comes, type Point, type Way } from './route';
import { cameToNothing, edgeIcon, signOf } from './status';

export interface Label {
  readonly lines: readonly string[];
  /** What it says where it is cut, or more than it says. */
  readonly whole: string;
  /** Where its last line stands. */
  readonly at: Point;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly look: 'tool' | 'param';
}

/** The name of what an edge comes from, where that stands far away. */
export interface Port {
  readonly text: string;
  readonly whole: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
}

export interface Edge {
  readonly key: string;
  readonly look: string;
  readonly path: string;
  readonly head: string;
  readonly thin: boolean;
  readonly label: Label | null;
  readonly port: Port | null;
  readonly mark: { readonly icon: IconName; readonly at: Point } | null;
}

function lookOf(view: Look, call: FullCall): string {
  if (call.branch !== '') return 'e-pale';
  const { look } = signOf(call.status);
  if (look) return look;
  const anew = view.model.session.remembered > 0 && !call.memory;
  return anew || call.id === view.chosen.call ? 'e-now' : '';
}

interface Ends {
  readonly from: Spot;
  readonly to: Spot;
  readonly use: FullUse;
}

interface Drawn {
  readonly call: FullCall;
  readonly look: string;
  readonly size: Size;
}

/** Where the tool's name stands: over the middle, and free of the edges that turn off before. */
function labelled(way: Way, from: Spot, lines: readonly string[]): Point {
  const wide = Math.max(...lines.map(text => text.length)) * SIGN;
  const free = from.x + TURN + 3 + wide / 2;
  return { x: way.anchor === 'middle' ? Math.max(way.label.x, free) : way.label.x, y: way.label.y };
}

function mainEdge(view: Look, { from, to }: Ends, { call, look, size }: Drawn, named: boolean): Edge {
  const way = mainWay(from, to, size);
  const shown = named && from.folded.length + to.folded.length === 0;
  // A call that came to nothing has its icon in its tile.
  const icon = shown && !to.nothing ? edgeIcon(call) : null;
  const raised = icon !== null && way.icon ? 6 : 0;
  const kinds = call.uses.map(one => view.model.objects.get(one.object)?.kind ?? '');
  const lines = toolLabel(call.tool, kinds, size);
  const at = labelled(way, from, lines);
  const label: Label = {
    lines,
    whole: line(call.tool, 200),
    at: { x: at.x, y: at.y - raised },
    anchor: way.anchor,
    look: 'tool'
  };
  return {
    key: `${from.key} ${to.key} main`,
    look,
    path: way.path,
    head: way.head,
    thin: false,
    label: shown ? label : null,
    port: null,
    mark: icon && way.icon ? { icon, at: way.icon } : null
  };
}

interface Argument extends Ends {
  readonly how: Comes;
}

const named = ({ use, from }: Argument): string => `${use.parameter} ${from.object?.name ?? ''}`.trim();

const HIGH = 14;
/** Above a name: the room of the buttons. */
const ABOVE = 46;
const LETTER = 6;

/** What comes from far away is named where its edge begins: at one side, where another comes from above. */
function portOf(tip: number, side: Side, to: Spot, all: readonly Argument[]): Port {
  const [first] = all;
  const more = all.length > 1 ? ` +${all.length - 1}` : '';
  const text = `${clip(line(first?.from.object?.name ?? '', 80), 16 - more.length)}${more}`;
  const width = text.length * LETTER + 10;
  const left = side === 'middle' ? tip - width / 2 : side === 'end' ? tip + 6 - width : tip - 6;
  return { text, whole: line(all.map(named).join(', '), 200), left, top: to.y - PORT - HIGH, width };
}

type Side = Label['anchor'];

const param = (x: number, y: number, text: string, anchor: Side = 'start'): Label => {
  const whole = line(text, 120);
  return { lines: [clip(whole, 16)], whole, at: { x, y }, anchor, look: 'param' };
};

/** Whether a parameter says no more than the name of what is given for it. */
const says = ({ use, from }: Argument): boolean =>
  from.object?.name.toLowerCase().startsWith(use.parameter.toLowerCase()) ?? false;

function asideLabel(to: Spot, one: Argument): Label {
  const whole = line(one.use.parameter, 80);
  return { lines: [clip(whole, 9)], whole, at: { x: to.x - 48, y: to.y + 26 }, anchor: 'end', look: 'param' };
}

/** The thin edges: each has its arrow, and all from far away share one that begins at their names. */
function argumentEdges(all: readonly Argument[], { look }: Drawn): Edge[] {
  const quiet = look === 'e-now' ? '' : look;
  const edge = (one: Argument, label: Label | null, shift = 0, port: Port | null = null): Edge => {
    const { path, head } = thinWay(one.from, one.to, one.how, shift);
    return { key: `${one.from.key} ${one.to.key} ${one.how}`, look: quiet, path, head, thin: true, label, port, mark: null };
  };
  const [aside, second] = all.filter(one => one.how === 'aside');
  const above = all.filter(one => one.how === 'above' || one.how === 'corner');
  const far = [...all.filter(one => one.how === 'far'), ...(second ? [second] : [])];
  const [first] = far;
  // Beside an edge from above, on the side that it does not come from.
  const side: Side = above.length === 0 ? 'middle' : above.some(one => one.how === 'corner') ? 'start' : 'end';
  const shown: Edge[] = above.map((one, row) => {
    const { x, y } = one.to;
    const left = one.how === 'corner' && first !== undefined;
    return edge(one, left ? param(x - 22, y - 42, one.use.parameter, 'end') : param(x + 8, y - 48 + 12 * Math.min(row, 1), one.use.parameter));
  });
  if (aside) shown.push(edge(aside, asideLabel(aside.to, aside)));
  if (first) {
    const { to } = first;
    const shift = { start: 12, middle: 0, end: -12 }[side];
    const text = far.length === 1 && says(first) ? '' : far.map(one => one.use.parameter).join(', ');
    const ends = side === 'end';
    const label = text === '' ? null : param(to.x + shift + (ends ? -7 : 7), to.y - 35, text, ends ? 'end' : 'start');
    shown.push(edge({ ...first, how: 'far' }, label, shift, portOf(to.x + shift, side, to, far)));
  }
  return shown;
}

function endsOf(call: FullCall, to: Spot, found: Places): Ends[] {
  const ends = call.uses.flatMap(use => {
    const from = found.spotOf(use.object);
    return from && from !== to && !from.parked ? [{ from, to, use }] : [];
  });
  return ends.filter((one, index) => ends.findIndex(other => other.from === one.from) === index);
}

/** The edges of a call to one of the things that it made. */
function edgesTo(view: Look, call: FullCall, to: Spot, found: Places, size: Size): Edge[] {
  const drawn: Drawn = { call, look: lookOf(view, call), size };
  const folded = (one: Ends): boolean => one.from.folded.length + one.to.folded.length > 0;
  const declared = mainUse(call);
  const ends = endsOf(call, to, found).filter(one => !folded(one) || one.use === declared);
  const main = ends.find(one => one.use === declared) ?? ends[0];
  if (!main) return [];
  // Beside a branch left behind only its line is drawn: the rest is its twin's.
  const own = (one: Ends): boolean => call.branch === '' || one.from.object?.branch === call.branch;
  const others = ends.filter(one => one !== main && own(one)).map(one => ({ ...one, how: comes(one.from, one.to, size) }));
  const named = to.nothing !== null || call.object === to.object?.id;
  return [...argumentEdges(others, drawn), mainEdge(view, main, drawn, named)];
}

/** How far to the right, and how far up, what stands at the edges reaches. */
export function reaches(all: readonly Edge[]): { readonly right: number; readonly top: number } {
  let [right, top] = [0, 0];
  for (const { label, port } of all) {
    if (label?.anchor === 'start') right = Math.max(right, label.at.x + 6 + Math.max(...label.lines.map(text => text.length)) * LETTER);
    if (port) [right, top] = [Math.max(right, port.left + port.width + 6), Math.min(top, port.top - ABOVE)];
  }
  return { right, top };
}

/** What leads the eye is drawn over what is left behind. */
const depth = ({ look }: Edge): number => ({ 'e-pale': 0, 'e-none': 1, 'e-failed': 1, '': 2 })[look] ?? 3;

/** The edges that lead to these spots; between two stacks there is one. */
export function edges(view: Look, to: readonly Spot[], found: Places, size: Size): Edge[] {
  const all = to.flatMap(spot => {
    if (spot.nothing) return edgesTo(view, spot.nothing, spot, found, size);
    const objects = spot.object ? [spot.object] : (spot.stack?.enters ?? []);
    return objects.flatMap(object => {
      const call = view.model.calls.get(object.call);
      const known = call && (!view.past || call.step <= view.at) && !cameToNothing(call);
      return known ? edgesTo(view, call, spot, found, size) : [];
    });
  });
  return [...new Map(all.map(edge => [edge.key, edge])).values()].sort((a, b) => depth(a) - depth(b));
}
