/**
 * Routes of edges, and where their texts stand: the same rule as `jupyter_toolcall/view/edge_routes.py`,
 * which explains it. `tests/view/edge_routes.json` has test cases for both. All lengths are pixels.
 */
import { clip } from '../text';

/** Between the middles of two lanes. */
export const LANE = 132;
/** From a tile's middle to its border, and to the frame of a saved object. */
export const TILE = 24;
const FRAME = 28;
/** Below a tile's middle: where the texts of a cell end. */
export const TEXT_BOTTOM = 64;
const GAP = 8;
/** The length of an arrow's head behind its line. */
const HEAD = 6;
/** Above a lane's middle: the tracks of its channel. */
const ABOVE = [64, 59, 54] as const;
const CHIP_TOP = 50;
export const CHIP_HEIGHT = 13;
const LABEL_UP = 39;
const SIDE = 12;
const APART = 10;
const LETTER = 6;

export type Point = readonly [x: number, y: number];
export type Entry = 'above' | 'corner' | 'aside' | 'far';
export type Anchor = 'start' | 'middle' | 'end';

/** The columns: their distance, and how far the texts of a cell reach to both sides. */
export interface Grid {
  readonly pitch: number;
  readonly left: number;
  readonly right: number;
}

export const WIDE: Grid = { pitch: 160, left: 95, right: 45 };
export const NARROW: Grid = { pitch: 132, left: 74, right: 38 };

/** The middle of a node. */
export interface Cell {
  readonly x: number;
  readonly y: number;
  readonly saved: boolean;
  readonly stack: boolean;
}

export interface Label {
  readonly x: number;
  /** Its baseline. */
  readonly y: number;
  readonly anchor: Anchor;
  readonly text: string;
}

/** The name of a far source, at the beginning of a short edge. */
export interface Chip {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly text: string;
}

export interface Route {
  readonly points: readonly Point[];
  readonly tip: Point;
  readonly arrow: 'right' | 'down';
}

export interface Argument {
  readonly source: Cell;
  readonly parameter: string;
  /** The object's name. */
  readonly name: string;
}

export interface ArgumentRoute {
  readonly entry: Entry;
  readonly arguments: readonly Argument[];
  readonly route: Route;
  readonly label: Label | null;
  readonly chip: Chip | null;
}

const numbered = (value: number, step: number): number => {
  const number = Math.floor(value / step + 0.5) % 3;
  return number < 0 ? number + 3 : number;
};

/** The track of a source in the channel behind its column. */
const track = (source: Cell, grid: Grid): number => grid.right + 5 + 4.5 * numbered(source.y, LANE);

/** The track of a source in the channel above a lane. */
const across = (source: Cell, grid: Grid): number => ABOVE[numbered(source.x, grid.pitch)] ?? 0;

const border = ({ saved }: Cell): number => (saved ? FRAME : TILE);

const begin = ({ x, y, saved, stack }: Cell): Point => [x + (saved || stack ? FRAME : TILE) + GAP, y];

/** The route of a call's main edge. */
export function mainRoute(source: Cell, target: Cell, grid: Grid): Route {
  const tip: Point = [target.x - border(target) - GAP, target.y];
  const turn = source.x + track(source, grid);
  const last = target.x - grid.pitch + track(source, grid);
  const up = target.y - across(source, grid);
  const beyond = target.x - source.x;
  const isNear = beyond > 0 && beyond <= 1.5 * grid.pitch;
  const far: Point[] = [[turn, source.y], [turn, up], [last, up], [last, target.y]];
  const near: Point[] = source.y === target.y ? [] : [[turn, source.y], [turn, target.y]];
  return { points: [begin(source), ...(isNear ? near : far), [tip[0] - HEAD, target.y]], tip, arrow: 'right' };
}

/** Where the name of the tool may stand: from x to x. */
export const toolZone = (target: Cell, grid: Grid): readonly [number, number] => [target.x - grid.left - 4, target.x - FRAME];

export function entryOf(source: Cell, target: Cell, grid: Grid): Entry {
  const [beyond, below] = [target.x - source.x, target.y - source.y];
  if (beyond === 0 && below > 0 && below <= 1.25 * LANE) return 'above';
  if (beyond > 0 && beyond <= 1.1 * grid.pitch && below !== 0 && Math.abs(below) <= 2 * LANE) return below > 0 ? 'corner' : 'aside';
  return 'far';
}

/** The last part of a route that enters the top of its tile. */
function down(target: Cell, shift: number, before: readonly Point[]): Route {
  const [x, top] = [target.x + shift, target.y - border(target)];
  return { points: [...before, [x, top - HEAD]], tip: [x, top], arrow: 'down' };
}

