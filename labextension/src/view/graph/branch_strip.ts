/** The names of the branches at the right edge of the graph, each at the height of its branch's last node. */
import type { BranchRow } from '../../generated/contract';
import { h, keyedChildren } from '../dom';
import { rowsOf } from '../incremental';
import { branchNamed, currentBranch } from '../labels';
import { oneLine, t } from '../text';
import type { PanelActions, ViewState } from '../view_state';
import { type Drawing, type Spot } from './drawing';

/** The width of the strip, as in the style sheet, letters in two of its lines, and the height of a name, in pixels: a finger needs more. */
export const [STRIP, TWO_LINES] = [120, 32];
const ROW = globalThis.matchMedia?.('(pointer: coarse)').matches ? 44 : 32;

interface BranchEnd {
  readonly branch: BranchRow;
  readonly spot: Spot;
}

/** The last node of each branch, else the last that it shares, from top to bottom; none if there is one branch. */
export function branchEnds({ model }: ViewState, { spots, spotOf }: Pick<Drawing, 'spots' | 'spotOf'>): BranchEnd[] {
  if (model.branches.size < 2) return [];
  const last = new Map<string, Spot>();
  for (const spot of spots) {
    const row = spot.object ?? spot.call;
    if (!row || spot.node.input || spot.node.flag) continue;
    if (spot.x >= (last.get(row.branch)?.x ?? 0)) last.set(row.branch, spot);
  }
  const shared = rowsOf(model.objects).filter(object => object.same && !last.has(object.branch));
  for (const { id, branch } of shared) {
    const spot = spotOf(id);
    if (spot) last.set(branch, spot);
  }
  return [...last]
    .flatMap(([id, spot]) => {
      const branch = id ? branchNamed(model, id) : currentBranch(model);
      return branch ? [{ branch, spot }] : [];
    })
    .sort((a, b) => a.spot.y - b.spot.y);
}

/** A name without the number or the place at its end, and these, which tell it from others. */
function nameAndNumber(name: string): readonly [string, string] {
  const [, kind = name, number = ''] = /^(.*?)( \([^()]*\d\)|[# ]\d+)$/.exec(name) ?? [];
  // Beside a cut name there is a gap already.
  return [kind, number.replace(/^ /, '\u2009')];
}

/** Heights in ascending order, moved as little as possible so that they are `gap` apart, from `low` to `high`. */
export function pushedApart(own: readonly number[], gap: number, low: number, high: number): number[] {
  const groups: { sum: number; count: number }[] = [];
  for (const [index, y] of own.entries()) {
    let group = { sum: y - index * gap, count: 1 };
    for (let last = groups.at(-1); last && last.sum / last.count > group.sum / group.count; last = groups.at(-1)) {
      groups.pop();
      group = { sum: last.sum + group.sum, count: last.count + group.count };
    }
    groups.push(group);
  }
  const latest = high - (own.length - 1) * gap;
  return groups
    .flatMap(({ sum, count }) => Array<number>(count).fill(Math.max(low, Math.min(latest, sum / count))))
    .map((y, index) => y + index * gap);
}

/** Which of the names are shown, and where their middles are; the others are counted. */
interface StripPlaces {
  /** How many are left out above those that are shown. */
  readonly above: number;
  readonly middles: readonly number[];
}

/** Places of names at these heights in a strip of `height` pixels; the `current` one is shown if it is in sight. */
export function stripPlaces(own: readonly number[], height: number, current: number): StripPlaces {
  const first = own.filter(y => y < 0).length;
  const end = own.filter(y => y <= height).length;
  const most = Math.floor(height / ROW);
  const isWhole = end - first === own.length && end <= most;
  // Two rows count those that are left out.
  const room = isWhole ? most : Math.max(1, most - 2);
  const above = current < end ? Math.max(first, current - room + 1) : first;
  const shown = own.slice(above, Math.min(end, above + room));
  const [low, high] = [ROW * (above > 0 ? 1.5 : 0.5), height - ROW * (above + shown.length < own.length ? 1.5 : 0.5)];
  return { above, middles: pushedApart(shown, ROW, low, high) };
}

interface StripRow {
  readonly key: string;
  readonly text: string;
  readonly middle: number;
  /** null for the count of those that are out of sight. */
  readonly branch: BranchRow | null;
}

export class BranchStrip {
  readonly element = h('div', { class: 'tc-ends', role: 'group', label: t('Branches in the graph') });
  private readonly _draw = keyedChildren(this.element, (row: StripRow) => this._button(row));
  private _ends: readonly BranchEnd[] = [];
  private _live = false;

  constructor(private readonly _acts: PanelActions) {}

  paint(view: ViewState, drawing: Drawing): void {
    this._ends = branchEnds(view, drawing);
    this._live = view.live;
  }

  /** Puts the names beside their nodes, which are at these heights of the canvas. */
  place(heightOf: (spot: Spot) => number, height: number): void {
    const ends = this._ends;
    const { above, middles } = stripPlaces(ends.map(end => heightOf(end.spot)), height, ends.findIndex(end => end.branch.current));
    const below = ends.length - above - middles.length;
    const counted = (count: number, key: string, text: string, middle: number): StripRow[] =>
      count > 0 ? [{ key, text, middle, branch: null }] : [];
    const rows = [
      ...counted(above, 'above', t('%1 more above', above), ROW / 2),
      ...middles.flatMap((middle, index) => {
        const branch = ends[above + index]?.branch;
        return branch ? [{ key: branch.id, text: oneLine(branch.name, 80), middle, branch }] : [];
      }),
      ...counted(below, 'below', t('%1 more below', below), height - ROW / 2)
    ];
    this._draw(rows.map(item => ({ key: item.key, stamp: [item.text, item.branch?.current, this._live], item })));
    for (const [index, { middle }] of rows.entries()) (this.element.children[index] as HTMLElement).style.top = `${middle}px`;
  }

  private _button({ text, branch }: StripRow): HTMLElement {
    const onclick = (): void => {
      if (!branch) this._acts.setState({ branchList: 'open' });
      else if (!branch.current) this._acts.send({ type: 'checkout', branch: branch.id });
    };
    const isOpen = this._live || !branch || branch.current;
    return h(
      'button', { class: text.length > TWO_LINES ? 'long' : '', title: text, 'aria-current': branch?.current && 'true', disabled: !isOpen, onclick },
      ...nameAndNumber(text).map(part => h('span', {}, part))
    );
  }
}
