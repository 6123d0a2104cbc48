/** The edges of a graph, and what stands on them. Only pure functions live here. */
import type { IconName } from '../icons';
import type { Look } from '../look';
import type { FullCall, FullUse } from '../rows';
import { clip, line } from '../text';
import { toolLabel } from './label';
import { mainUse } from './lineage';
import type { Places, Size, Spot } from './place';
import { comes, mainWay, thinWay, type Comes, type Point } from './route';
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

export interface Edge {
  readonly key: string;
  readonly look: string;
  readonly path: string;
  readonly head: string;
  readonly thin: boolean;
  readonly label: Label | null;
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

function mainEdge(view: Look, { from, to }: Ends, { call, look, size }: Drawn, named: boolean): Edge {
  const way = mainWay(from, to, size);
  const shown = named && from.folded.length + to.folded.length === 0;
  const icon = shown ? edgeIcon(call) : null;
  const raised = icon !== null && way.icon ? 6 : 0;
  const kinds = call.uses.map(one => view.model.objects.get(one.object)?.kind ?? '');
  const label: Label = {
    lines: toolLabel(call.tool, kinds, size),
    whole: line(call.tool, 200),
    at: { x: way.label.x, y: way.label.y - raised },
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
    mark: icon && way.icon ? { icon, at: way.icon } : null
  };
}

interface Argument extends Ends {
  readonly how: Comes;
}

const named = ({ use, from }: Argument): string => `${use.parameter} ${from.object?.name ?? ''}`.trim();

const param = (to: Spot, lines: readonly string[], whole: string, row: number): Label => ({
  lines: lines.map(text => clip(line(text, 120), 20)),
  whole: line(whole, 200),
  at: { x: to.x + 8, y: to.y - 48 + 12 * (row + lines.length - 1) },
  anchor: 'start',
  look: 'param'
});

/** What comes from far away, with its name; as many lines as there is room for. */
function farLabel(to: Spot, all: readonly Argument[], row: number): Label {
  const lines = all.slice(0, 2 - row).map(named);
  const more = all.length - lines.length;
  if (more > 0) lines.push(`${clip(lines.pop() ?? '', 17)} +${more}`);
  return param(to, lines, all.map(named).join(', '), row);
}

function asideLabel(to: Spot, one: Argument): Label {
  const whole = line(one.use.parameter, 80);
  return { lines: [clip(whole, 9)], whole, at: { x: to.x - 48, y: to.y + 26 }, anchor: 'end', look: 'param' };
}

/** The thin edges: each has its arrow, and all from far away share one that names them. */
function argumentEdges(all: readonly Argument[], { look }: Drawn): Edge[] {
  const quiet = look === 'e-now' ? '' : look;
  const edge = (one: Argument, label: Label | null, shift = 0): Edge => {
    const { path, head } = thinWay(one.from, one.to, one.how, shift);
    return { key: `${one.from.key} ${one.to.key} ${one.how}`, look: quiet, path, head, thin: true, label, mark: null };
  };
  const [aside, second] = all.filter(one => one.how === 'aside');
  const above = all.filter(one => one.how === 'above' || one.how === 'corner');
  const far = [...all.filter(one => one.how === 'far'), ...(second ? [second] : [])];
  const shown: Edge[] = above.map((one, row) => edge(one, param(one.to, [one.use.parameter], one.use.parameter, Math.min(row, 1))));
  if (aside) shown.push(edge(aside, asideLabel(aside.to, aside)));
  const [first] = far;
  const row = Math.min(above.length, 1);
  if (first) shown.push(edge({ ...first, how: 'far' }, farLabel(first.to, far, row), -10 * row));
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

/** How far to the right the labels reach. */
export function reaches(all: readonly Edge[]): number {
  let far = 0;
  for (const { label } of all)
    if (label?.anchor === 'start') far = Math.max(far, label.at.x + 6 + Math.max(...label.lines.map(text => text.length)) * 6);
  return far;
}

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
  return [...new Map(all.map(edge => [edge.key, edge])).values()];
}
