/** The card: facts about the chosen call or object, and the decision on a waiting call. */
import type { CallRow, ObjectRow } from '../generated/contract';
import { BatchTable, similarCalls } from './batch';
import { BudgetCard, isPausedForBudget } from './budget';
import { DecisionPanel, isDecision } from './decisions';
import { changeOf, previewElement, previewOf } from './change';
import { type Child, focusInPlace, h, hasFocus, listen, mutedText, prose, redraw, scrollingText, setChildren, strongText, whenChanged } from './dom';
import { argumentsOf, type Fact, factList, namedObject, objectLine, type Show, toolDescription } from './facts';
import { fullPreview, previewForCall } from './full_preview';
import { icon } from './icons';
import { branchName, callWord, currentBranch, nameText, printsLabel, purpose, savedName, sourceWord, warningText } from './labels';
import { ancestors, descendants, MOST_NAMED } from './lineage';
import { sameCalls } from './model';
import { pathOf } from './origins';
import { decidedByRules } from './rule_list';
import { lastSteps } from './steps';
import { ReplyCard } from './reply_card';
import { GuessCard, GuessResultCard, ScoreCard } from './teaching';
import { clip, oneLine, t, textBlock } from './text';
import type { PanelActions, ViewState } from './view_state';

function errorOf(call: CallRow): Child {
  // The error of a rejected call is the reason, which stands among the facts.
  return call.error && call.status !== 'rejected' ? h('div', 'tc-error', icon('failed'), h('span', {}, textBlock(call.error, 4000))) : null;
}

function printsOf(call: CallRow): Child {
  return call.prints
    ? h('div', 'tc-prints', h('h4', {}, printsLabel(call.prints)), scrollingText(textBlock(call.prints, 20_000)))
    : null;
}

const code = (text: string): HTMLElement => (text.includes('\n') ? scrollingText(textBlock(text)) : h('code', {}, textBlock(text, 400)));

function title(text: string, look: string, aside: string, description: Child = null, error: Child = null): HTMLElement {
  // A long name breaks after `_`.
  const parts = text.split(/(?<=_)/).flatMap(part => [part, h('wbr', {})]);
  const line = h('div', 'tc-title', h('h3', look, ...parts), description, mutedText(aside));
  return error ? h('div', 'tc-titled', line, error) : line;
}

/** The name of the model that a person plays. */
const PERSON = 'person';

/** Notes on an object and on the call that made it, one per line. */
function notesOf(call: CallRow | undefined, note = ''): Fact | null {
  const notes = [note, ...(call?.notes ?? [])].filter(text => text !== '').map(text => textBlock(text, 600));
  return notes.length ? [notes.length > 1 ? t('Notes') : t('Note'), notes.map(note => h('div', {}, note))] : null;
}

const outdated = (why: string): Fact | null => (why ? [t('Outdated'), oneLine(why, 400)] : null);

function callFacts(view: ViewState, call: CallRow): HTMLElement | null {
  const object = view.model.objects.get(call.object);
  const open = isDecision(call);
  return factList([
    call.by
      ? [t('Asked by'), oneLine(call.by)]
      : open && view.model.session.model === PERSON && [t('Asked by'), t('you, as the model; now you decide as the person')],
    open && call.recorded && [t('Recorded result'), code(call.recorded)],
    open && call.why && [t('Why it waits'), prose(textBlock(call.why, 400))],
    !open && object ? [t('Returns'), strongText(oneLine(object.name))] : null,
    !open && call.result ? [t('Result'), code(call.result)] : null,
    sameFact(view, call),
    sourceWord(call) ? [t('From'), call.inherited ? t('the branch that this one left: the tool did not run again') : t('cached result: the tool did not run again')] : null,
    ...decisionFacts(view, call),
    outdated(call.outdated),
    notesOf(call)
  ]);
}

const decisionFacts = ({ model }: ViewState, call: CallRow | undefined): (Fact | null)[] => [
  call?.asked_tool ? [t('In place of'), code(call.asked_tool)] : null,
  call?.reason ? [t('Reason'), textBlock(call.reason)] : null,
  call?.who ? [t('Decided by'), call.who === model.session.person ? t('you') : oneLine(call.who, 40)] : null
];

const warningNote = (call: CallRow): Child =>
  call.warning
    ? h(
        'p', { class: 'tc-note tc-warning', role: 'note', label: t('Warning: %1', t(call.warning.kind)) }, icon('warning'),
        h('span', {}, textBlock(warningText(call), 1200))
      )
    : null;

