/** Labels of a node: its name and state, and what a screen reader reads of it. */
import { h, keyedChildren } from '../dom';
import type { IconName } from '../icons';
import { branchName, callWord, objectMarks, objectState, savedName } from '../labels';
import { parentsOf } from '../lineage';
import { clip, oneLine, plural, t, tn } from '../text';
import type { ViewState } from '../view_state';
import { type Anchor, textAnchor } from './edge_routes';
import { gridOf, type Layout, type Size, type Spot } from './layout';

type CellText = readonly [text: string, x: number, anchor: Anchor];

export interface GraphNode {
  readonly key: string;
  readonly spot: Spot;
  readonly look: string;
  /** The accessible name. */
  readonly label: string;
  readonly name: CellText;
  readonly state: CellText;
  /** The caption while the graph is zoomed out. */
  readonly shortName: CellText;
  /** The name, state and marks in one line. */
  readonly fullLabel: string;
  readonly mark: IconName | null;
  /** It is not in the lineage that is shown. */
  readonly isAway: boolean;
}

function nodeLook(view: ViewState, spot: Spot): string {
  const { object, failedCall: nothing } = spot;
  if (nothing) return nothing.status === 'failed' ? 'failed' : 'nothing';
  if (!object) return 'stack';
  if (object.branch !== '') return 'pale';
  if (object.role === 'output') return 'socket';
  if (object.role === 'pending') {
    const status = view.model.calls.get(object.call)?.status;
    return status === 'running' ? 'running' : status === 'unknown' ? 'pending unknown' : 'pending';
  }
  if (savedName(view, object)) return 'output';
  return object.role === 'made' ? '' : object.role;
}

interface NodeText {
  readonly name: string;
  readonly label: string;
  readonly state: string;
  /** What tells it from others of its type. */
  readonly told?: string;
  /** The name where the whole one is too long. */
  readonly shorter?: string;
}

/** A range of names; a common type is written once. */
function nameRange(first: string, last: string): string {
  const type = first.slice(0, first.indexOf('#'));
  return t('%1 to %2', first, type && last.startsWith(`${type}#`) ? last.slice(type.length) : last);
}

function stackText({ folded, stack }: Spot): NodeText {
  const { name: group, calls, withoutResult: lost } = stack ?? { name: '', calls: 0, withoutResult: 0 };
  const count = plural(Math.max(1, calls), 'call');
  const [first, last] = [folded[0], folded.at(-1)];
  const state = lost > 0 ? t('%1 without result', lost) : nameRange(first?.name ?? '', last?.name ?? '');
  if (!group) return { name: count, label: t('%1 folded', count), state };
  const method = group.startsWith(`${first?.kind}_`) ? group.slice((first?.kind.length ?? 0) + 1) : group;
  return { name: group, shorter: method, label: `${group}, ${t('%1 folded', count)}`, state };
}

function nodeText(view: ViewState, spot: Spot): NodeText {
  const { object, failedCall: nothing } = spot;
  if (nothing) {
    const word = callWord(nothing);
    const why = nothing.error || nothing.reason || word;
    return { name: t('no object'), label: t('No object, %1 %2', nothing.tool, word), state: why };
  }
  if (!object) return stackText(spot);
  const state = objectState(view, object, spot.parked);
  if (object.role === 'output')
    return { name: `${object.name}: ${object.kind}`, label: t('Output %1: %2', object.name, object.kind), state };
  const label = object.branch ? t('%1 of %2', object.name, branchName(view.model, object.branch)) : object.name;
  const tells = object.branch === '' && savedName(view, object) ? [] : [object.label, spot.parked ? '' : object.preview.caption];
  return { name: object.name, label, state, told: tells.filter(Boolean).join(' · ') };
}

function whole(view: ViewState, spot: Spot, { label, state, told = '' }: NodeText): string {
  const { object } = spot;
  const marks = object ? objectMarks(view, object).map(([, word]) => word) : [];
  const states = [told, told.includes(state) ? '' : state, ...marks].filter(Boolean).join(', ');
  return states ? `${label}: ${states}` : label;
}

/** Width of a character of a name, of the line below it, and of a name while the graph is zoomed out; wide ones of common fonts. */
const [NAME_WIDTH, STATE_WIDTH, SHORT_WIDTH] = [7.9, 6.1, 16.5];

/** A name without the number at its end, and that number, which tells it from others. */
export function nameAndNumber(name: string): readonly [string, string] {
  const [, kind = name, number = ''] = /^(.*)([# ]\d+\)?)$/.exec(name) ?? [];
  return [kind, number];
}

/** A name of at most so many characters; its number is not cut. */
function shortName(name: string, most: number): string {
  const [kind, number] = nameAndNumber(name);
  return clip(kind, Math.floor(most) - number.length) + number;
}

/** The node at a spot, with its texts. */
export function nodeAt(view: ViewState, spot: Spot, size: Size, isAway = false): GraphNode {
  const words = nodeText(view, spot);
  const { object } = spot;
  const grid = gridOf(size);
  const width = spot.parked ? 2 * grid.right : grid.left + grid.right;
  const fit = (whole: string, unit: number, shorter = whole): CellText => {
    const text = shortName(oneLine(whole.length * unit > width ? shorter : whole, 200), width / unit);
    return [text, ...textAnchor(text.length * unit, grid)];
  };
  const marks = object ? objectMarks(view, object) : [];
  return {
    key: spot.key,
    spot,
    look: nodeLook(view, spot),
    label: oneLine(words.label, 120),
    name: fit(words.name, NAME_WIDTH, words.shorter),
    state: fit(words.told || words.state, STATE_WIDTH),
    shortName: fit(object?.name ?? words.shorter ?? words.name, SHORT_WIDTH),
    fullLabel: oneLine(whole(view, spot, words), 400),
    mark: marks[0]?.[0] ?? null,
    isAway
  };
}

const MOST_LISTED = 120;

/** A spot for screen readers: name, tool and inputs. */
function spotDescription(view: ViewState, spot: Layout['spots'][number], layout: Layout): string {
  const { fullLabel: whole } = nodeAt(view, spot, { width: 0, narrow: false });
  const { object } = spot;
  const call = object ? view.model.calls.get(object.call) : undefined;
  if (!object || !call || layout.spotOf(object.id) !== spot) return whole;
  const names = parentsOf(view.model, object.id).map(id => oneLine(view.model.objects.get(id)?.name ?? '', 60));
  const [tool, from] = [oneLine(call.tool, 80), names.join(', ')];
  const made = object.role === 'pending' ? t('will be made by %1, call %2', tool, call.step) : t('made by %1, call %2', tool, call.step);
  return `${whole}; ${made}${from && `, ${t('from %1', from)}`}`;
}

export class ObjectList {
  private readonly _rows = h('ul', { label: t('Objects') });
  private readonly _moreText = h('p');
  readonly element = h('div', 'tc-sr', this._rows, this._moreText);
  private readonly _draw = keyedChildren(this._rows, (text: string) => h('li', {}, text));

  paint(view: ViewState, layout: Layout): void {
    const shown = layout.spots.slice(-MOST_LISTED);
    this._draw(
      shown.map(spot => {
        const text = spotDescription(view, spot, layout);
        return { key: spot.key, stamp: [text], item: text };
      })
    );
    const hidden = layout.spots.length - shown.length;
    this._moreText.textContent = hidden > 0 ? tn('and %1 object before these, listed in Steps', 'and %1 objects before these, listed in Steps', hidden) : '';
  }
}
