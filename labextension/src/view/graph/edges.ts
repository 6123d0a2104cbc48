/** Edges of the graph with their labels, marks and port names. */
import type { IconName } from '../icons';
import { branchName, callLook, edgeIcon, hasNoResult } from '../labels';
import { mainUse } from '../lineage';
import { sameCalls } from '../model';
import type { FullCall, FullUse } from '../rows';
import { oneLine } from '../text';
import type { ViewState } from '../view_state';
import { argumentRoutes, type Anchor, type Cell, type Chip, type Grid, mainRoute, type Point, type Route, toolLines, toolZone } from './edge_routes';
import { gridOf, type Layout, type Size, type Spot } from './layout';

interface Label {
  readonly lines: readonly string[];
  /** The full text of the label. */
  readonly whole: string;
  readonly x: number;
  /** The baseline of its last line. */
  readonly y: number;
  readonly anchor: Anchor;
  readonly look: 'tool' | 'param';
}

export interface Edge {
  readonly key: string;
  readonly look: string;
  readonly path: string;
  readonly head: string;
  readonly thin: boolean;
  readonly label: Label | null;
  readonly chip: (Chip & { readonly whole: string }) | null;
  readonly mark: { readonly icon: IconName; readonly at: Point } | null;
  /** It is not in the lineage that is shown. */
  readonly isAway: boolean;
}

/** Whether a spot is not in the lineage that is shown. */
export type IsAway = (spot: Spot) => boolean;


function edgeLook(view: ViewState, call: FullCall): string {
  if (call.branch !== '') return 'e-pale';
  const look = callLook(call);
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
  readonly grid: Grid;
  readonly isAway: IsAway;
}

const isSaved = ({ object }: Spot): boolean => object !== null && object.saved !== '' && object.branch === '';

const cellOf = (spot: Spot): Cell => ({ x: spot.x, y: spot.y, saved: isSaved(spot), stack: spot.folded.length > 0 });

const ROUND = 7;

const toward = ([x, y]: Point, [u, v]: Point): Point => {
  const far = Math.hypot(u - x, v - y);
  const share = far === 0 ? 0 : Math.min(ROUND, far / 2) / far;
  return [x + (u - x) * share, y + (v - y) * share];
};

/** A line through points, with rounded corners. */
function rounded(points: readonly Point[]): string {
  const parts = points.map((point, index) => {
    const [before, next] = [points[index - 1], points[index + 1]];
    if (!before) return `M${point.join(' ')}`;
    return next ? `L${toward(point, before).join(' ')}Q${point.join(' ')} ${toward(point, next).join(' ')}` : `L${point.join(' ')}`;
  });
  return parts.join('');
}

const drawn = ({ points, tip, arrow }: Route): Pick<Edge, 'path' | 'head'> => ({
  path: rounded(points),
  head: `M${tip.join(' ')}l${arrow === 'right' ? '-7-3.5v7z' : '-3.5-7h7z'}`
});

function mainEdge(view: ViewState, { from, to }: Ends, { call, look, grid, isAway }: EdgeStyle, isNamed: boolean): Edge {
  const shown = isNamed && from.folded.length + to.folded.length === 0;
  // A call without a result has its icon in its tile.
  const icon = shown && !to.failedCall ? edgeIcon(call) : null;
  const [left, right] = toolZone(cellOf(to), grid);
  const x = (left + right) / 2;
  const kinds = call.uses.map(use => view.model.objects.get(use.object)?.kind ?? '');
  const label: Label = {
    lines: toolLines(oneLine(call.tool, 200), kinds, right - left),
    whole: oneLine(call.tool, 200),
    x,
    y: to.y - (icon ? 14 : 8),
    anchor: 'middle',
    look: 'tool'
  };
  return {
    key: `${from.key} ${to.key} main`,
    look,
    ...drawn(mainRoute(cellOf(from), cellOf(to), grid)),
    thin: false,
    label: shown ? label : null,
    chip: null,
    mark: icon && { icon, at: [x, to.y] },
    isAway: isAway(from) || isAway(to)
  };
}

