/** The toolbar of the graph, and the legend. */
import type { GraphNode } from '../../generated/contract';
import { Menu, type MenuEntry } from '../menu';
import { h, s } from '../dom';
import { button, icon, type IconName } from '../icons';
import { pillIcons, type Scene } from './elements';
import { t, tableText } from '../text';

interface ToolbarActions {
  search(): void;
  lineage(): void;
  zoom(by: number): void;
  fit(): void;
  menuEntries(): readonly MenuEntry[];
}

const MESSAGE_MS = 2500;
export const ZOOM_STEP = 1.25;

export class Toolbar {
  private readonly _message = h('span', { class: 'tc-says', role: 'status', label: t('Graph') });
  private readonly _search = button('', { icon: 'search', label: t('Search'), look: 'ghost icon', onclick: () => this._actions.search() });
  private readonly _lineage = button(t('Lineage'), { look: 'ghost', key: 'lineage', onclick: () => this._actions.lineage() });
  readonly element = h(
    'div',
    'tc-tools',
    this._message,
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

  /** Shows the tools of `any` graph; `lineage`: that of an object is shown. */
  paint({ any, lineage, search }: Readonly<Record<'any' | 'lineage' | 'search', boolean>>): void {
    this.element.hidden = !any;
    this._search.hidden = !search;
    this._lineage.setAttribute('aria-pressed', String(lineage));
  }
}

const LEGEND_BOXES: readonly (readonly [string, string])[] = [
  ['object input', tableText('input from the notebook')],
  ['object', tableText('object that a call made')],
  ['object dashed', tableText('not made yet, or not saved yet')],
  ['object pale', tableText('of another branch')],
  ['call', tableText('a tool call: its number, its tool, and its value')],
  ['fold', tableText('a chain of calls: click to see them')],
  ['reference', tableText('an object of another row: click to go there')]
];

const LEGEND_ICONS: readonly (readonly [IconName, string])[] = [
  ['wait', tableText('waits for you')],
  ['edited', tableText('edited by you')],
  ['failed', tableText('failed')],
  ['memory', tableText('cached result: not run again')],
  ['person', tableText('answered by you')],
  ['run', tableText('running, or runs next')],
  ['stop', tableText('interrupted')],
  ['warning', tableText('warning: its card says what to do')],
  ['reject', tableText('rejected')],
  ['clock', tableText('outdated')],
  ['equal', tableText('equal to an earlier object')]
];

function legendBox(look: string): SVGElement {
  const isCall = look === 'call';
  const box = s('rect', { class: 'tile', x: -10, y: isCall ? -6 : -8, width: 20, height: isCall ? 12 : 16, rx: isCall ? 6 : 3 });
  return s('svg', { class: 'g', viewBox: '-12 -12 24 24', width: 20, height: 20, silent: 'true' }, s('g', `node ${look}`, box));
}

const legendEntry = (sign: SVGElement, text: string): HTMLElement => h('li', {}, sign, h('span', {}, t(text)));

/** The legend of what is drawn. */
export function legend({ nodes }: Scene): HTMLElement {
  const looks = new Set(nodes.map(({ spot }) => boxLook(spot.node)));
  const icons = new Set(nodes.flatMap(({ spot, text }) => [text.mark, ...pillIcons(spot.node)]));
  const boxes = LEGEND_BOXES.filter(([look]) => looks.has(look)).map(([look, text]) => legendEntry(legendBox(look), text));
  const marks = LEGEND_ICONS.filter(([name]) => icons.has(name)).map(([name, text]) => legendEntry(icon(name), text));
  return h('ul', { class: 'tc-legend', label: t('Legend') }, ...boxes, ...marks);
}

function boxLook({ kind, input, dashed, muted }: GraphNode): string {
  if (kind !== 'object') return kind;
  const look = input ? ' input' : dashed ? ' dashed' : muted ? ' pale' : '';
  return `object${look}`;
}
