/** What a screen reader reads of the nodes, and the list of all objects for those who see no graph. */
import type { CallRow, ObjectRow } from '../../generated/contract';
import { h, joined, keyedChildren, setChanged } from '../dom';
import type { IconName } from '../icons';
import { branchName, callWord, objectMarks, objectState, savedName, sourceWord } from '../labels';
import { parentsOf } from '../lineage';
import { oneLine, t, tn } from '../text';
import type { ViewState } from '../view_state';
import type { Spot } from './drawing';

export interface NodeText {
  /** The accessible name. */
  readonly label: string;
  /** The state and the marks. */
  readonly state: string;
  readonly mark: IconName | null;
}

const onBranch = (view: ViewState, name: string, branch: string): string => (branch ? t('%1 of %2', name, branchName(view.model, branch)) : name);

function objectText(view: ViewState, object: ObjectRow): NodeText {
  const state = objectState(view, object);
  const marks = objectMarks(view, object);
  if (object.role === 'output') return { label: t('Output %1: %2', object.name, object.kind), state, mark: null };
  const facts = object.branch === '' && savedName(view, object) ? [] : [object.label, object.preview.caption];
  const shown = joined(' · ', ...facts);
  const states = joined(', ', shown, shown.includes(state) ? '' : state, ...marks.map(([, word]) => word));
  return { label: onBranch(view, object.name, object.branch), state: states, mark: marks[0]?.[0] ?? null };
}

function callText(view: ViewState, call: CallRow, { edited, stale }: Spot['node']): NodeText {
  const why = call.error || call.reason;
  const states = joined(
    ', ', callWord(call), edited && t('edited'), stale && t('outdated'), sourceWord(call), call.object ? '' : call.result, why,
    call.warning ? t(call.warning.kind) : ''
  );
  const isMarked = call.warning !== null && !stale && call.branch === '';
  return { label: onBranch(view, t('Call %1: %2', call.step, call.tool), call.branch), state: states, mark: isMarked ? 'warning' : null };
}

export function nodeText(view: ViewState, { object, call, node }: Spot): NodeText {
  const words = node.kind === 'object' && object ? objectText(view, object) : node.kind === 'call' && call ? callText(view, call, node) : { label: node.label, state: '', mark: null };
  return { ...words, label: oneLine(words.label, 120), state: oneLine(words.state, 1000) };
}

const MOST_LISTED = 120;

/** An object for screen readers: name, tool and inputs. */
function objectDescription(view: ViewState, object: ObjectRow): string {
  const { label, state } = objectText(view, object);
  const whole = oneLine(joined(': ', label, state), 400);
  const call = view.model.calls.get(object.call);
  if (!call) return whole;
  const names = parentsOf(view.model, object.id).map(id => oneLine(view.model.objects.get(id)?.name ?? '', 60));
  const [tool, from] = [oneLine(call.tool, 80), names.join(', ')];
  const made = object.role === 'pending' ? t('will be made by %1, call %2', tool, call.step) : t('made by %1, call %2', tool, call.step);
  return `${whole}; ${made}${from && `, ${t('from %1', from)}`}`;
}

/** The objects as a list: hidden beside a drawing, shown where there is none. */
export class ObjectList {
  private readonly _error = h('p', { class: 'tc-nodrawing', hidden: true });
  private readonly _rows = h('ul', { label: t('Objects') });
  private readonly _moreText = h('p');
  readonly element = h('div', 'tc-sr', this._error, this._rows, this._moreText);
  private readonly _draw = keyedChildren(this._rows, (text: string) => h('li', {}, text));

  /** `error`: why there is no drawing; empty where there is one. */
  paint(view: ViewState, error: string): void {
    setChanged(this.element, 'class', error ? 'tc-objects' : 'tc-sr');
    this._error.hidden = !error;
    this._error.textContent = error;
    const shown = view.objects.slice(-MOST_LISTED);
    const items = shown.map(object => ({ key: object.id, item: objectDescription(view, object) }));
    this._draw(items.map(({ key, item }) => ({ key, stamp: [item], item })));
    const hidden = view.objects.length - shown.length;
    this._moreText.textContent = hidden > 0
      ? tn('and %1 object before these, listed in Steps', 'and %1 objects before these, listed in Steps', hidden)
      : '';
  }
}
