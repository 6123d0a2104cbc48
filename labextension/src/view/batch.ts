/** Many similar calls of one reply as one table: what differs from the others stands first, and is not ticked. */
import type { CallRow, Command, OriginRow } from '../generated/contract';
import { type Child, consume, focusInPlace, h, joined, mutedText, setChildren } from './dom';
import { writeContext } from './dialogs';
import { jsonText } from './exact';
import { button, icon } from './icons';
import { isDecision } from './decisions';
import { complain, FieldRow, filledArguments } from './fields';
import { rarity, shapeOf } from './full_preview';
import { fieldsOf } from './schema';
import { oneLine, t, textBlock, tn, valueText } from './text';
import { choiceOf, type PanelActions, shownCall, type ViewState } from './view_state';

/** So many calls at least, and at most, are one table. */
const [FEWEST, MOST] = [3, 200];

/** The waiting calls that are decided on as one table; none while the person looks at one call. */
export function similarCalls(view: ViewState): readonly CallRow[] {
  const first = view.waitingCall;
  if (!first || !view.live || view.isPast || !view.followsNewest || view.ui.form || first.may_have_run) return [];
  const waiting = view.model.session.pending.flatMap(id => view.model.calls.get(id) ?? []);
  const calls = waiting.filter(
    call => isDecision(call) && call.tool === first.tool && call.turn === first.turn && call.approval_digest !== '' &&
      !call.questions.length && !call.may_have_run && call.status !== 'unknown'
  );
  return calls.length < FEWEST || calls.length > MOST || !calls.includes(first) || view.model.tools.get(first.tool)?.for_person ? [] : calls;
}

/** The names of the arguments in which calls differ. */
export function differingArguments(calls: readonly CallRow[]): string[] {
  const names = new Set(calls.flatMap(call => Object.keys(call.arguments)));
  return [...names].filter(name => new Set(calls.map(call => jsonText(call.arguments[name]))).size > 1);
}

const middle = (numbers: readonly number[]): number => Float64Array.from(numbers).sort()[numbers.length >> 1] ?? 0;

/** Tells which numbers are so many times as far from the middle of all as the usual one. */
export function farAmong(numbers: readonly number[], times = 6): { readonly centre: number; readonly isFar: (value: number) => boolean } {
  const centre = middle(numbers);
  const usual = middle(numbers.map(value => Math.abs(value - centre)));
  return { centre, isFar: value => usual > 0 && Math.abs(value - centre) > times * usual };
}

/** Tells why the value of an argument differs from those of the other calls, in words; empty where it does not. */
function differences(name: string, calls: readonly CallRow[]): (call: CallRow) => string {
  const values = calls.map(call => call.arguments[name]);
  const { isFar } = farAmong(values.filter(value => typeof value === 'number'));
  const usualLength = middle(values.map(value => String(value).length));
  const hasFewValues = new Set(values).size < values.length / 2;
  const isRareKind = rarity(values.map(value => typeof value));
  const isRareJson = rarity(values.map(jsonText));
  const isRareValue = rarity(values);
  const isRareShape = rarity(values.map(value => (typeof value === 'string' ? shapeOf(value) : '')));
  return call => {
    const value = call.arguments[name];
    if (isRareKind(typeof value)) return t('%1 is of another type', name);
    if (typeof value === 'number') return isFar(value) ? t('%1 is far from the others', name) : '';
    if (typeof value !== 'string') return isRareJson(jsonText(value)) ? t('%1 differs', name) : '';
    if (isRareValue(value) && hasFewValues) return t('%1 differs', name);
    if (isRareShape(shapeOf(value))) return t('%1 is written in another way', name);
    return value.length > 3 * usualLength ? t('%1 is much longer', name) : '';
  };
}

const untrustedOrigin = (call: CallRow): OriginRow | undefined => call.origins.find(origin => origin.trust === 'untrusted');

/** Why each call differs from the others, in words; empty where it does not. */
export function outlierReasons(calls: readonly CallRow[]): ReadonlyMap<CallRow, string> {
  const areAllUntrusted = calls.every(untrustedOrigin);
  const tests = differingArguments(calls).map(name => differences(name, calls));
  const reason = (call: CallRow): string => joined(', ', ...tests.map(test => test(call)));
  return new Map(calls.map(call => [call, (areAllUntrusted ? undefined : untrustedOrigin(call))?.warning ?? reason(call)]));
}

