/** Labels of a node: its name and state, and what a screen reader reads of it. */
import { h, keyedChildren } from '../dom';
import type { IconName } from '../icons';
import { branchName, callLabel, objectMarks, objectState, savedName } from '../labels';
import { parentsOf } from '../lineage';
import { clip, oneLine, plural } from '../text';
import type { ViewState } from '../view_state';
import { type Anchor, textAnchor } from './edge_routes';
import { gridOf, type Layout, type Size, type Spot } from './layout';

export interface GraphNode {
  readonly key: string;
  readonly spot: Spot;
  readonly look: string;
  /** The accessible name. */
  readonly label: string;
  readonly name: string;
  readonly state: string;
  readonly nameAnchor: readonly [x: number, anchor: Anchor];
  readonly stateAnchor: readonly [x: number, anchor: Anchor];
  /** The name, state and marks in one line. */
  readonly fullLabel: string;
  readonly mark: IconName | null;
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
}

/** A range of names; a common type is written once. */
function nameRange(first: string, last: string): string {
  const type = first.slice(0, first.indexOf('#'));
  return `${first} to ${type && last.startsWith(`${type}#`) ? last.slice(type.length) : last}`;
}

function stackText({ folded, stack }: Spot): NodeText {
  const { calls, withoutResult: lost } = stack ?? { calls: 0, withoutResult: 0 };
  const name = plural(Math.max(1, calls), 'call');
  const from = nameRange(folded[0]?.name ?? '', folded.at(-1)?.name ?? '');
  const state = lost > 0 ? `${lost} without result` : from;
  return { name, label: `${name} folded`, state };
}

function nodeText(view: ViewState, spot: Spot): NodeText {
  const { object, failedCall: nothing } = spot;
  if (nothing) {
    const { word } = callLabel(nothing.status);
    const why = nothing.error || nothing.reason || word;
    return { name: 'no object', label: `No object, ${nothing.tool} ${word}`, state: why };
  }
  if (!object) return stackText(spot);
  const state = objectState(view, object, spot.parked);
  if (object.role === 'output')
    return { name: `${object.name}: ${object.kind}`, label: `Output ${object.name}: ${object.kind}`, state };
  const label = object.branch ? `${object.name} of ${branchName(view.model, object.branch)}` : object.name;
  const of = object.branch ? `on ${branchName(view.model, object.branch)}` : '';
  return { name: object.name, label, state: of && state ? `${of}: ${state}` : of || state };
}

/** Width of a character of a name, and of the line below it. */
const [NAME_WIDTH, STATE_WIDTH] = [7.2, 6.1];

function whole(view: ViewState, spot: Spot, { label, state }: NodeText): string {
  const { object } = spot;
  const marks = object ? objectMarks(view, object).map(([, word]) => word) : [];
  return [`${label}${state ? `: ${state}` : ''}`, ...marks].join(', ');
}

/** The node at a spot, with its texts. */
export function nodeAt(view: ViewState, spot: Spot, size: Size): GraphNode {
  const words = nodeText(view, spot);
  const { object } = spot;
  const grid = gridOf(size);
  const width = spot.parked ? 2 * grid.right : grid.left + grid.right;
  const name = clip(oneLine(words.name, 120), Math.floor(width / NAME_WIDTH));
  const state = clip(oneLine(words.state, 200), Math.floor(width / STATE_WIDTH));
  const marks = object ? objectMarks(view, object) : [];
  return {
    key: spot.key,
    spot,
    look: nodeLook(view, spot),
    label: oneLine(words.label, 120),
    name,
    state,
    nameAnchor: textAnchor(name.length * NAME_WIDTH, grid),
    stateAnchor: textAnchor(state.length * STATE_WIDTH, grid),
    fullLabel: oneLine(whole(view, spot, words), 400),
    mark: marks[0]?.[0] ?? null
  };
}

const MOST_LISTED = 120;

/** A spot for screen readers: name, tool and inputs. */
function spotDescription(view: ViewState, spot: Layout['spots'][number], layout: Layout): string {
  const { fullLabel: whole } = nodeAt(view, spot, { width: 0, narrow: false });
  const { object } = spot;
  const call = object ? view.model.calls.get(object.call) : undefined;
  if (!object || !call || layout.spotOf(object.id) !== spot) return whole;
  const names = parentsOf(view, object.id).map(id => oneLine(view.model.objects.get(id)?.name ?? '', 60));
  const from = names.length ? ` from ${names.join(' and ')}` : '';
  return `${whole}; ${object.role === 'pending' ? 'will be made' : 'made'} by ${oneLine(call.tool, 80)}${from}, call ${call.step}`;
}

export class ObjectList {
  private readonly _rows = h('ul', { 'aria-label': 'Objects' });
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
    this._moreText.textContent = hidden > 0 ? `and ${plural(hidden, 'object')} before these, listed in Steps` : '';
  }
}