/** The edges of arguments. */
function argumentEdges(to: Spot, ends: readonly Ends[], { look, grid, isAway }: EdgeStyle): Edge[] {
  const all = ends.map(({ from, use }) => ({
    source: cellOf(from),
    parameter: oneLine(use.parameter, 80),
    name: oneLine(from.object?.name ?? '', 80)
  }));
  return argumentRoutes(cellOf(to), all, grid).map(({ entry, arguments: some, route, label, chip }) => {
    const whole = oneLine(some.map(one => `${one.parameter} ${one.name}`.trim()).join(', '), 200);
    return {
      key: `${to.key} ${entry}`,
      look: look === 'e-now' ? '' : look,
      ...drawn(route),
      thin: true,
      label: label && { lines: [label.text], whole, x: label.x, y: label.y, anchor: label.anchor, look: 'param' as const },
      chip: chip && { ...chip, whole },
      mark: null,
      isAway: isAway(to) || (entry !== 'far' && ends.some(({ from }) => isAway(from) && some.some(one => one.source.x === from.x && one.source.y === from.y)))
    };
  });
}

function endsOf(uses: readonly FullUse[], to: Spot, layout: Layout): Ends[] {
  const ends = uses.flatMap(use => {
    const from = layout.spotOf(use.object);
    return from && from !== to && !from.parked ? [{ from, to, use }] : [];
  });
  return ends.filter((one, index) => ends.findIndex(other => other.from === one.from) === index);
}

/** What a call used on other branches that have it too, with their names as parameters. */
const usesElsewhere = ({ model }: ViewState, { id }: FullCall): FullUse[] =>
  sameCalls(model, id).flatMap(one => one.uses.map(use => ({ ...use, parameter: branchName(model, one.branch), receiver: false })));

/** The edges of a call to one of its objects. */
function edgesTo(view: ViewState, call: FullCall, to: Spot, layout: Layout, size: Size, isAway: IsAway): Edge[] {
  const style: EdgeStyle = { call, look: edgeLook(view, call), grid: gridOf(size), isAway };
  const folded = (one: Ends): boolean => one.from.folded.length + one.to.folded.length > 0;
  const declared = mainUse(call);
  const ends = endsOf([...call.uses, ...usesElsewhere(view, call)], to, layout).filter(one => !folded(one) || one.use === declared);
  const main = ends.find(one => one.use === declared) ?? ends[0];
  if (!main) return [];
  // On another branch only the main edge is drawn; its twin has the others.
  const own = (one: Ends): boolean => call.branch === '' || one.from.object?.branch === call.branch;
  const others = ends.filter(one => one !== main && own(one));
  const named = to.failedCall !== null || call.object === to.object?.id;
  return [...argumentEdges(to, others, style), mainEdge(view, main, style, named)];
}

/** Drawing order: the current branch over other branches. */
const drawOrder = ({ look }: Edge): number => ({ 'e-pale': 0, 'e-none': 1, 'e-failed': 1, '': 2 })[look] ?? 3;

/** The edges to these spots, one between two stacks. */
export function edges(view: ViewState, to: readonly Spot[], layout: Layout, size: Size, isAway: IsAway): Edge[] {
  const all = to.flatMap(spot => {
    if (spot.failedCall) return edgesTo(view, spot.failedCall, spot, layout, size, isAway);
    const objects = spot.object ? [spot.object] : (spot.stack?.first ?? []);
    return objects.flatMap(object => {
      const call = view.model.calls.get(object.call);
      const isDrawn = call && (!view.isPast || call.step <= view.step) && !hasNoResult(call);
      return isDrawn ? edgesTo(view, call, spot, layout, size, isAway) : [];
    });
  });
  return [...new Map(all.map(edge => [edge.key, edge])).values()].sort((a, b) => drawOrder(a) - drawOrder(b));
}
