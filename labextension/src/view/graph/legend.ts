/** What the shapes in the picture mean: only those that are in it. */
import { h, s } from '../dom';
import { icon, type IconName } from '../icons';
import type { Scene } from './scene';

const TILES: readonly (readonly [string, string])[] = [
  ['input', 'given by the notebook'],
  ['', 'made by a call'],
  ['pending', 'not made yet'],
  ['running', 'being made'],
  ['output', 'saved as an output'],
  ['socket', 'output still to save'],
  ['pale', 'of another branch'],
  ['stack', 'folded calls'],
  ['failed', 'a call that failed'],
  ['nothing', 'a call that was rejected or interrupted']
];

const ICONS: readonly (readonly [IconName, string])[] = [
  ['wait', 'waits for you'],
  ['edited', 'edited by you'],
  ['memory', 'from memory: not run again'],
  ['person', 'answered by you'],
  ['run', 'running'],
  ['unknown', 'outcome unknown'],
  ['reject', 'rejected'],
  ['near', 'may be stale'],
  ['clock', 'outdated'],
  ['equal', 'equal to an earlier object']
];

function tile(look: string): SVGElement {
  const square = s('rect', { class: 'tile', x: -8, y: -8, width: 16, height: 16, rx: 3 });
  const outer = look === 'output' ? [s('rect', { class: 'tile2', x: -10, y: -10, width: 20, height: 20, rx: 4 })] : [];
  const behind = look === 'stack' ? [s('rect', { class: 'tile', x: -5, y: -11, width: 16, height: 16, rx: 3 })] : [];
  const inner = s('g', { class: `node ${look}`.trim() }, ...outer, ...behind, square);
  return s('svg', { class: 'g', viewBox: '-12 -12 24 24', width: 20, height: 20, 'aria-hidden': 'true' }, inner);
}

const arrow = (): SVGElement =>
  s(
    'svg',
    { class: 'g', viewBox: '-14 -12 28 24', width: 24, height: 20, 'aria-hidden': 'true' },
    s('path', { class: 'edge', d: 'M-12 0H6' }),
    s('path', { class: 'head', d: 'M12 0l-7 -3.5v7z' })
  );

const entry = (sign: SVGElement, text: string): HTMLElement => h('li', {}, sign, h('span', {}, text));

/** The legend of what is drawn. */
export function legend({ nodes, edges }: Scene): HTMLElement {
  const looks = new Set(nodes.map(node => node.look.split(' ')[0] ?? ''));
  const icons = new Set([...nodes.map(node => node.mark), ...edges.map(edge => edge.mark?.icon ?? null)]);
  const tiles = TILES.filter(([look]) => looks.has(look)).map(([look, text]) => entry(tile(look), text));
  const marks = ICONS.filter(([name]) => icons.has(name)).map(([name, text]) => entry(icon(name), text));
  return h(
    'ul',
    { class: 'tc-legend', 'aria-label': 'Legend' },
    entry(arrow(), 'a tool call: from what it used to what it made'),
    ...tiles,
    ...marks
  );
}
