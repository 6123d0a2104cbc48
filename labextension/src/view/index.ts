/**
 * The panel, for every host: rows in, elements out. Nothing here or below imports Jupyter.
 *
 * `PanelView` keeps the model (updated by notices) and the person's choices; each part draws the
 * resulting state, and changes only what differs.
 */
import { type CallRow, type Command, Notice } from '../generated/contract';
import { BranchList } from './branch_list';
import { Card } from './card';
import { CompareTab } from './compare/compare_tab';
import { isDecision } from './decisions';
import { CallDialog, EditDialog } from './dialogs';
import { afterLayout, consume, focusedKey, focusInPlace, h, hasFocus, isField, listen } from './dom';
import type { Dialog } from './fields';
import { ReplyText, TimeSlider } from './footer';
import { Graph } from './graph';
import { finished } from './incremental';
import { Announcer, download, type ExportFormat, fileName, isExportFormat, PanelHead, takeStep } from './head';
import { MessagesTab } from './messages/messages_tab';
import { drawsInSlices, EMPTY_MODEL, isBusy, isLarge, type Model, readNotice } from './model';
import { RuleList } from './rule_list';
import { StepList } from './steps';
import { TabBar } from './tabs';
import { ExerciseBar, ScoreCard } from './teaching';
import { t } from './text';
import { choiceOf, firstWaiting, INITIAL_STATE, type PanelActions, type PanelState, shownCall, type Tab, viewState, type ViewState } from './view_state';

export interface Host {
  /** Sends a command to the kernel; a host without a kernel has none. */
  send?(command: Command): void;
  live: boolean;
  /** A host without a kernel takes guesses: it has the recording. */
  takesGuesses?: boolean;
  /** The view is in a side panel: narrow and tall. */
  side?: boolean;
  /** The session was read from a file and not published by a kernel of this page. */
  saved?: boolean;
  /** In a view without a kernel: where the session can continue. */
  copyText?: string;
  /** The host makes the announcements for screen readers. */
  speaks?: boolean;
  /** Asks the person whether to approve all these calls; without it no question is asked. */
  confirm?(calls: readonly CallRow[]): Promise<boolean>;
}

/** Actions of keyboard shortcuts, as the buttons of the same names. */
export type ShortcutAction = 'approve' | 'reject' | 'edit' | 'step' | 'step-back' | 'focus';

/** Commands that move the session: the call that comes next is shown, and none that was chosen before. */
const MOVES: readonly string[] = ['step', 'replay', 'fork', 'ask'];

/** Milliseconds between two redraws while the session runs. */
const FRAME_MS = 80;
/** Milliseconds for which a press may last before the panel is redrawn all the same. */
const PRESS_MS = 500;

/** Pixels that a notebook's own bars take above and below the cells. */
const CHROME = 130;
/** Pixels around a dialog. */
const DIALOG_GAP = 8;
/** The graph's share of the window while a decision waits, and its height at least. */
const [GRAPH_SHARE, LOWEST_GRAPH] = [0.35, 120];

/** Milliseconds for which rows are read or drawn before the page can do something else. */
const SLICE_MS = 30;

/** The result of work that is done in slices, between which the page can do other things; undefined if it is given up. */
async function inSlices<T>(work: Generator<void, T>, goesOn: () => boolean): Promise<T | undefined> {
  for (;;) {
    await new Promise(resume => setTimeout(resume));
    const end = performance.now() + SLICE_MS;
    do {
      if (!goesOn()) return undefined;
      const { done, value } = work.next();
      if (done) return value;
    } while (performance.now() < end);
  }
}

/** Shift+Enter runs the notebook's cell, wherever in its panel the person clicked. */
const runsCell = (event: KeyboardEvent): boolean => event.shiftKey && event.key === 'Enter' && !isField(event.target);

/** Whether a key belongs to the panel that has the focus, and not to the notebook around it. */
const isPanelKey = (event: KeyboardEvent): boolean => !event.ctrlKey && !event.metaKey && !event.altKey && !runsCell(event);

/** The turn that the person replies to, or whose reply they guess. */
function turnToAnswer({ session, teaching }: Model): string | undefined {
  const turn = session.yours ?? teaching.turn;
  return turn ? `turn ${turn.turn}` : undefined;
}

