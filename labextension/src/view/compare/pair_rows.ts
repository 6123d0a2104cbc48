/** Rows of a comparison: equal calls folded to one line, differing calls side by side. */
import type { CallRow } from '../../generated/contract';
import { type Child, h, marked, mutedText, screenReaderText } from '../dom';
import { button, icon } from '../icons';
import { callWord, namesObject, printsLabel, sourceWord } from '../labels';
import type { Model } from '../model';
import { literalText, oneLine, plural, t } from '../text';
import type { PanelActions, ViewState } from '../view_state';
import { type CallPair, changeIn, differsAt, type SideName } from './comparison';
import { objectElement, textBeside, textLines } from './differences';

const stepsOf = (pair: CallPair, { order }: CompareContext): string => [...new Set(order.flatMap(side => pair[side]?.step ?? []))].join(' | ');

export const tableRow = (...cells: Child[]): HTMLElement => h('div', { role: 'row', class: 'tc-crow' }, ...cells);

export const rowHead = (text: string, more: Child = null): HTMLElement => h('span', { role: 'rowheader', class: 'n' }, text, more);

const equalCell = (...inside: Child[]): HTMLElement =>
  h('div', { role: 'cell', 'aria-colspan': 2, class: 'same' }, ...inside);

function stepRange(run: readonly CallPair[]): string {
  const [first, last] = [run[0], run.at(-1)].map(pair => pair?.right?.step ?? pair?.left?.step ?? 0);
  return first === last ? String(first) : `${first}–${last}`;
}

/** Adjacent calls that are folded where there are so many: they differ in nothing but the objects that they take and make. */
const FEWEST = 3;
const isCarried = ({ kind, changes, left, right }: CallPair): boolean =>
  kind === 'differs' && changes.length === 0 && left?.status === 'succeeded' && right?.status === 'succeeded' && !right.saves;

function equalRow(run: readonly CallPair[], show: () => void): HTMLElement {
  const tools = run.map(pair => pair.right?.tool ?? pair.left?.tool ?? '');
  const names = tools.length > 6 ? plural(tools.length, 'call') : oneLine(tools.join(', '), 200);
  const memory = run.every(pair => pair.right?.memory || pair.left?.memory);
  const [shared, later, carried] = [run[0]?.kind === 'shared', run[0]?.kind === 'later', run[0]?.kind === 'differs'];
  const how = carried ? t('%1: the same, with objects that differ', names) : later ? t('%1: not run yet', names) : shared ? t('%1: the same in both, not run again', names) : memory ? t('%1: the same, cached', names) : t('%1: the same', names);
  const text = h('span', {}, how);
  const more = button(t('Show'), { look: 'ghost right small', key: `show ${stepRange(run)}`, onclick: show });
  return tableRow(rowHead(stepRange(run)), equalCell(carried ? null : icon(later ? 'wait' : memory && !shared ? 'memory' : 'equal'), text, more));
}

/** Whether a call stands once, across both columns: it reads the same on both sides. */
const isOneCell = ({ kind, left, right, objects }: CallPair): boolean =>
  kind === 'shared' || (kind === 'same' && left?.what === right?.what && objects.every(one => one.left?.name === one.right?.name));

function pairRow(pair: CallPair, context: CompareContext): HTMLElement {
  const says = pair.kind === 'later' ? null : screenReaderText(pair.kind === 'differs' ? t(', differs') : t(', the same'));
  const sides = isOneCell(pair) ? context.order.slice(1) : context.order;
  return tableRow(rowHead(stepsOf(pair, context), says), ...sides.map(side => pairCell(pair, side, context)));
}

/** The pairs as table rows; adjacent equal pairs of one kind are folded, and those that only carry a difference on. */
export function pairRows(pairs: readonly CallPair[], context: CompareContext, most: number): HTMLElement[] {
  const { view, acts } = context;
  const rows: HTMLElement[] = [];
  let run: CallPair[] = [];
  const flush = (): void => {
    if (run[0]?.kind === 'differs' && run.length < FEWEST) rows.push(...run.map(pair => pairRow(pair, context)));
    else if (run.length) rows.push(equalRow(run, () => acts.setState({ showsEqualCalls: true })));
    run = [];
  };
  for (const pair of pairs) {
    const folds = (pair.kind !== 'differs' || isCarried(pair)) && !view.ui.showsEqualCalls;
    if (!folds || (run[0] && run[0].kind !== pair.kind)) flush();
    if (folds) run.push(pair);
    else if (rows.length < most) rows.push(pairRow(pair, context));
  }
  flush();
  return rows;
}

/** An argument as text. The receiver needs no parameter name. */
function argumentParts(call: CallRow, name: string, given: unknown, differs: boolean, first: boolean): Child[] {
  const isObject = namesObject(call, name, given);
  const text = isObject ? oneLine(given, 80) : literalText(given, 120);
  const value = differs ? marked(text) : text;
  return [first ? '' : ', ', isObject && given.startsWith(`${name}#`) ? '' : `${oneLine(name, 40)}=`, h('wbr'), value];
}