/** What the model said before a call that waits. */
function modelWords(view: ViewState, call: CallRow): Child {
  const reply = [...view.model.messages.values()].find(message => message.role === 'assistant' && message.turn === call.turn && message.text !== '');
  return reply
    ? h(
        'div', { class: 'tc-quote', tabindex: 0, role: 'group', label: t('What the model said') }, mutedText(t('The model says')),
        h('p', {}, textBlock(reply.text, 2000))
      )
    : null;
}

/** An error of a call without the name of its tool before it, which stands there already. */
const withoutTool = ({ tool, error }: CallRow): string => (error.startsWith(`${tool}: `) ? error.slice(tool.length + 2) : error);

/** What the calls since the last decision changed, which is still to be judged; and how one failed, with a link to its step. */
function lastCalls({ calls }: ViewState, { step }: CallRow, acts: PanelActions): Child[] {
  const before = calls.slice(0, step - 1);
  const since = before.slice(Math.max(0, before.findLastIndex(call => call.who !== '')));
  const [changed, failed] = [since.findLast(call => call.change || call.status === 'rejected'), since.findLast(call => call.status === 'failed')];
  return [
    changed ? h('p', 'small muted', oneLine(`${changed.tool}: ${changed.change || callWord(changed)}`, 110)) : null,
    failed && failed.step > (changed?.step ?? 0)
      ? h(
          'button', { class: 'tc-error', onclick: () => acts.showCard(failed) }, icon('failed'),
          textBlock(`${failed.tool} ${callWord(failed)}: ${withoutTool(failed)}`, 4000)
        )
      : null
  ];
}

/** The card of similar calls of one reply. */
function batchCard(view: ViewState, calls: readonly CallRow[], table: BatchTable): Child[] {
  const first = calls[0];
  if (!first) return [];
  const text = view.model.tools.get(first.tool)?.description ?? '';
  return [
    modelWords(view, first),
    title(oneLine(first.tool, 120), 'mono', t('%1 calls', calls.length), text ? h('p', {}, toolDescription(text)) : null),
    first.budget_calls ? h('p', 'small', oneLine(first.why)) : null,
    ...table.parts(view, calls)
  ];
}

/** What a call changed in an object; the first rows of one in which no cell was changed, such as a new table. */
function contentOf(view: ViewState, call: CallRow | undefined, object: ObjectRow, acts: PanelActions, on: Element): Child[] {
  const [change, parts] = changeOf(view, call, object, acts);
  const isDrawn = change && !view.model.fullPreviews.has(object.id) && (
    !parts || parts.some(part => part.cells.length + part.lines.length + part.images.length)
  );
  return [change, ...(isDrawn ? [fullPreview(view, object, acts, on)[1]] : fullPreview(view, object, acts, on))];
}

function callCard(view: ViewState, call: CallRow, acts: PanelActions, show: Show, on: Element): Child[] {
  const text = purpose(call, view.model.tools.get(call.tool));
  // It is cut after three lines; in a narrow card it is whole while it has the focus.
  const description = text ? h('p', { tabindex: isDecision(call) ? 0 : undefined }, toolDescription(text)) : null;
  const open = isDecision(call);
  // What was saved is what its call is about.
  const object = open ? undefined : view.model.objects.get(call.saves ? (call.uses[0]?.object ?? '') : call.object);
  return [
    ...(open ? lastCalls(view, call, acts) : []),
    open ? modelWords(view, call) : null,
    title(oneLine(call.tool, 120), 'mono', t('call %1', call.step), open ? description : null, errorOf(call)),
    open ? null : description,
    warningNote(call),
    ...(object ? contentOf(view, call, object, acts, on) : []),
    argumentsOf(view, call, open ? show : null, open ? acts : null),
    callFacts(view, call),
    printsOf(call)
  ];
}

/** An object beside the arguments of a waiting call. */
function dataOf(
  view: ViewState, call: CallRow, object: ObjectRow, acts: PanelActions, on: Element, isWhole: boolean, showOther: () => void
): Child[] {
  const { columns, caption } = object.preview;
  // Where it comes from stands at the argument.
  const head = objectLine(object, nameText(object), caption);
  return [head, ...(columns.length ? previewForCall(view, call, object, acts, isWhole, showOther) : fullPreview(view, object, acts, on))];
}

const namesOf = (objects: readonly ObjectRow[]): string => {
  const shown = objects.slice(0, 12).map(object => oneLine(object.name, 60));
  const [names, more] = [shown.join(', '), objects.length - 12];
  if (more < 1) return names;
  return objects.length > MOST_NAMED ? t('%1 and many more', names) : t('%1 and %2 more', names, more);
};

