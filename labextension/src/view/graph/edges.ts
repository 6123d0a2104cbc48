/** Edges of the graph with their labels, marks and port names. */
import type { IconName } from '../icons';
import { callLabel, edgeIcon, hasNoResult } from '../labels';
import { mainUse } from '../lineage';
import type { FullCall, FullUse } from '../rows';
import { clip, oneLine } from '../text';
import type { ViewState } from '../view_state';
import {
  type ArgumentEntry,
  argumentPath,
  type EdgePath,
  entryOf,
  mainPath,
  type Point,
  PORT,
  TURN
} from './edge_paths';
import { type Layout, pitch, type Size, type Spot } from './layout';

export interface Label {
  readonly lines: readonly string[];
  /** The full text of the label. */
  readonly whole: string;
  /** The position of its last line. */
  readonly at: Point;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly look: 'tool' | 'param';
}

/** The name of a far source, where its edge begins. */
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

function edgeLook(view: ViewState, call: FullCall): string {
  if (call.branch !== '') return 'e-pale';
  const { look } = callLabel(call.status);
  if (look) return look;
  const ranAgain = view.model.session.remembered > 0 && !call.memory;
  return ranAgain || call.id === view.chosen.call ? 'e-now' : '';
}

interface Ends {
  readonly from: Spot;
  readonly to: Spot;
  readonly use: FullUse;
}

interface EdgeStyle {
  readonly call: FullCall;
  readonly look: string;
  readonly size: Size;
}

/** The position of the tool's name: above the middle, clear of turning edges. */
function labelPosition(way: EdgePath, from: Spot, lines: readonly string[]): Point {
  const wide = Math.max(...lines.map(text => text.length)) * CHARACTER_WIDTH;
  const free = from.x + TURN + 3 + wide / 2;
  return { x: way.anchor === 'middle' ? Math.max(way.label.x, free) : way.label.x, y: way.label.y };
}

