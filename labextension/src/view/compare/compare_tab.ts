/** The tab Compare: two branches side by side, with a header and a summary for each. */
import { type Child, h, joined, mutedText, redraw, screenReaderText, setChildren, whenChanged } from '../dom';
import { countsText } from '../head';
import { button } from '../icons';
import { isBusy, type Model } from '../model';
import { formatDuration, oneLine, plural, t, tn } from '../text';
import type { PanelActions, ViewState } from '../view_state';
import {
  type CallPair, chosenBranches, comparedSides, differsAt, hiddenBranches, idOf, type Side, type SideName, type Sides, visibleBranches
} from './comparison';
import { openFirst, textLines } from './differences';
import { pairRows, rowHead, tableRow } from './pair_rows';

const MOST_ROWS = 200;

function hiddenButton(view: ViewState, acts: PanelActions): Child {
  const gone = hiddenBranches(view.model);
  if (gone.length === 0) return null;
  const open = (): void => acts.setState({ branchList: 'hidden' });
  return button(t('%1 hidden', gone.length), { look: 'ghost right small', key: 'hidden', onclick: open });
}

function oneBranch(view: ViewState, acts: PanelActions): HTMLElement {
  const gone = hiddenBranches(view.model).length > 0;
  return h(
    'div', 'tc-nothing', h('p', 'strong', gone ? t('One branch in view') : t('One branch so far')),
    h('p', 'muted', gone ? t('The others are hidden.') : t('To compare two branches, edit a call that ran or fork from a call.')),
    hiddenButton(view, acts)
  );
}

function headline({ pairs, comparison }: Sides, past: boolean): string {
  const differing = pairs.filter(pair => pair.kind === 'differs').length;
  const count = pairs.filter(pair => pair.kind !== 'later').length;
  if (differing === 0 && count === pairs.length && !past && !comparison?.same) return tn('The same %1 call', 'The same %1 calls', count);
  if (differing === 0) return tn('No difference in %1 call', 'No difference in %1 calls', count);
  return tn('%1 of %2 differs', '%1 of %2 differ', differing, plural(count, 'call'));
}

const refusal = ({ model }: ViewState): string =>
  model.refusal?.command === 'compare' ? oneLine(model.refusal.reason, 200) : '';

function compareBar(view: ViewState, shown: Sides, acts: PanelActions): HTMLElement {
  const swap = (): void => acts.setState({ leftBranch: idOf(shown.right.branch), rightBranch: idOf(shown.left.branch) });
  const refused = refusal(view);
  return h(
    'div', 'tc-row tc-with', h('span', { class: 'strong', role: 'status' }, headline(shown, view.isPast)),
    refused ? mutedText(refused) : null, hiddenButton(view, acts),
    view.ui.showsEqualCalls
      ? button(t('Fold equal calls'), { look: 'ghost right small', key: 'fold', onclick: () => acts.setState({ showsEqualCalls: false }) })
      : null,
    button(t('Swap'), { look: 'ghost right small', key: 'swap', onclick: swap })
  );
}

/** The message while no comparison of the two branches is available. */
function notCompared(view: ViewState): HTMLElement {
  const busy = isBusy(view.model) ? ` ${t('The result appears after this step.')}` : '';
  const absent = t('No comparison is saved. Run the cell to compare the branches.');
  return h('p', 'tc-later', view.live ? refusal(view) || t('Comparing the branches.') + busy : absent);
}

export class CompareTab {
  readonly element = h('div', 'tc-compare');
  private _view!: ViewState;
  /** The comparison requested from the kernel; `seen` once it has arrived. */
  private _requested: { readonly sides: readonly [string, string]; readonly among: Model['branches']; seen: boolean } | null = null;
  private readonly _draw = whenChanged(() => this._replaceContent());

  constructor(private readonly _acts: PanelActions) {}

  paint(next: ViewState): void {
    this._view = next;
    const { model, ui } = next;
    if (ui.tab !== 'Compare') return this._stopComparing();
    const { session } = model;
    this._draw(
      this._requested, model.calls, model.objects, model.branches, model.comparisons, model.differences, model.refusal, session.phase,
      session.text, ui.leftBranch, ui.rightBranch, ui.showsEqualCalls, next.step, next.isPast, next.live, next.chosen.call,
      next.chosen.object
    );
  }

  private _stopComparing(): void {
    if (this._requested && this._view.live) this._acts.request({
      type: 'compare', left: this._requested.sides[0], right: this._requested.sides[1], on: false
    });
    this._requested = null;
  }

  /** Requests the shown comparison once; again if it was dropped, or if all rows were sent again. */
  private _requestComparison(isKnown: boolean): void {
    if (!this._view.live || this._view.isPast) return;
    if (isKnown) {
      if (this._requested) this._requested.seen = true;
      return;
    }
    const [left, right] = chosenBranches(this._view) ?? ['', ''];
    const { branches } = this._view.model;
    const same = this._requested?.sides[0] === left && this._requested.sides[1] === right;
    if (same && this._requested?.among === branches && !this._requested.seen) return;
    if (!same) this._stopComparing();
    this._requested = { sides: [left, right], among: branches, seen: false };
    this._acts.request({ type: 'compare', left, right });
  }