function usedFor(view: ViewState, object: ObjectRow): Child[] | null {
  const after = descendants(view, object.id);
  const outputs = [object, ...after].map(one => savedName(view, one)).filter(Boolean);
  const parts: Child[] = after.length ? [namesOf(after)] : [];
  for (const output of outputs) parts.push(parts.length ? ', ' : '', t('output'), ' ', code(output));
  return parts.length ? parts : null;
}

/** The object of the same name on another branch, if it differs. */
function twinFact(view: ViewState, object: ObjectRow, compare: () => void): Fact | null {
  if (object.branch !== '' || view.model.branches.size < 2) return null;
  const twin = view.objects.find(one => one.name === object.name && one.branch !== '');
  if (!twin) return null;
  const link = h('button', { class: 'tc-link', onclick: compare }, t('Compare'));
  const caption = twin.preview.caption
    ? t('%1 is %2.', oneLine(twin.name), oneLine(twin.preview.caption))
    : t('%1 exists there too.', oneLine(twin.name));
  return [t('In %1', clip(oneLine(branchName(view.model, twin.branch), 40), 10)), [caption, ' ', link]];
}

/** The other branches on which a call, or its object, is the same. */
function sameFact({ model }: ViewState, call: CallRow | undefined): Fact | null {
  const names = sameCalls(model, call?.id ?? '').map(one => oneLine(branchName(model, one.branch), 40));
  return names.length ? [t('The same on'), names.join(', ')] : null;
}

function origin(call: CallRow | undefined): string {
  if (!call) return t('from the notebook');
  return call.status === 'answered'
    ? t('your answer to %1, call %2', call.tool, call.step)
    : t('made by %1, call %2', call.tool, call.step);
}

function objectFacts(view: ViewState, object: ObjectRow, call: CallRow | undefined, acts: PanelActions): HTMLElement | null {
  const before = ancestors(view, object.id);
  const after = usedFor(view, object);
  return factList([
    view.isPast && [t('Objects'), namesOf(view.objects.filter(one => one.branch === '' && one.role !== 'pending'))],
    before.length > 0 && [t('Made from'), namesOf(before)],
    after && [t('Used for'), after],
    object.equals ? [t('Equal to'), t('%1, same content', oneLine(object.equals))] : null,
    sameFact(view, call),
    twinFact(view, object, () => acts.setState({ tab: 'Compare' })),
    object.description ? [t('About'), textBlock(object.description)] : null,
    call?.result ? [t('Result'), code(call.result)] : null,
    ...decisionFacts(view, call),
    outdated(object.outdated || (call?.outdated ?? '')),
    notesOf(call, object.note)
  ]);
}

function objectCard(view: ViewState, object: ObjectRow, call: CallRow | undefined, acts: PanelActions, on: Element): Child[] {
  const current = view.model.branches.size > 1 ? t('branch %1', currentBranch(view.model)?.name ?? '') : '';
  const aside = object.branch
    ? t('branch %1', branchName(view.model, object.branch))
    : current || (object.preview.caption && object.kind);
  return [
    title(nameText(object), '', oneLine(aside, 60), null, call ? errorOf(call) : null),
    objectLine(object, object.preview.caption || object.kind, origin(call)),
    call ? warningNote(call) : null,
    ...contentOf(view, call, object, acts, on),
    call ? argumentsOf(view, call) : null,
    objectFacts(view, object, call, acts),
    call ? printsOf(call) : null
  ];
}

/** The card and its buttons. */
export class Card {
  private readonly _body = h('div', 'tc-cardbody');
  /** The object that a waiting call is about: the one pointed at, else the first of its arguments. */
  readonly data = h('div', 'tc-data');
  private _pointedAt = '';
  /** The table that is shown as a whole beside a waiting call. */
  private _openTable = '';
  private _shownCall = '';
  private _isScrolled = false;
  private readonly _decisionPanel = new DecisionPanel(this._acts);
  private readonly _budget = new BudgetCard(this._acts);
  private readonly _batch = new BatchTable(this._acts);
  private readonly _replyCard = new ReplyCard(this._acts);
  private readonly _guessResult = new GuessResultCard();
  private readonly _guessCard = new GuessCard(this._acts);
  private readonly _scoreCard = new ScoreCard(true);
  private readonly _parts = [
    this._guessResult.element, this._scoreCard.element, this._budget.element, this._body, this.data, this._replyCard.element,
    this._guessCard.element, this._decisionPanel.element, this._decisionPanel.sheet
  ];
  readonly element = h('section', { class: 'tc-card', label: t('Details'), tabindex: -1 }, ...this._parts);
  /** Whether it asks the person for a decision, a reply or a guess. */
  asks = false;
  private _view!: ViewState;
  private readonly _draw = whenChanged(() => {
    const { call } = this._view.chosen;
    // Setting the position forces a layout of the page, and a running session shows a new call in each picture.
    if (call !== this._shownCall && this._isScrolled) this._body.scrollTop = 0;
    this._isScrolled = this._isScrolled && call === this._shownCall;
    this._shownCall = call;
    const content = this._content().filter(Boolean);
    const buttons = this._decisionPanel.element;
    // Those of a call that has ended stand below its title: its table may be higher than the window.
    redraw(this._body, () => setChildren(this._body, this.asks ? content : [content[0], buttons, ...content.slice(1)]));
    if (this.asks && this._body.contains(buttons) || !buttons.parentElement) this._decisionPanel.sheet.before(buttons);
    this._drawData();
  });

