/** The toolbar of the graph, and the legend. */
import { Menu, type MenuEntry } from '../menu';
import { h, s } from '../dom';
import { button, icon, type IconName } from '../icons';
import type { Scene } from './scene';
import { t, tableText } from '../text';

interface ToolbarActions {
  fold(): void;
  tidy(): void;
  search(): void;
  lineage(): void;
  zoom(by: number): void;
  fit(): void;
  menuEntries(): readonly MenuEntry[];
}

interface ToolbarState {
  readonly any: boolean;
  readonly fold: boolean;
  readonly tidy: boolean;
  readonly search: boolean;
  /** The lineage of an object is shown. */
  readonly lineage: boolean;
}

const MESSAGE_MS = 2500;
export const ZOOM_STEP = 1.25;

export class Toolbar {
  private readonly _message = h('span', { class: 'tc-says', role: 'status', label: t('Graph') });
  private readonly _fold = button(t('Fold'), { look: 'ghost', onclick: () => this._actions.fold() });
  private readonly _tidy = button(t('Tidy'), { look: 'ghost', onclick: () => this._actions.tidy() });
  private readonly _search = button('', { icon: 'search', label: t('Search'), look: 'ghost icon', onclick: () => this._actions.search() });
  private readonly _lineage = button(t('Lineage'), { look: 'ghost', key: 'lineage', onclick: () => this._actions.lineage() });
  readonly element = h(
    'div',
    'tc-tools',
    this._message,
    this._fold,
    this._tidy,
    this._lineage,
    this._search,
    button('', { icon: 'minus', label: t('Zoom out'), look: 'ghost icon', onclick: () => this._actions.zoom(1 / ZOOM_STEP) }),
    button('', { icon: 'plus', label: t('Zoom in'), look: 'ghost icon', onclick: () => this._actions.zoom(ZOOM_STEP) }),
    button('', { icon: 'fit', label: t('Fit'), look: 'ghost icon', onclick: () => this._actions.fit() }),
    new Menu(t('More'), button('', { icon: 'more', label: t('More'), look: 'ghost icon' }), () => this._actions.menuEntries()).element
  );

  constructor(private readonly _actions: ToolbarActions) {}

  /** Shows a message for a moment. */
  showMessage(text: string): void {
    this._message.textContent = text;
    setTimeout(() => this._message.textContent === text && this._message.replaceChildren(), MESSAGE_MS);
  }

  paint(shown: ToolbarState): void {
    this.element.hidden = !shown.any;
    this._fold.hidden = !shown.fold;
    this._tidy.hidden = !shown.tidy;
    this._search.hidden = !shown.search;
    this._lineage.setAttribute('aria-pressed', String(shown.lineage));
  }
}

const LEGEND_TILES: readonly (readonly [string, string])[] = [
  ['input', tableText('input from the notebook')],
  ['', tableText('made by a call')],
  ['pending', tableText('not made yet')],
  ['running', tableText('being made')],
  ['output', tableText('saved as an output')],
  ['socket', tableText('output not saved yet')],
  ['pale', tableText('of another branch')],
  ['stack', tableText('folded calls')],
  ['failed', tableText('a call that failed')],
  ['nothing', tableText('a call that was rejected or interrupted')]
];

const LEGEND_ICONS: readonly (readonly [IconName, string])[] = [
  ['wait', tableText('waits for you')],
  ['edited', tableText('edited by you')],
  ['memory', tableText('cached result: not run again')],
  ['person', tableText('answered by you')],
  ['run', tableText('running')],
  ['warning', tableText('warning: its card says what to do')],
  ['reject', tableText('rejected')],
  ['clock', tableText('outdated')],
  ['equal', tableText('equal to an earlier object')]
];

function legendTile(look: string): SVGElement {
  const square = s('rect', { class: 'tile', x: -8, y: -8, width: 16, height: 16, rx: 3 });
  const outer = look === 'output' ? [s('rect', { class: 'tile2', x: -10, y: -10, width: 20, height: 20, rx: 4 })] : [];
  const behind = look === 'stack' ? [s('rect', { class: 'tile', x: -5, y: -11, width: 16, height: 16, rx: 3 })] : [];
  const inner = s('g', { class: `node ${look}`.trim() }, ...outer, ...behind, square);
  return s('svg', { class: 'g', viewBox: '-12 -12 24 24', width: 20, height: 20, 'aria-hidden': 'true' }, inner);
}

const legendArrow = (): SVGElement =>
  s(
    'svg',
    { class: 'g', viewBox: '-14 -12 28 24', width: 24, height: 20, 'aria-hidden': 'true' },
    s('path', { class: 'edge', d: 'M-12 0H6' }),
    s('path', { class: 'head', d: 'M12 0l-7 -3.5v7z' })
  );

const legendEntry = (sign: SVGElement, text: string): HTMLElement => h('li', {}, sign, h('span', {}, t(text)));

/** The legend of what is drawn. */
export function legend({ nodes, edges }: Scene): HTMLElement {
  const looks = new Set(nodes.map(node => node.look.split(' ')[0] ?? ''));
  const icons = new Set([...nodes.map(node => node.mark), ...edges.map(edge => edge.mark?.icon ?? null)]);
  const tiles = LEGEND_TILES.filter(([look]) => looks.has(look)).map(([look, text]) => legendEntry(legendTile(look), text));
  const marks = LEGEND_ICONS.filter(([name]) => icons.has(name)).map(([name, text]) => legendEntry(icon(name), text));
  return h(
    'ul',
    { class: 'tc-legend', label: t('Legend') },
    legendEntry(legendArrow(), tableText('a tool call, from its inputs to its result')),
    ...tiles,
    ...marks
  );
}