/** The id of the waiting call or turn; undefined if nothing waits. */
const waitingSubject = (model: Model): string | undefined =>
  firstWaiting(model)?.id ?? turnToAnswer(model);

/** The panel inside `el`; `known` is the model that the host already has. */
export class PanelView {
  private _model: Model = { ...this._known, refusal: null };
  private _lastRefusal = this._known.refusal;
  /** The notices that came while a large one is read; null if none is. */
  private _notRead: Notice[] | null = null;
  /** How often the panel was drawn. */
  private _round = 0;
  private _ui = INITIAL_STATE;
  private _isPainting = false;
  private _paintedAt = 0;
  /** Until then a press is under way: a redraw could remove its element, and the click would be lost. */
  private _pressedUntil = 0;
  /** The card stands above the tabs: the session runs, and has asked the person. */
  private _isDeciding = false;
  /** The height of the card at the last decision, in pixels. */
  private _cardHeight = 0;
  /** The height that was left for the graph beside a call that waits, in pixels. */
  private _graphHeight = LOWEST_GRAPH;
  private _paintTimer: ReturnType<typeof setTimeout> | undefined;
  /** Formats requested in this view: exports arrive at all views of a session. */
  private readonly _requestedExports = new Set<ExportFormat>();
  /** The button with which the last step was taken, by its `data-k`: it has the focus again when it can be pressed again. */
  private _stepButton = '';
  /** The open dialog, what scrolls around the panel, and what had the focus. */
  private _dialog: Readonly<{ view: Dialog; veil: HTMLElement; scroller: Element | null; back: Element | null }> | null = null;
  private readonly _acts: PanelActions = {
    setState: patch => this._setState(patch),
    send: (...commands) => this._sendConfirmed(commands),
    request: command => this._host.send?.(command),
    exportAs: format => this._exportAs(format),
    showCard: call => {
      this._setState({ chosen: choiceOf(call), form: null });
      this._card.element.scrollIntoView({ block: 'nearest' });
    },
    openEditDialog: call => {
      // The form names the calls after this one, which an earlier step hides.
      if (this._ui.pastStep !== null) this._setState({ pastStep: null, chosen: choiceOf(call) });
      this._openDialog(new EditDialog(this._state(), call, this._acts, () => this._closeDialog()));
    },
    openCallDialog: (tool, text) => this._openDialog(new CallDialog(this._state(), tool, text, this._acts, () => this._closeDialog()))
  };
  private readonly _branchList = new BranchList(this._acts);
  private readonly _graph = new Graph(this._acts);
  private readonly _tabBar = new TabBar(this._acts, [this._graph.tools, this._branchList.element]);
  private readonly _head = new PanelHead(this._acts, this._host.saved ?? false, this._host.copyText ?? '');
  private readonly _exercise = new ExerciseBar(this._acts);
  private readonly _announcer = new Announcer(this._host.speaks ?? false);
  private readonly _steps = new StepList(this._acts);
  private readonly _card = new Card(this._acts);
  private readonly _rules = new RuleList(this._acts);
  private readonly _scoreCard = new ScoreCard(false);
  private readonly _messagesTab = new MessagesTab(this._acts);
  private readonly _compareTab = new CompareTab(this._acts);
  private readonly _replyText = new ReplyText();
  private readonly _timeSlider = new TimeSlider(this._acts);
  /** What the person holds while it is drawn, the slider, is drawn first. */
  private readonly _parts = [
    this._timeSlider, this._branchList, this._tabBar, this._head, this._exercise, this._announcer, this._steps, this._card, this._rules,
    this._scoreCard, this._messagesTab, this._compareTab, this._replyText
  ];
  private readonly _panels = Object.values(this._tabBar.panels);
  private readonly _page = h(
    'div', 'tc-page', this._head.element, ...this._head.bars, this._exercise.element, this._tabBar.element, this._timeSlider.element,
    ...this._panels, this._replyText.element
  );
  private readonly _errorText = h('p', { class: 'tc-error tc-unreadable', hidden: true });
  private readonly _root = h(
    'div',
    // A click anywhere in the panel gives it the focus.
    { class: this._host.side ? 'tc side' : 'tc', role: 'region', label: t('Tool calls'), tabindex: -1 },
    this._page, this._errorText, this._announcer.element
  );
  private readonly _shell = h('div', 'tc-shell', this._root);
  /**
   * Keeps the shortcuts of the notebook off the panel's own keys. JupyterLab reads a key after the panel; Notebook 7 reads it
   * before, and leaves out only elements with Lumino's attribute. It is set for this key alone: keys such as Ctrl+S stay the notebook's.
   */
  private readonly _suppressShortcuts = (event: KeyboardEvent): void => {
    const target = event.target as Element;
    if (!this._root.contains(target)) return;
    target.toggleAttribute('data-lm-suppress-shortcuts', isPanelKey(event));
    const form = event.key === 'Enter' && (event.ctrlKey || event.metaKey) ? target.closest('form') : null;
    if (!form) return;
    // It sends the form, and does not run the cell.
    consume(event);
    form.requestSubmit();
  };
  /** Fits the graph to the width of the panel, and while the person decides to the height of the window. */
  private readonly _resizeObserver = new ResizeObserver(() => {
    this._graph.resize();
    this._measure();
  });
  private readonly _dialogObserver = new ResizeObserver(() => this._placeDialog());

