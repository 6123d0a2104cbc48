/** The list of steps, and the list of tools with their breakpoints. */
import type { CallRow, SessionRow, ToolRow } from '../generated/contract';
import {
  afterLayout, type Child, consume, h, hasFocus, joined, keyedChildren, listen, redraw, screenReaderText, scrollIntoList, setChildren, whenChanged
} from './dom';
import { button, icon } from './icons';
import { argumentNames, branchName, endText, namesObject, stepIcon, warningText } from './labels';
import { objectsByCall } from './model';
import { literalText, oneLine, plural, shortLine, summaryOf, t, textBlock, tn } from './text';
import { needsDecision, type PanelActions, type ViewState } from './view_state';

/** The status for screen readers, if the end of the line does not show it. */
const spokenStatus = (call: CallRow): string => (call.warning ? t('warning, ') : call.status === 'succeeded' && !call.memory ? t('done, ') : '');

interface StepItem {
  readonly call: CallRow;
  readonly made: string;
  readonly pending: boolean;
  readonly tool: ToolRow | undefined;
  /** The name of the person who decided on it, where others decided too. */
  readonly who: string;
  /** The calls after this one that the same rule decided, if they fold. */
  readonly following?: number;
  /** Whether it is folded away. */
  readonly folded?: boolean;
}

const MOST_BY_RULE = 2;

/** The items with neighbours of one rule folded behind their first, unless a person opened them or chose one of them. */
function foldedByRule(items: readonly StepItem[], chosen: string, opened: ReadonlySet<string>): readonly StepItem[] {
  const runs: StepItem[][] = [];
  for (const item of items) {
    const run = runs.at(-1);
    if (item.call.by_rule && item.call.by_rule === run?.[0]?.call.by_rule) run.push(item);
    else runs.push([item]);
  }
  return runs.flatMap(run => {
    if (run.length <= MOST_BY_RULE || run.slice(1).some(item => item.call.id === chosen)) return run;
    return run.map((item, at) => (at ? { ...item, folded: !opened.has(run[0]?.call.id ?? '') } : { ...item, following: run.length - 1 }));
  });
}

/** Characters of the two lines in which arguments and result stand, of a result, and of a value of an argument. */
const [LINES, RESULT, VALUE] = [80, 48, 48];