/** The edges of a call's arguments, without its main edge. */
export function argumentRoutes(target: Cell, all: readonly Argument[], grid: Grid): ArgumentRoute[] {
  const entries = all.map(one => entryOf(one.source, target, grid));
  const top = entries.findIndex(entry => entry === 'above' || entry === 'corner');
  const side = entries.indexOf('aside');
  const far = all.filter((_, index) => index !== top && index !== side);
  const shift = top >= 0 && far.length > 0 ? APART : 0;
  const [above, aside] = [all[top], all[side]];
  const routes: ArgumentRoute[] = [];
  if (above) routes.push(topRoute(above, entries[top] ?? 'far', target, shift, grid));
  if (aside) routes.push(asideRoute(aside, target, grid));
  if (far.length > 0) routes.push(farRoute(far, target, -shift, grid));
  return routes;
}

function topRoute(one: Argument, entry: Entry, target: Cell, shift: number, grid: Grid): ArgumentRoute {
  const { source } = one;
  const x = target.x + shift;
  const turn = source.x + track(source, grid);
  const up = target.y - across(source, grid);
  const before: Point[] = entry === 'above' ? [[x, source.y + TEXT_BOTTOM + 1]] : [begin(source), [turn, source.y], [turn, up], [x, up]];
  const y = target.y - LABEL_UP;
  // Between the edge and the end of the cell only a short label has space.
  const beside: Label | null = one.parameter.length * LETTER > grid.right - APART - 5 ? null : { x: x + 5, y, anchor: 'start', text: one.parameter };
  const label: Label | null = shift ? beside : { x: x - 7, y, anchor: 'end', text: clip(one.parameter, 11) };
  return { entry, arguments: [one], route: down(target, shift, before), label, chip: null };
}

function asideRoute(one: Argument, target: Cell, grid: Grid): ArgumentRoute {
  const turn = one.source.x + track(one.source, grid);
  const tip: Point = [target.x - border(target), target.y + SIDE];
  const points: Point[] = [begin(one.source), [turn, one.source.y], [turn, tip[1]], [tip[0] - HEAD, tip[1]]];
  const text = clip(one.parameter, Math.floor((grid.left - 36) / LETTER));
  const label: Label = { x: target.x - grid.left, y: tip[1] + 11, anchor: 'start', text };
  return { entry: 'aside', arguments: [one], route: { points, tip, arrow: 'right' }, label, chip: null };
}

function farRoute(all: readonly Argument[], target: Cell, shift: number, grid: Grid): ArgumentRoute {
  const end = shift ? shift + APART - 1 : grid.right;
  const text = chipText(all, Math.floor((grid.left + end - 10) / LETTER));
  const width = text.length * LETTER + 10;
  const left = target.x + (shift ? end : Math.min(width / 2, end)) - width;
  const top = target.y - CHIP_TOP;
  const route = down(target, shift, [[target.x + shift, top + CHIP_HEIGHT]]);
  return { entry: 'far', arguments: all, route, label: null, chip: { left, top, width, text } };
}

function chipText(all: readonly Argument[], most: number): string {
  const { name = '', parameter = '' } = all[0] ?? {};
  const more = all.length > 1 ? ` +${all.length - 1}` : '';
  // Of `oil: Oil#2`, the parameter says nothing.
  const full = name.toLowerCase().startsWith(parameter.toLowerCase()) ? name : `${parameter}: ${name}`;
  return clip(full.length + more.length <= most ? full : name, most - more.length) + more;
}

/** The anchor of a cell's text: its middle, or the right end of the cell. */
export const textAnchor = (width: number, { right }: Grid): readonly [number, Anchor] => (width <= 2 * right ? [0, 'middle'] : [right, 'end']);

/** Where a name may break: after `_`, `.`, `-`, `:`, and before a capital. */
const NAME_BREAK = /(?<=[_.\-:])|(?<=[a-z0-9])(?=[A-Z])/;

/** Width of a character of the code font. */
const CODE_LETTER = 6.33;

/** A tool's name on at most two lines; where it is too long, without the type of an argument. A word is cut, never broken. */
export function toolLines(tool: string, kinds: readonly string[], width: number): readonly string[] {
  const signs = Math.floor(width / CODE_LETTER);
  if (tool.length <= signs) return [tool];
  const kind = kinds.find(one => one !== '' && tool.startsWith(`${one}_`));
  const name = kind === undefined ? tool : tool.slice(kind.length + 1);
  if (name.length <= signs) return [name];
  const parts = name.split(NAME_BREAK);
  let first = '';
  while (parts[0] !== undefined && first.length + parts[0].length <= signs) first += parts.shift() ?? '';
  first ||= clip(parts.shift() ?? '', signs);
  return [first, clip(parts.join(''), signs)].filter(Boolean);
}