  constructor(private readonly _el: HTMLElement, private readonly _host: Host, private readonly _known = EMPTY_MODEL) {
    this._tabBar.panels.Graph.append(this._scoreCard.element);
    this._tabBar.panels.Messages.append(this._messagesTab.element);
    this._tabBar.panels.Compare.append(this._compareTab.element);
    listen(this._root, 'keydown', event => {
      if (!isPanelKey(event)) return;
      event.stopPropagation();
      if (this._dialog || event.repeat || isField(event.target)) return;
      const decision = this._card.element.querySelector<HTMLButtonElement>(`[data-key="${CSS.escape(event.key.toUpperCase())}"]`);
      decision?.click();
      if (decision || (this._ui.tab === 'Graph' && this._graph.handleKey(event))) event.preventDefault();
    });
    listen(this._root, 'pointerdown', () => (this._pressedUntil = performance.now() + PRESS_MS));
    listen(this._root, 'pointerup', () => (this._pressedUntil = 0));
    addEventListener('keydown', this._suppressShortcuts, true);
    this._el.append(this._shell);
    this._resizeObserver.observe(this._graph.element);
    this._resizeObserver.observe(document.documentElement);
    this._paint();
  }

  /** Whether the model or a tool is at work. */
  get isBusy(): boolean {
    return isBusy(this._model);
  }

  /** Applies what arrived, if it is a notice; `folded` is the resulting model, if the host keeps one. A large notice is read slice by slice. */
  update(message: unknown, folded?: Model): void {
    const notice = Notice.read(message);
    if (!notice) return;
    if (this._notRead) this._notRead.push(notice);
    else if (folded || !isLarge(notice)) this._apply(notice, folded ?? finished(readNotice(this._model, notice)));
    else void this._readLarge(notice);
  }

  private async _readLarge(notice: Notice): Promise<void> {
    const later = (this._notRead = [] as Notice[]);
    this._paint();
    const model = await inSlices(readNotice(this._model, notice), () => this._notRead === later);
    if (!model) return;
    this._notRead = null;
    this._apply(notice, model);
    for (const one of later) this.update(one);
  }

  private _apply(notice: Notice, folded: Model): void {
    this._saveExport(notice);
    const wasSent = this._ui.commandSent;
    const before = waitingSubject(this._model);
    const whole = !this._model.missedUpdate;
    const { refusal: refused } = this._model;
    // A refusal counts only once.
    this._model = folded.refusal === this._lastRefusal ? { ...folded, refusal: refused } : folded;
    this._lastRefusal = folded.refusal;
    if (this._model.missedUpdate && whole) this._host.send?.({ type: 'hello' });
    const waiting = waitingSubject(this._model);
    // After a rule was added, the card follows the calls that it runs.
    const isNewSubject = (waiting !== undefined || this._ui.ruleAdded) && waiting !== before && this._ui.pastStep === null;
    const refusal = this._model.refusal !== refused;
    // A refusal is shown until the next command, until something else waits, or until a cell has run.
    if (!refusal && waiting !== before) this._model = { ...this._model, refusal: null };
    // What an edited call made is shown, in place of what was chosen.
    const isEdited = wasSent && this._ui.editedCall !== '' && !refusal;
    this._ui = { ...this._ui, commandSent: false, ...(isEdited || (isNewSubject && !this._dialog) ? { chosen: null, form: null } : {}) };
    if (refusal && this._model.refusal) {
      this._dialog?.view.setBusy(false);
      this._dialog?.view.refuse(this._model.refusal.reason, this._model.refusal.fields);
    } else if (wasSent) this._closeDialog(true);
    this._paintSoon(notice);
  }