/** A value in a line of several: a text that could be taken for more than one value stands in quotes. */
const inLine = (value: unknown): string =>
  (typeof value === 'string' && /^[^\s,"'→]+$/.test(value) ? oneLine(value, VALUE) : shortLine(literalText(value), VALUE));

/** The names and values of a call's arguments, as far as there is room; of an edited one the old value too. */
function argumentParts({ call, tool }: StepItem, room: number): Child[] {
  if (call.saves || call.scheme) return [shortLine(call.what, room)];
  const parts: Child[] = [];
  let isCut = false;
  for (const name of argumentNames(call, tool)) {
    const [given, asked] = [call.arguments[name], call.asked?.[name]];
    const [value, before] = [inLine(given), asked === undefined ? '' : inLine(asked)];
    const isReceiver = namesObject(call, name, given) && given.startsWith(`${name}#`);
    if (room < 0) return isCut ? parts : [...parts, ' …'];
    isCut = value.endsWith('…');
    room -= name.length + value.length + 2;
    parts.push(
      parts.length ? ', ' : '', isReceiver ? '' : `${oneLine(name, 40)} `, h('span', 'v', value),
      before && before !== value ? ` ${t('(was %1)', before)}` : ''
    );
  }
  return parts;
}

function stepText(item: StepItem): Child[] {
  const { call } = item;
  if (call.status === 'failed' && call.error) return [oneLine(call.error, 200), call.what && ' · ', ...argumentParts(item, 200)];
  const result = call.status === 'failed' ? '' : shortLine(item.made || call.result, RESULT);
  const name = item.pending || !item.made ? result : h('b', {}, result);
  // Long arguments are cut, and not what came of them; the arrow stands with that.
  const what = argumentParts(item, result ? Math.max(24, LINES - result.length) : 200);
  const arrow = call.what ? ' →\u00a0' : item.made ? '→ ' : '';
  const byRule = call.by_rule && (call.status === 'rejected'
    ? t("rejected by rule '%1'", oneLine(call.by_rule, 80))
    : t("ran by rule '%1'", oneLine(call.by_rule, 80)));
  // The rest of a long line is cut off.
  if (byRule) return [byRule, ...(result ? [' → ', name] : []), call.what && ' · ', ...what];
  const asked = call.why && !needsDecision(call) && ` · ${t('asked you: %1', oneLine(call.why, 120))}`;
  const who = item.who && ` · ${t('decided by %1', oneLine(item.who, 40))}`;
  return [call.by && `${oneLine(call.by, 40)}: `, ...what, ...(result ? [arrow, name] : []), asked, who];
}

/** Shows and hides the calls that the rule of a call decided after it. */
function foldButton({ call, following = 0 }: StepItem, isOpen: boolean, toggle: (call: CallRow) => void): HTMLElement {
  const text = isOpen ? t('Hide them') : t('%1 more by this rule', following);
  const onclick = (event: Event): void => {
    consume(event);
    toggle(call);
  };
  return h('button', { class: 'tc-btn small', key: `fold ${call.id}`, 'aria-expanded': String(isOpen), onclick }, text);
}

function stepElement(item: StepItem, open: (call: CallRow) => void, fold: HTMLElement | null = null): HTMLElement {
  const { call } = item;
  const lines = [call.changes_nothing ? '' : call.change, call.reason && t('Reason: %1', call.reason)].filter(Boolean);
  return h(
    'li', { class: `tc-step ${call.status}`, 'data-n': call.step, hidden: item.folded ?? false, onclick: () => open(call) },
    icon(stepIcon(call)), h('button', { class: 'tool', key: `step ${call.id}` }, oneLine(call.tool, 120)),
    h('span', { class: 'what', title: joined(' → ', call.what, call.result) }, spokenStatus(call) ? screenReaderText(spokenStatus(call)) : null, ...stepText(item)),
    lines.length ? h('span', { class: 'change', title: lines.join('\n') }, ...lines.map(line => h('span', {}, shortLine(line, 160)))) : null,
    h('span', { class: 'end', title: warningText(call) }, fold, call.edited && stepIcon(call) !== 'edited' ? icon('edited') : null, joined(', ', call.changes_nothing ? call.change : '', endText(call)))
  );
}

/** The items of calls, each with the names of the objects that it made. */
function stepItems({ model, objects }: ViewState, calls: readonly CallRow[]): StepItem[] {
  const lists = objectsByCall(objects);
  const hasSeveral = new Set(calls.map(call => call.who).filter(Boolean)).size > 1;
  return calls.map(call => {
    const object = model.objects.get(call.object);
    const names = lists.get(call.id)?.map(({ name }) => name) ?? (object ? [object.name] : []);
    const made = names.length > 4 ? t('%1 and %2 more', names.slice(0, 3).join(', '), names.length - 3) : names.join(', ');
    return { call, made, pending: object?.role === 'pending', tool: model.tools.get(call.tool), who: hasSeveral ? call.who : '' };
  });
}

/** The last calls, the newest first: they stand in the place of the card while rules decide and nothing waits. */
export function lastSteps(view: ViewState, acts: PanelActions): Child[] {
  const items = stepItems(view, view.calls.slice(-MOST_LAST)).reverse();
  const earlier = view.calls.length - items.length;
  return [
    h('ol', { class: 'tc-steps tc-last', label: t('Last calls') }, ...items.map(item => stepElement(item, acts.showCard))),
    earlier
      ? h(
          'p', 'tc-row small muted', tn('%1 earlier call', '%1 earlier calls', earlier),
          button(t('Show'), { look: 'small', onclick: () => acts.setState({ tab: 'Steps' }) })
        )
      : null,
    h('p', 'small muted', t('Nothing waits for you. When a call does, it is shown here.'))
  ];
}

const MOST_LAST = 6;
const MOST_LISTED = 1000;
const STEP_BLOCK = 100;

/** The range of a list that is shown: all, or of a very long one the part around the chosen item. */
export function shownPart(length: number, chosen: number): readonly [number, number] {
  if (length <= MOST_LISTED) return [0, length];
  const middle = Math.floor((chosen < 0 ? length : chosen) / STEP_BLOCK) * STEP_BLOCK;
  return [Math.max(0, middle - 2 * STEP_BLOCK), Math.min(length, middle + 3 * STEP_BLOCK)];
}

function showFolded(element: HTMLElement, number: number, text: string): void {
  element.hidden = number === 0;
  element.textContent = `${text} ${t('To see them, use the graph or Time.')}`;
}

/** The heading and the list. */
export class StepList {
  private readonly _list = h('ol', { class: 'tc-steps', label: t('Steps') });
  private readonly _laterText = h('p', 'tc-later');
  private readonly _emptyText = h('p', 'tc-later', t('No steps yet.'));
  private readonly _selectedText = h('p', 'tc-later');
  private readonly _pane = h('div', 'tc-pane', h('h3', 'tc-h', t('Steps')), this._selectedText, this._list, this._emptyText, this._laterText);
  private readonly _earlierText = h('p', 'tc-later');
  private readonly _furtherText = h('p', 'tc-later');
  private readonly _toolList = new ToolList(this._acts);
  /** The first calls of the runs of a rule that a person has opened. */
  private readonly _opened = new Set<string>();
  private _view!: ViewState;
  private readonly _rows = keyedChildren(this._list, (item: StepItem) =>
    stepElement(item, this._acts.showCard, item.following ? foldButton(item, this._opened.has(item.call.id), call => this._toggle(call)) : null)
  );
  private _current: Element | null = null;
  readonly element: HTMLElement = this._pane;

  constructor(private readonly _acts: PanelActions) {
    this._list.before(this._earlierText);
    this._list.after(this._furtherText);
    this._pane.append(this._toolList.element);
    listen(this._list, 'keydown', event => this._moveByArrow(event));
  }

  paint(view: ViewState): void {
    this._view = view;
    const chosen = view.calls.findIndex(call => call.id === view.chosen.call);
    const [from, to] = shownPart(view.calls.length, chosen);
    this._list.classList.toggle('long', to - from > STEP_BLOCK);
    this._list.classList.toggle('walked', view.isPast);
    const items = foldedByRule(stepItems(view, view.calls.slice(from, to)), view.chosen.call, this._opened);
    const stamp = (item: StepItem): unknown[] =>
      [item.call, item.made, item.pending, item.tool, item.who, item.following, item.folded, this._opened.has(item.call.id)];
    this._rows(items.map(item => ({ key: item.call.id, stamp: stamp(item), item })));
    this._list.style.setProperty('--tc-n', view.lastStep > 999 ? '36px' : '20px');
    this._markCurrent(this._list.children[chosen - from] ?? null);
    showFolded(this._earlierText, from, tn('%1 earlier step is not shown.', '%1 earlier steps are not shown.', from));
    const further = view.calls.length - to;
    showFolded(this._furtherText, further, tn('%1 further step is not shown.', '%1 further steps are not shown.', further));
    const hidden = view.isPast
      ? [...view.model.calls.values()].filter(call => call.branch === '' && call.step > view.step).length
      : 0;
    this._laterText.hidden = hidden === 0;
    const selected = view.model.calls.get(view.chosen.call);
    const branch = oneLine(branchName(view.model, selected?.branch ?? ''), 60);
    this._selectedText.textContent = selected && branch ? t('Selected: call %1 on branch %2', selected.step, branch) : '';
    this._laterText.textContent = tn('%1 later step is hidden', '%1 later steps are hidden', hidden);
    this._emptyText.hidden = view.isPast || view.calls.length > 0;
    this._toolList.paint(view);
  }

  private _toggle({ id }: CallRow): void {
    if (!this._opened.delete(id)) this._opened.add(id);
    this.paint(this._view);
  }

  private _moveByArrow(event: KeyboardEvent): void {
    const step = { ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling' }[event.key] as 'nextElementSibling' | undefined;
    let item: Element | null | undefined = event.target instanceof Element ? event.target.closest('li') : null;
    do item = step && item?.[step];
    while (item instanceof HTMLElement && item.hidden);
    const next = item?.querySelector('button');
    if (!next) return;
    next.focus();
    event.preventDefault();
  }

  private _markCurrent(item: Element | null): void {
    if (item === this._current && item?.hasAttribute('aria-current')) return;
    this._current?.removeAttribute('aria-current');
    item?.setAttribute('aria-current', 'step');
    this._current = item;
    this.showCurrent();
  }

  /** Scrolls to the current step, after it is laid out; not while a person is in the list. */
  showCurrent(): void {
    const item = this._current;
    if (!(item instanceof HTMLElement)) return;
    afterLayout(() => {
      // A list that has become short would keep the fade of the long one.
      this._list.classList.toggle('scrolls', this._list.scrollHeight > this._list.clientHeight);
      if (item === this._current && !this._list.matches(':hover') && !hasFocus(this._list)) scrollIntoList(this._list, item);
    });
  }
}

/** The note beside a tool's name. */
function toolNote(tool: ToolRow, stops: boolean): string {
  if (stops) return t('breakpoint: calls wait');
  if (tool.for_person) return t('a request to you');
  return tool.read_only ? t('read-only') : '';
}

function breakpointButton(tool: ToolRow, stops: boolean, view: ViewState, acts: PanelActions): HTMLElement {
  return h(
    'button',
    {
      class: 'tc-stopat', 'aria-pressed': String(stops), label: t('Breakpoint on %1', oneLine(tool.id, 120)), key: `break ${tool.id}`,
      title: stops ? t('Remove the breakpoint') : t('Wait at every call of this tool'),
      disabled: !view.live || view.isPast || view.ui.commandSent, onclick: () => acts.send({ type: 'break', tool: tool.id, on: !stops })
    },
    icon(stops ? 'wait' : 'ready'), h('span', 'tool', oneLine(tool.id, 120))
  );
}

function toolElement(tool: ToolRow, view: ViewState, acts: PanelActions): HTMLElement {
  const stops = view.model.session.stops.includes(tool.id);
  const note = toolNote(tool, stops);
  return h(
    'li', {}, breakpointButton(tool, stops, view, acts), note ? h('span', 'end', note) : null,
    h('span', { class: 'what', title: textBlock(tool.description.trim(), 2000) }, summaryOf(tool.description))
  );
}

/** `2 tools, 1 breakpoint`; `1 of 2 tools` where the list has not all that the session offers. */
function toolSummary(listed: number, { offered, stops }: SessionRow): string {
  const count = listed < offered ? t('%1 of %2 tools', listed, offered) : plural(listed, 'tool');
  return count + (stops.length ? `, ${plural(stops.length, 'breakpoint')}` : '');
}

/** The folded list of tools. */
class ToolList {
  private readonly _summary = h('summary', {});
  private readonly _list = h('ul', { label: t('Tools') });
  readonly element = h('details', { class: 'tc-toolbox', hidden: true }, this._summary, this._list);
  private _view!: ViewState;
  private readonly _draw = whenChanged(() => {
    const all = [...this._view.model.tools.values()];
    this.element.hidden = all.length === 0;
    this._summary.textContent = toolSummary(all.length, this._view.model.session);
    const children: Child[] = this.element.open ? all.map(tool => toolElement(tool, this._view, this._acts)) : [];
    redraw(this._list, () => setChildren(this._list, children));
  });

  constructor(private readonly _acts: PanelActions) {
    listen(this.element, 'toggle', () => this.paint(this._view));
  }

  paint(next: ViewState): void {
    this._view = next;
    const { model, ui, live, isPast: past } = next;
    this._draw(model.tools, model.session.offered, model.session.stops.join(), this.element.open, live, past, ui.commandSent);
  }
}