function mainEdge(view: ViewState, { from, to }: Ends, { call, look, size }: EdgeStyle, argumentName: boolean): Edge {
  const way = mainPath(from, to, size);
  const shown = argumentName && from.folded.length + to.folded.length === 0;
  // A call without a result has its icon in its tile.
  const icon = shown && !to.failedCall ? edgeIcon(call) : null;
  const raised = icon !== null && way.icon ? 6 : 0;
  const kinds = call.uses.map(one => view.model.objects.get(one.object)?.kind ?? '');
  const lines = toolLabel(call.tool, kinds, size);
  const at = labelPosition(way, from, lines);
  const label: Label = {
    lines,
    whole: oneLine(call.tool, 200),
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
  readonly how: ArgumentEntry;
}

const named = ({ use, from }: Argument): string => `${use.parameter} ${from.object?.name ?? ''}`.trim();

const HIGH = 14;
/** Height reserved above a port name. */
const ABOVE = 46;
const LETTER = 6;

/** The port name of far sources, at one side if another edge comes from above. */
function portOf(tip: number, side: Side, to: Spot, all: readonly Argument[]): Port {
  const [first] = all;
  const more = all.length > 1 ? ` +${all.length - 1}` : '';
  const text = `${clip(oneLine(first?.from.object?.name ?? '', 80), 16 - more.length)}${more}`;
  const width = text.length * LETTER + 10;
  const left = side === 'middle' ? tip - width / 2 : side === 'end' ? tip + 6 - width : tip - 6;
  return { text, whole: oneLine(all.map(named).join(', '), 200), left, top: to.y - PORT - HIGH, width };
}

type Side = Label['anchor'];

const argumentLabel = (x: number, y: number, text: string, anchor: Side = 'start'): Label => {
  const whole = oneLine(text, 120);
  return { lines: [clip(whole, 16)], whole, at: { x, y }, anchor, look: 'param' };
};

/** Whether a parameter only repeats its object's name. */
const repeatsName = ({ use, from }: Argument): boolean =>
  from.object?.name.toLowerCase().startsWith(use.parameter.toLowerCase()) ?? false;

function asideLabel(to: Spot, one: Argument): Label {
  const whole = oneLine(one.use.parameter, 80);
  return { lines: [clip(whole, 9)], whole, at: { x: to.x - 48, y: to.y + 26 }, anchor: 'end', look: 'param' };
}

/** The edges of arguments; all from far away share one edge with a port name. */
function argumentEdges(all: readonly Argument[], { look }: EdgeStyle): Edge[] {
  const quiet = look === 'e-now' ? '' : look;
  const edge = (one: Argument, label: Label | null, shift = 0, port: Port | null = null): Edge => {
    const { path, head } = argumentPath(one.from, one.to, one.how, shift);
    return { key: `${one.from.key} ${one.to.key} ${one.how}`, look: quiet, path, head, thin: true, label, port, mark: null };
  };
  const [aside, second] = all.filter(one => one.how === 'aside');
  const above = all.filter(one => one.how === 'above' || one.how === 'corner');
  const far = [...all.filter(one => one.how === 'far'), ...(second ? [second] : [])];
  const [first] = far;
  // On the free side of an edge from above.
  const side: Side = above.length === 0 ? 'middle' : above.some(one => one.how === 'corner') ? 'start' : 'end';
  const shown: Edge[] = above.map((one, row) => {
    const { x, y } = one.to;
    const left = one.how === 'corner' && first !== undefined;
    return edge(one, left ? argumentLabel(x - 22, y - 42, one.use.parameter, 'end') : argumentLabel(x + 8, y - 48 + 12 * Math.min(row, 1), one.use.parameter));
  });
  if (aside) shown.push(edge(aside, asideLabel(aside.to, aside)));
  if (first) {
    const { to } = first;
    const shift = { start: 12, middle: 0, end: -12 }[side];
    const text = far.length === 1 && repeatsName(first) ? '' : far.map(one => one.use.parameter).join(', ');
    const ends = side === 'end';
    const label = text === '' ? null : argumentLabel(to.x + shift + (ends ? -7 : 7), to.y - 35, text, ends ? 'end' : 'start');
    shown.push(edge({ ...first, how: 'far' }, label, shift, portOf(to.x + shift, side, to, far)));
  }
  return shown;
}

function endsOf(call: FullCall, to: Spot, layout: Layout): Ends[] {
  const ends = call.uses.flatMap(use => {
    const from = layout.spotOf(use.object);
    return from && from !== to && !from.parked ? [{ from, to, use }] : [];
  });
  return ends.filter((one, index) => ends.findIndex(other => other.from === one.from) === index);
}

/** The edges of a call to one of its objects. */
function edgesTo(view: ViewState, call: FullCall, to: Spot, layout: Layout, size: Size): Edge[] {
  const drawn: EdgeStyle = { call, look: edgeLook(view, call), size };
  const folded = (one: Ends): boolean => one.from.folded.length + one.to.folded.length > 0;
  const declared = mainUse(call);
  const ends = endsOf(call, to, layout).filter(one => !folded(one) || one.use === declared);
  const main = ends.find(one => one.use === declared) ?? ends[0];
  if (!main) return [];
  // On another branch only the main edge is drawn; its twin has the others.
  const own = (one: Ends): boolean => call.branch === '' || one.from.object?.branch === call.branch;
  const others = ends.filter(one => one !== main && own(one)).map(one => ({ ...one, how: entryOf(one.from, one.to, size) }));
  const named = to.failedCall !== null || call.object === to.object?.id;
  return [...argumentEdges(others, drawn), mainEdge(view, main, drawn, named)];
}

/** How far labels and ports extend to the right and to the top. */
export function labelExtent(all: readonly Edge[]): { readonly right: number; readonly top: number } {
  let [right, top] = [0, 0];
  for (const { label, port } of all) {
    if (label?.anchor === 'start') right = Math.max(right, label.at.x + 6 + Math.max(...label.lines.map(text => text.length)) * LETTER);
    if (port) [right, top] = [Math.max(right, port.left + port.width + 6), Math.min(top, port.top - ABOVE)];
  }
  return { right, top };
}

/** Drawing order: the current branch over other branches. */
const drawOrder = ({ look }: Edge): number => ({ 'e-pale': 0, 'e-none': 1, 'e-failed': 1, '': 2 })[look] ?? 3;

/** The edges to these spots, one between two stacks. */
export function edges(view: ViewState, to: readonly Spot[], layout: Layout, size: Size): Edge[] {
  const all = to.flatMap(spot => {
    if (spot.failedCall) return edgesTo(view, spot.failedCall, spot, layout, size);
    const objects = spot.object ? [spot.object] : (spot.stack?.first ?? []);
    return objects.flatMap(object => {
      const call = view.model.calls.get(object.call);
      const isDrawn = call && (!view.isPast || call.step <= view.step) && !hasNoResult(call);
      return isDrawn ? edgesTo(view, call, spot, layout, size) : [];
    });
  });
  return [...new Map(all.map(edge => [edge.key, edge])).values()].sort((a, b) => drawOrder(a) - drawOrder(b));
}

/** Width of a character of the code font. */
const CHARACTER_WIDTH = 6.33;

/** Characters that fit on an edge beside turning edges. */
const labelCharacters = (size: Size): number => Math.floor((pitch(size) - 74) / CHARACTER_WIDTH);

/** Where a name may break: after `_`, `.`, `-`, and before a capital. */
const NAME_BREAK = /(?<=[_.\-:])|(?<=[a-z0-9])(?=[A-Z])/;

/** The name on at most two lines of `signs` characters; the end is cut. */
function wrappedName(name: string, signs: number): readonly string[] {
  if (name.length <= signs) return [name];
  const parts = name.split(NAME_BREAK);
  let first = '';
  while (parts[0] !== undefined && first.length + parts[0].length <= signs) first += parts.shift() ?? '';
  if (first === '') return [name.slice(0, signs), clip(name.slice(signs), signs)];
  return [first, clip(name.slice(first.length), signs)];
}

/** The lines of the tool's name; in a narrow panel without the type that its node shows. */
function toolLabel(tool: string, kinds: readonly string[], size: Size): readonly string[] {
  const name = oneLine(tool, 200);
  const kind = size.narrow ? kinds.find(one => one !== '' && name.startsWith(`${one}_`)) : undefined;
  return wrappedName(kind === undefined ? name : name.slice(kind.length + 1), labelCharacters(size));
}