  act(what: ShortcutAction): void {
    const { live, waitingCall: waiting, isPast: past } = this._state();
    if (what === 'step' || what === 'step-back') return takeStep(this._state(), this._acts, what === 'step' ? 1 : -1);
    const sees = !past && (this._ui.tab === 'Graph' || this._ui.tab === 'Steps') && this._state().chosen.call === waiting?.id;
    if (!sees || what === 'focus') this._showWaiting({ chosen: null, form: null });
    if (what === 'focus' || !sees) this._card.element.focus();
    else if (live && waiting) this._decide(what, waiting);
  }

  dispose(): void {
    this._notRead = null;
    this._round++;
    clearTimeout(this._paintTimer);
    removeEventListener('keydown', this._suppressShortcuts, true);
    this._resizeObserver.disconnect();
    this._dialogObserver.disconnect();
    this._shell.remove();
  }

  private _state(): ViewState {
    return viewState(this._model, this._ui, this._host.live && this._host.send !== undefined, this._host.takesGuesses, this._isDeciding);
  }

  private _setState(patch: Partial<PanelState>): void {
    // Who chooses a call sees its turn, and not the one chosen before.
    this._ui = { ...this._ui, ...('chosen' in patch ? { shownTurn: null } : {}), ...patch };
    // What was refused was asked of the call that was shown.
    if ('chosen' in patch) this._model = { ...this._model, refusal: null };
    this._paint();
  }

  private _exportAs(format: ExportFormat): void {
    this._requestedExports.add(format);
    this._host.send?.({ type: 'export', to: format });
  }

  /** Sends a command; the host may ask the person first whether to approve all calls. */
  private _sendConfirmed(commands: readonly Command[]): void {
    if (commands.at(-1)?.type !== 'approve_all' || !this._host.confirm) return this._send(commands);
    const { turn } = this._model.calls.get(firstWaiting(this._model)?.id ?? '') ?? { turn: -1 };
    const calls = [...this._model.calls.values()].filter(call => isDecision(call) && call.turn === turn);
    void this._host.confirm(calls).then(yes => yes && this._send(commands));
  }

  private _send(commands: readonly Command[]): void {
    const command = commands.at(-1);
    if (!command || (this._ui.commandSent && command.type !== 'stop')) return;
    const moves = MOVES.includes(command.type);
    this._ui = {
      ...this._ui, ...(moves ? { pastStep: null, chosen: null, form: null } : {}), commandSent: command.type !== 'stop',
      ruleAdded: command.type === 'add_rule', moved: moves ? command.type : '', editedCall: command.type === 'edit' || command.type === 'retry' ? command.call : ''
    };
    this._model = { ...this._model, refusal: null };
    if (command.type === 'step') this._stepButton = focusedKey(this._root) ?? '';
    this._graph.release();
    for (const one of commands) this._host.send?.(one);
    this._dialog?.view.setBusy(this._ui.commandSent);
    this._paint();
    // What comes next stands below the head; the card of the next call is lower than that of a reply.
    if (moves || command.type === 'say' || command.type === 'draft') this._head.element.scrollIntoView({ block: 'nearest' });
  }

  /** Moves the card above the tabs while the person decides, and the steps to the open tab. */
  private _moveStepsAndCard(to: Tab): void {
    const panel = this._tabBar.panels[to];
    const hasSteps = to === 'Graph' || to === 'Steps';
    if (to === 'Graph' && this._graph.element.parentElement !== panel) panel.prepend(this._graph.element);
    if (hasSteps && this._steps.element.parentElement !== panel) {
      panel.append(this._steps.element);
      this._steps.showCurrent();
    }
    if (hasSteps && this._rules.element.parentElement !== panel) panel.append(this._rules.element);
    this._card.element.hidden = this._ui.showsRules && !this._isDeciding;
    const place = this._isDeciding ? this._page : panel;
    if (this._card.element.parentElement === place || !(this._isDeciding || hasSteps)) return;
    const focus = hasFocus(this._card.element);
    if (this._isDeciding) this._tabBar.element.before(this._card.element);
    else panel.append(this._card.element);
    this._page.classList.toggle('deciding', this._isDeciding);
    if (focus) focusInPlace(this._card.element);
  }