/** The row whose fields are open. */
interface OpenRow {
  readonly call: CallRow;
  readonly rows: readonly FieldRow[];
}

/** The table of similar calls, with the buttons below it. */
export class BatchTable {
  readonly element = h('div', 'tc-batch');
  private _view!: ViewState;
  /** What the person ticked, or took the tick from, by the call's digest. */
  private readonly _ticks = new Map<string, boolean>();
  /** The arguments that the person changed, by the call's digest. */
  private readonly _edits = new Map<string, Readonly<Record<string, unknown>>>();
  private _open: OpenRow | null = null;
  /** How often a tick was set or taken, or a row changed: the card is drawn again then. */
  changes = 0;

  constructor(private readonly _acts: PanelActions) {}

  /** Returns the parts of the card for similar calls. */
  parts(view: ViewState, calls: readonly CallRow[]): Child[] {
    this._view = view;
    const first = calls[0];
    if (!first) return [];
    const differing = differingArguments(calls);
    const rest = Object.keys(first.arguments).filter(name => !differing.includes(name));
    const same = rest.map(name => `${name}=${valueText(first.arguments[name], 60)}`).join(', ');
    const rows = [...outlierReasons(calls)].map(([call, reason]) => ({ call, reason }));
    const sorted = [...rows.filter(row => row.reason), ...rows.filter(row => !row.reason)];
    const all = h('input', {
      type: 'checkbox', label: t('All %1 calls', calls.length), key: 'all calls', onchange: () => this._tick(calls, all.checked)
    });
    const ticked = rows.filter(row => this._isTicked(row.call, row.reason)).length;
    all.checked = ticked === rows.length;
    all.indeterminate = ticked > 0 && !all.checked;
    const head = h(
      'tr', {}, h('th', {}, all), h('th', {}, t('call')),
      ...differing.map(name => h('th', {}, h('code', {}, oneLine(name, 60)), ' ', mutedText(this._origin(calls, name)))), h('th', {})
    );
    const table = h(
      'table', { class: 'tc-calls', label: t('%1 calls of %2', calls.length, oneLine(first.tool, 80)) }, h('thead', {}, head),
      h('tbody', {}, ...sorted.map(row => this._row(row.call, row.reason, differing)))
    );
    const { refusal } = view.model;
    setChildren(this.element, [
      refusal?.command === 'edit' ? h('p', { class: 'tc-error', role: 'alert' }, icon('failed'), textBlock(refusal.reason, 400)) : null,
      same ? h('p', 'small muted', t('The same in all: %1', same)) : null, h('div', 'tc-callscroll', table)
    ]);
    return [this.element];
  }

  /** The buttons; their numbers follow the ticks. */
  buttons(view: ViewState, calls: readonly CallRow[]): Child[] {
    if (!calls.length) return [];
    const reasons = outlierReasons(calls);
    const ticked = calls.filter(call => this._isTicked(call, reasons.get(call) ?? ''));
    const others = calls.filter(call => !ticked.includes(call));
    const shown = ticked.map(shownCall);
    const edits = shown.flatMap(
      one => (this._edits.has(one.approval_digest) ? [{ type: 'edit' as const, ...one, arguments: this._edits.get(one.approval_digest) ?? {} }] : [])
    );
    const asShown: Command[] = edits.length < shown.length
      ? [{ type: 'approve_all', calls: shown.filter(({ approval_digest }) => !this._edits.has(approval_digest)) }]
      : [];
    const disabled = view.ui.commandSent || ticked.length === 0;
    const next = others[0];
    const steps = others.map(call => call.step).join(', ');
    const waits = others.length ? mutedText(tn('Call %2 keeps waiting.', 'Calls %2 keep waiting.', others.length, oneLine(steps, 60))) : null;
    return [
      button(t('Approve %1', ticked.length), {
        look: 'primary', key: 'approve calls', title: tn('Approve %1 call', 'Approve %1 calls', ticked.length),
        disabled: disabled || this._open !== null, onclick: () => this._acts.send(...edits, ...asShown)
      }),
      next
        ? button(t('Look at %1', others.length), {
            key: 'look', title: t('Look at call %1', steps), onclick: () => this._acts.setState({ chosen: choiceOf(next) })
          })
        : null,
      waits,
      button(t('Reject %1', ticked.length), {
        look: 'ghost right', key: 'reject calls', title: tn('Reject %1 call', 'Reject %1 calls', ticked.length), disabled,
        onclick: () => this._acts.send({ type: 'reject_all', calls: shown })
      })
    ];
  }