  constructor(private readonly _acts: PanelActions) {
    listen(this._body, 'scroll', () => (this._isScrolled = true));
    this._decisionPanel.batchButtons = () => this._batch.buttons(this._view, similarCalls(this._view));
    this._decisionPanel.batchChanges = () => this._batch.changes;
  }

  paint(now: ViewState): void {
    this._view = now;
    const { model, chosen } = now;
    const focus = hasFocus(this.element);
    const call = model.calls.get(chosen.call);
    this.asks = isPausedForBudget(now) || (now.personTurn ?? now.toGuess) !== null || (call !== undefined && !now.isPast && isDecision(call));
    this._draw(
      call, model.objects, model.fullPreviews, model.differences, model.previewed, model.messages,
      this._view.ui.commandSent, model.tools, model.branches, chosen.call, chosen.object, now.step, now.isPast,
      this._view.personTurn !== null, this._view.toGuess !== null, similarCalls(now).length, this._batch.changes,
      now.isRunByRules && now.calls, now.ui.path, this.asks
    );
    for (const part of [this._budget, this._guessResult, this._scoreCard, this._replyCard, this._guessCard]) part.paint(this._view);
    this._decisionPanel.paint(now);
    this.element.classList.toggle('asks', this.asks);
    // Keep the focus in the card when the focused button is removed.
    if (focus && !hasFocus(this.element)) focusInPlace(this.element);
  }

  private _drawData(): void {
    const call = this._view.model.calls.get(this._view.chosen.call);
    if (similarCalls(this._view).length) return setChildren(this.data, []);
    const named = call && isDecision(call)
      ? Object.entries(call.arguments).flatMap(([name, value]) => namedObject(this._view, call, name, value) ?? [])
      : [];
    const object = named.find(one => one.id === this._pointedAt) ?? named[0];
    const isWhole = object?.id === this._openTable;
    const showOther = (): void => {
      this._openTable = isWhole ? '' : (object?.id ?? '');
      this._drawData();
    };
    const path = call ? pathOf(this._view, call, () => this._acts.setState({ path: null })) : [];
    if (path.length) return setChildren(this.data, path);
    const children = call && object ? dataOf(this._view, call, object, this._acts, this.element, isWhole, showOther) : [];
    const preview = call && isDecision(call) ? previewOf(this._view, call) : null;
    const makes = this._view.model.objects.get(call?.object ?? '')?.name;
    const names = [object?.name, makes].flatMap(name => (name ? [oneLine(name, 60)] : []));
    setChildren(this.data, [
      preview && previewElement(preview, names), ...children, call && isDecision(call) ? decidedByRules(this._view, this._acts) : null
    ]);
  }

  private _showObject(object: ObjectRow): void {
    if (this._pointedAt === object.id) return;
    this._pointedAt = object.id;
    this._drawData();
  }

  private _content(): Child[] {
    if (((this._view.personTurn || this._view.toGuess) && this._view.followsNewest) || isPausedForBudget(this._view)) return [];
    const together = similarCalls(this._view);
    if (together.length) return batchCard(this._view, together, this._batch);
    if (this._view.isRunByRules) return lastSteps(this._view, this._acts);
    const call = this._view.model.calls.get(this._view.chosen.call);
    const object = this._view.model.objects.get(this._view.chosen.object);
    const isObject = object && object.role !== 'output' && object.role !== 'pending' && !(call && isDecision(call));
    if (object && isObject) return objectCard(this._view, object, call, this._acts, this.element);
    if (call) return callCard(this._view, call, this._acts, object => this._showObject(object), this.element);
    if (object)
      return [
        title(oneLine(`${object.name}: ${object.kind}`, 120), '', t('output')),
        h('p', {}, oneLine(object.description)),
        mutedText(t('Not saved yet.'))
      ];
    return [h('p', 'muted', t('Choose a call or an object to see its details.'))];
  }
}