  /** Whether the card stands above the tabs: from the first question to the end of the run. */
  private _decides(view: ViewState): boolean {
    const asks = (view.waitingCall ?? view.personTurn ?? view.toGuess ?? view.model.session.budget) !== null;
    return view.takesGuesses && !view.isPast && (asks || (this._isDeciding && isBusy(view.model)));
  }

  /** Whether the graph shares the window with a call that waits. In a saved copy nobody decides, and the card is below the graph. */
  private _hasLowGraph(): boolean {
    return this._isDeciding || this._card.asks;
  }

  /** Reads the heights of the card that asks, and of what is left for the graph, after they are laid out; draws again if the latter changed. */
  private _measure(): void {
    if (!this._hasLowGraph()) return;
    if (this._card.asks) this._cardHeight = this._card.element.offsetHeight;
    const above = this._graph.canvasTop() - this._root.getBoundingClientRect().top;
    const { clientHeight } = document.documentElement;
    const height = Math.round(Math.max(LOWEST_GRAPH, Math.min(GRAPH_SHARE * clientHeight, clientHeight - CHROME - above)));
    // What a form takes is not taken from the graph: it would be drawn in another size.
    if (height === this._graphHeight || this._ui.tab !== 'Graph' || this._ui.form) return;
    this._graphHeight = height;
    this._paint();
  }

  private *_drawing(view: ViewState): Generator<void, void> {
    for (const part of this._parts) {
      part.paint(view);
      yield;
    }
    // Between two decisions the card keeps its height, so that nothing below it moves.
    this._card.element.style.minHeight = this._isDeciding && !this._card.asks ? `${this._cardHeight}px` : '';
    const isLow = this._hasLowGraph();
    if (isLow) afterLayout(() => this._measure());
    if (view.ui.tab === 'Graph') yield* this._graph.painting(view, isLow ? this._graphHeight : undefined);
    this._returnFocus();
  }

  /** Gives the focus back to the button of the last step; not if the person is elsewhere by now. */
  private _returnFocus(): void {
    if (!this._stepButton || this._ui.commandSent || isBusy(this._model)) return;
    const button = this._root.querySelector<HTMLElement>(`[data-k="${CSS.escape(this._stepButton)}"]`);
    if (document.activeElement === document.body || hasFocus(this._card.element)) focusInPlace(button);
    this._stepButton = '';
  }

  private _draw(view: ViewState): void {
    this._root.dataset.phase = view.isPast ? 'past' : view.model.session.phase;
    const wasDeciding = this._isDeciding;
    this._isDeciding = this._decides(view);
    // The card moves to the other side of the graph: what waits now, or came of the run, stands above both.
    if (wasDeciding !== this._isDeciding && hasFocus(this._root)) afterLayout(() => this._head.element.scrollIntoView({ block: 'nearest' }));
    this._moveStepsAndCard(view.ui.tab);
    this._dialog?.view.paint?.(view);
    const round = this._round;
    if (drawsInSlices(this._model)) void inSlices(this._drawing(view), () => round === this._round);
    else finished(this._drawing(view));
  }

  private _paint(): void {
    if (this._isPainting) return;
    clearTimeout(this._paintTimer);
    this._paintTimer = undefined;
    this._isPainting = true;
    this._round++;
    try {
      const isReading = this._notRead !== null && this._model.objects.size === 0;
      const says = isReading ? t('Reading the session.') : this._model.unreadable;
      this._page.hidden = says !== '';
      this._errorText.hidden = says === '';
      this._errorText.classList.toggle('tc-error', !isReading);
      this._errorText.textContent = says;
      if (!this._page.hidden) this._draw(this._state());
    } finally {
      this._isPainting = false;
      this._paintedAt = performance.now();
    }
  }