  /** The origin of a column, where it is one. */
  private _origin(calls: readonly CallRow[], name: string): string {
    const says = new Set(calls.map(call => call.origins.find(origin => origin.parameter === name)?.says ?? ''));
    return says.size === 1 ? oneLine([...says][0] ?? '', 80) : '';
  }

  private _isTicked(call: CallRow, reason: string): boolean {
    return this._ticks.get(call.approval_digest) ?? reason === '';
  }

  /** Ticks calls, or takes their ticks. */
  private _tick(calls: readonly CallRow[], on: boolean): void {
    for (const call of calls) this._ticks.set(call.approval_digest, on);
    this._redraw();
  }

  private _redraw(): void {
    this.changes++;
    this._acts.setState({});
  }

  /** Opens the fields of a call in its row. */
  private _edit(call: CallRow, differing: readonly string[]): void {
    const fields = fieldsOf(this._view.model.tools.get(call.tool)?.parameters ?? {}, { ...call.arguments, ...this._edits.get(call.approval_digest) });
    this._open = {
      call,
      rows: fields.filter(({ name }) => differing.includes(name)).map(field => new FieldRow(field, writeContext(this._view), () => undefined))
    };
    this._redraw();
    focusInPlace(this._open.rows[0]?.first);
  }

  /** Keeps what stands in the fields, and closes them; it runs when the person approves. */
  private _save({ call, rows }: OpenRow): void {
    const { arguments: filled, errors } = filledArguments(rows);
    if (complain(rows, errors)) return;
    const changed = Object.entries(filled).filter(([name, value]) => jsonText(value) !== jsonText(call.arguments[name]));
    if (changed.length) this._edits.set(call.approval_digest, Object.fromEntries(changed));
    else this._edits.delete(call.approval_digest);
    this._ticks.set(call.approval_digest, true);
    this._close(call);
  }

  private _close(call: CallRow): void {
    this._open = null;
    this._redraw();
    focusInPlace(this.element.querySelector<HTMLElement>(`[data-k="edit ${CSS.escape(call.id)}"]`));
  }

  private _row(call: CallRow, reason: string, differing: readonly string[]): HTMLElement {
    const open = this._open?.call.approval_digest === call.approval_digest ? this._open : null;
    const edited = this._edits.get(call.approval_digest) ?? {};
    const texts = (values: Readonly<Record<string, unknown>>): string[] =>
      differing.map(name => (name in values ? valueText(values[name], 200) : ''));
    const [values, before] = [texts({ ...call.arguments, ...edited }), texts(call.arguments)];
    const tick = h('input', {
      type: 'checkbox', label: t('Call %1, %2', call.step, oneLine(values.join(', '), 120)), key: `tick ${call.id}`,
      onchange: () => this._tick([call], tick.checked)
    });
    tick.checked = this._isTicked(call, reason);
    const keys = (event: KeyboardEvent): void => {
      if (!open || (event.key !== 'Enter' && event.key !== 'Escape')) return;
      consume(event);
      if (event.key === 'Enter') this._save(open);
      else this._close(call);
    };
    const disabled = this._view.ui.commandSent;
    const buttons = open
      ? [
        button(t('Save'), { look: 'small', title: t('Save call %1', call.step), onclick: () => this._save(open) }),
        button(t('Cancel'), { look: 'ghost small', onclick: () => this._close(call) })
      ]
      : [
        button(t('Edit'), {
          look: 'ghost small', title: t('Edit call %1', call.step), key: `edit ${call.id}`, disabled,
          onclick: () => this._edit(call, differing)
        })
      ];
    const about = (index: number): Child => {
      if (values[index] !== before[index]) return h('div', 'why', icon('edited'), t('you edited:'), ' ', h('del', {}, before[index]));
      return reason && index === 0 ? h('div', 'why', icon('differs'), t('differs from the others: %1', oneLine(reason, 160))) : null;
    };
    const cells = values.map(
      (value, index) => h(
        'td', 'value',
        ...(open ? [open.rows.find(({ field }) => field.name === differing[index])?.element] : [h('code', {}, value), about(index)])
      )
    );
    return h(
      'tr', { class: reason ? 'out' : '', onkeydown: keys }, h('td', {}, tick), h('td', 'num', String(call.step)), ...cells,
      h('td', 'edit', ...buttons)
    );
  }
}