  private _content(): Child[] {
    if (visibleBranches(this._view.model).length < 2) return [oneBranch(this._view, this._acts)];
    const shown = comparedSides(this._view);
    // Swapped, a sum has the other sign: a kernel compares anew.
    this._requestComparison(shown?.comparison != null && shown.left.at === 'left');
    if (!shown) return [notCompared(this._view)];
    const names = t('%1 and %2', oneLine(shown.left.branch.name, 60), oneLine(shown.right.branch.name, 60));
    const grid = (...rows: Child[]): HTMLElement =>
      h('div', { class: 'tc-cmp', role: 'table', label: t('Comparison of %1', names) }, columnHeader(this._view, shown, this._acts), ...rows);
    if (!shown.comparison) return [grid(), notCompared(this._view)];
    const { left, right } = shown;
    const [one, other] = left.at === 'left' ? [left, right] : [right, left];
    const branches = { left: one.branch.name, right: other.branch.name };
    const rows = pairRows(shown.pairs, { view: this._view, acts: this._acts, order: [left.at, right.at], names: branches }, MOST_ROWS);
    openFirst(rows);
    const speaks = this._view.model.session.phase === 'thinking';
    const more = rows.length >= MOST_ROWS ? h('p', 'tc-later', t('The first %1 rows are shown.', MOST_ROWS)) : null;
    return [compareBar(this._view, shown, this._acts), grid(...rows, replyTexts(shown, speaks), columnFooter(shown, this._view.isPast)), more];
  }

  /** Replaces the content and restores the keyboard focus. */
  private _replaceContent(): void {
    redraw(this.element, () => setChildren(this.element, this._content()));
  }
}

function picker(view: ViewState, shown: Sides, where: SideName, acts: PanelActions): HTMLElement {
  const label = where === 'left' ? t('Left branch') : t('Right branch');
  const { left, right } = shown;
  const select = h('select', {
    class: 'tc-in',
    label: label,
    key: where,
    onchange: () => acts.setState(where === 'left'
      ? { leftBranch: select.value, rightBranch: idOf(right.branch) }
      : { leftBranch: idOf(left.branch), rightBranch: select.value })
  });
  for (const branch of visibleBranches(view.model)) {
    const option = h('option', { selected: branch === shown[where].branch }, oneLine(branch.name, 60));
    option.value = idOf(branch);
    select.append(option);
  }
  return select;
}

/** Which calls of this branch the person edited, those before the fork too. */
function editedText(pairs: readonly CallPair[], where: SideName): string {
  const steps = pairs.flatMap(pair => (pair[where]?.edited ? pair[where].step : []));
  return steps.length ? t('edited at call %1', steps.join(', ')) : t('not edited');
}

function columnHeader(view: ViewState, shown: Sides, acts: PanelActions): HTMLElement {
  const cell = (where: SideName): HTMLElement =>
    h(
      'div', { role: 'columnheader', class: where === 'right' ? 'hd b' : 'hd' }, picker(view, shown, where, acts),
      shown.comparison ? mutedText(editedText(shown.pairs, shown[where].at)) : null
    );
  return tableRow(h('span', { role: 'columnheader', class: 'hd' }, screenReaderText(t('Call'))), cell('left'), cell('right'));
}

/** Calls, tokens, cost and time of a branch; at an earlier step counted from its calls. */
function costText(side: Side, past: boolean): string {
  const { branch, calls } = side;
  const counted = past || branch.ran + branch.remembered + branch.inherited === 0;
  const ended = calls.filter(call => call.status === 'succeeded' || call.status === 'failed');
  const ran = ended.filter(call => !call.memory);
  const inherited = ended.filter(call => call.inherited).length;
  const time = formatDuration(counted ? ran.reduce((sum, call) => sum + call.ms, 0) : branch.ms);
  const used = past ? [] : [branch.tokens && plural(branch.tokens, 'token'), branch.cost];
  const counts = counted ? { ran: ran.length, remembered: ended.length - ran.length - inherited, inherited } : branch;
  return joined(' · ', countsText(counts), ...used, time && t('%1 in tools', time));
}

function columnFooter({ left, right }: Sides, past: boolean): HTMLElement {
  return tableRow(
    rowHead('', screenReaderText(t('Totals'))),
    h('div', { role: 'cell', class: 'small muted' }, costText(left, past)),
    h('div', { role: 'cell', class: 'b small muted' }, costText(right, past))
  );
}

/** The reply texts of both branches, if they differ and are complete. */
function replyTexts({ left, right, comparison }: Sides, speaks: boolean): HTMLElement | null {
  const change = comparison?.text;
  if (!change || speaks || !left.text || !right.text) return null;
  const cell = (mine: Side, look: string): HTMLElement =>
    h(
      'div', { role: 'cell', class: `${look}diff` }, h('div', 'muted small', t('reply text')),
      textLines(mine.text, differsAt(change, mine.at))
    );
  return tableRow(rowHead('', screenReaderText(t('Reply text, differs'))), cell(left, ''), cell(right, 'b '));
}