  /** Redraws at once if the person waits, else at most once per `FRAME_MS`; not while a mouse button is down. */
  private _paintSoon(notice: Notice): void {
    const bursts = notice.type === 'delta' && isBusy(this._model);
    const delay = Math.max(this._pressedUntil, bursts ? this._paintedAt + FRAME_MS : 0) - performance.now();
    if (delay <= 0) return this._paint();
    this._paintTimer ??= setTimeout(() => {
      this._paintTimer = undefined;
      this._paintSoon(notice);
    }, delay);
  }

  /** Closes the dialog; the focus goes back to the button that opened it. Where that is gone and the call was `sent`, it goes to the card. */
  private _closeDialog(sent = false): void {
    if (!this._dialog) return;
    const { veil, back } = this._dialog;
    this._dialog = null;
    this._dialogObserver.disconnect();
    veil.remove();
    this._page.inert = false;
    this._root.style.minHeight = '';
    const key = CSS.escape(back?.getAttribute('data-k') ?? '');
    const heir = back?.isConnected ? back : sent ? null : this._root.querySelector(`[data-k="${key}"]`);
    focusInPlace(heir instanceof HTMLElement ? heir : this._card.element);
  }

  private _openDialog(view: Dialog): void {
    this._closeDialog();
    const veil = h('div', 'tc-veil', view.element);
    this._root.append(veil);
    this._page.inert = true;
    // In a panel as high as the window, what cuts it is what scrolls.
    this._root.style.minHeight = '100vh';
    let scroller: Element | null = this._shell;
    const scrolls = (one: Element): boolean => one.scrollHeight > one.clientHeight && /auto|scroll/.test(getComputedStyle(one).overflowY);
    while (scroller && !scrolls(scroller)) scroller = scroller.parentElement;
    this._dialog = { view, veil, scroller, back: document.activeElement };
    this._placeDialog();
    for (const one of [view.element, scroller]) if (one) this._dialogObserver.observe(one);
    view.focus();
  }

  /** Places the dialog in the part of the panel that is seen, below the table of the call or beside it; it keeps its top as it grows. */
  private _placeDialog(): void {
    if (!this._dialog) return;
    const { scroller, veil: { style }, view: { element: box } } = this._dialog;
    const { top } = this._root.getBoundingClientRect();
    const seen = scroller?.getBoundingClientRect() ?? { top: 0, height: document.documentElement.clientHeight };
    box.style.maxHeight = `${seen.height - 2 * DIALOG_GAP}px`;
    if (!style.getPropertyValue('--tc-seen')) style.setProperty('--tc-seen', `${Math.max(0, seen.top - top) + DIALOG_GAP}px`);
    style.setProperty('--tc-below', `${this._card.data.getBoundingClientRect().bottom - top}px`);
    this._root.style.minHeight = `${box.offsetTop + box.offsetHeight + DIALOG_GAP}px`;
    box.scrollIntoView({ block: 'nearest' });
  }

  /** Saves an export that was requested in this view. */
  private _saveExport(notice: Notice): void {
    if (notice.type === 'refused' && notice.command === 'export') this._requestedExports.clear();
    if (notice.type !== 'exported' || !isExportFormat(notice.to) || !this._requestedExports.delete(notice.to)) return;
    download(fileName(notice.name, notice.to), notice.to, notice.text);
  }

  /** Shows the card, in a tab that has one. */
  private _showWaiting(patch: Partial<PanelState>): void {
    const tab = this._ui.tab === 'Graph' || this._ui.tab === 'Steps' ? this._ui.tab : 'Graph';
    this._acts.setState({ tab, pastStep: null, ...patch });
  }

  private _decide(what: ShortcutAction, call: CallRow): void {
    const answers = this._model.tools.get(call.tool)?.for_person ?? false;
    if (what === 'approve' && call.may_have_run) this._showWaiting({ chosen: choiceOf(call), form: null });
    else if (what === 'approve' && !answers) this._acts.send({ type: 'approve', ...shownCall(call) });
    else if (what === 'edit' && !answers) this._acts.openEditDialog(call);
    else this._showWaiting({ chosen: choiceOf(call), form: { kind: what === 'reject' ? 'reject' : 'answer', call: call.id } });
  }
}