function callText(pair: CallPair, call: CallRow, other: CallRow | null): Child[] {
  const entries = Object.entries(call.arguments);
  const parts = entries.flatMap(([name, given], index) =>
    argumentParts(call, name, given, (other === null && pair.kind !== 'later') || changeIn(pair, 'argument', name) !== undefined, index === 0)
  );
  const tool = oneLine(call.tool, 80);
  return [changeIn(pair, 'tool') ? marked(tool) : tool, '(', ...parts, ')'];
}

/** The outcome of a call; success is named only beside a call that did not succeed. */
function callOutcome(call: CallRow, other: CallRow | null, code: string): Child {
  const words = [
    code,
    call.edited && t('edited by you'),
    call.status === 'approved' ? t('not run yet') : call.status !== 'succeeded' || (other && other.status !== 'succeeded') ? callWord(call) : '',
    sourceWord(call)
  ].filter(Boolean);
  return words.length ? mutedText(words.join(' · ')) : null;
}

const LOOKS = { error: 'tc-came bad', result: 'tc-came', reason: 'tc-came muted', prints: 'tc-came' } as const;

/** The result, error, reason and prints of a call, where the other call differs. */
function resultLines(pair: CallPair, call: CallRow, other: CallRow | null, where: SideName): Child[] {
  const linesOf = (what: keyof typeof LOOKS): Child => {
    const change = changeIn(pair, what);
    if (call[what] === '' || (pair.left && pair.right && !change)) return null;
    const label = what === 'prints' ? h('span', 'k', printsLabel(call.prints)) : null;
    // All of a traceback differs from no traceback: marks would say nothing.
    if (what === 'prints' && call.status === 'failed') return h('div', { class: LOOKS[what] }, label, textLines(call.prints, () => false));
    // Of a text it is known which lines differ.
    const isData = change && change.left.length + change.right.length === 0;
    const text = isData && other ? textBeside(call[what], other[what]) : textLines(call[what], differsAt(change, where));
    return h('div', { class: LOOKS[what] }, label, text);
  };
  // The error of a rejected call is its reason.
  return [call.status === 'rejected' ? null : linesOf('error'), call.saves ? null : linesOf('result'), linesOf('reason'), linesOf('prints')];
}

/** The object that a call returned without creating it, if the other call returned another one. */
function returnedObject(pair: CallPair, call: CallRow, model: Model, where: SideName): Child {
  const object = changeIn(pair, 'result') && call.result === '' ? model.objects.get(call.object) : undefined;
  if (!object || pair.objects.some(one => one[where] === object)) return null;
  return h('div', 'tc-came', t('returned'), ' ', marked(oneLine(object.name, 80)));
}

interface CompareContext {
  readonly view: ViewState;
  readonly acts: PanelActions;
  /** The sides of the rows from left to right. */
  readonly order: readonly [SideName, SideName];
  /** The names of the branches on both sides. */
  readonly names: Readonly<Record<SideName, string>>;
}

function pairCell(pair: CallPair, where: SideName, { view, acts, order, names }: CompareContext): HTMLElement {
  const isLast = where === order[1];
  const [call, other] = where === 'left' ? [pair.left, pair.right] : [pair.right, pair.left];
  const isOne = isOneCell(pair);
  const look = isOne ? 'both' : `${isLast ? 'b ' : ''}${pair.kind === 'differs' ? 'diff' : 'alike'}`;
  const props = { role: 'cell', class: look, 'data-branch': isOne ? undefined : oneLine(names[where], 60) };
  if (!call) return h('div', { ...props, class: `${look} muted small` }, pair.kind === 'later' ? t('not run yet') : t('not called'));
  const { chosen } = view;
  const choose = (object: string): void => acts.setState({ chosen: { call: call.id, object } });
  const title = h(
    'button', { class: 'tc-call', 'aria-pressed': String(chosen.call === call.id), key: `${where} ${call.id}`, onclick: () => choose(call.object) },
    ...callText(pair, call, other)
  );
  const code = pair.changes.find(change => change.what === 'code')?.name ?? '';
  // A call that failed has no object, which needs no words.
  const objects = pair.objects.map(one =>
    call.status === 'failed' && !one[where] ? null : objectElement(
      one, where, isLast, call.saves, chosen.object !== '' && chosen.object === one[where]?.id, names, object => choose(object.id)
    )
  );
  return h(
    'div', { ...props, 'aria-colspan': isOne ? 2 : undefined }, h('div', 'tc-paircall', title, callOutcome(call, other, isLast ? code : '')),
    ...resultLines(pair, call, other, where), returnedObject(pair, call, view.model, where), ...objects
  );
}
