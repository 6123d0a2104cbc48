/**
 * The one view, for every host: rows in, elements out. No Jupyter import here or below.
 *
 * `mount` keeps the model (folded from notices) and what the person set; each part draws a
 * look at both, and touches only what changed.
 */
import type { Command, Notice } from '../generated/contract';
import { BranchList } from './branch_list';
import { Card } from './card';
import { CompareTab } from './compare/compare_tab';
import { isDecision } from './decisions';
import { callDialog, editDialog } from './dialogs';
import { h } from './dom';
import type { Dialog } from './fields';
import { ReplyText, TimeSlider } from './footer';
import { Graph } from './graph';
import { Announcer, canStep, download, type ExportFormat, fileName, isExportFormat, PanelHead } from './head';
import { MessagesTab } from './messages/messages_tab';
import { applyNotice, EMPTY_MODEL, type Model } from './model';
import type { FullCall } from './rows';
import { StepList } from './steps';
import { TabBar } from './tabs';
import { ExerciseBar, ScoreCard } from './teaching';
import { trans } from './text';
import {
  choiceOf,
  firstWaiting,
  INITIAL_STATE,
  type PanelActions,
  type PanelState,
  type Tab,
  viewState,
  type ViewState
} from './view_state';

export interface Host {
  /** Sends a command to the kernel; a host without a kernel has none. */
  send?(command: Command): void;
  live: boolean;
  /** The view stands in a side panel, where it is narrow and high. */
  side?: boolean;
  /** What is shown was read from a file, and nobody vouches for it. */
  unchecked?: boolean;
  /** The host itself says to screen readers what waits, in one place for all its views. */
  speaks?: boolean;
  /** Asks whether all these calls may run; without it the button alone decides. */
  confirm?(calls: readonly FullCall[]): Promise<boolean>;
}

/** What a shortcut of the host can do: as the button of that name, where there is one. */
export type ShortcutAction = 'approve' | 'reject' | 'edit' | 'step' | 'focus';

/** Milliseconds between two pictures of a session that goes on by itself. */
const FRAME_MS = 80;
const BUSY_PHASES: readonly string[] = ['running', 'thinking'];

/** Keys that move in the panel must not move in the notebook around it. */
function keepKeys(event: KeyboardEvent): void {
  if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
}

/** The turn that the person replies to, or whose reply they guess. */
function turnToAnswer({ session, teaching }: Model): string | undefined {
  const turn = session.yours ?? teaching.turn;
  return turn ? `turn ${turn.turn}` : undefined;
}

/** What the person is asked for: a call to decide on, or the model's turn; undefined for nothing. */
const waitingSubject = (model: Model): string | undefined =>
  firstWaiting(model)?.id ?? turnToAnswer(model);

/** Puts the view into `el`; `known` is what the host has heard already. */
export class PanelView {
  private model: Model = { ...this.known, refusal: null };
  private lastRefusal = this.known.refusal;
  private ui = INITIAL_STATE;
  private isPainting = false;
  private paintedAt = 0;
  private paintTimer: ReturnType<typeof setTimeout> | undefined;
  /** The formats that the person asked for here: every view of a session hears what any of them asked. */
  private readonly requestedExports = new Set<ExportFormat>();
  private dialog: { readonly view: Dialog; readonly back: Element | null } | null = null;
  private readonly acts: PanelActions = {
    setState: patch => this.setState(patch),
    send: command => this.sendConfirmed(command),
    request: command => this.host.send?.(command),
    exportAs: format => this.exportAs(format),
    openEditDialog: call => this.openDialog(editDialog(this.state(), call, this.acts, () => this.closeDialog())),
    openCallDialog: tool => this.openDialog(callDialog(this.state(), tool, this.acts, () => this.closeDialog()))
  };
  private readonly branchList = new BranchList(this.acts);
  private readonly tabBar = new TabBar(this.acts, this.branchList.element);
  private readonly head = new PanelHead(this.acts, this.host.unchecked ?? false);
  private readonly exercise = new ExerciseBar(this.acts);
  private readonly announcer = new Announcer(this.host.speaks ?? false);
  private readonly graph = new Graph(this.acts);
  private readonly steps = new StepList(this.acts);
  private readonly card = new Card(this.acts);
  private readonly scoreCard = new ScoreCard(false);
  private readonly messagesTab = new MessagesTab(this.acts);
  private readonly compareTab = new CompareTab(this.acts);
  private readonly replyText = new ReplyText();
  private readonly timeSlider = new TimeSlider(this.acts);
  private readonly parts = [this.branchList, this.tabBar, this.head, this.exercise, this.announcer, this.steps, this.card, this.scoreCard, this.messagesTab, this.compareTab, this.replyText, this.timeSlider];
  private readonly panels = Object.values(this.tabBar.panels);
  private readonly page = h(
    'div',
    { class: 'tc-page' },
    this.head.element,
    ...this.head.bars,
    this.exercise.element,
    this.tabBar.element,
    ...this.panels,
    this.replyText.element,
    this.timeSlider.element
  );
  private readonly errorText = h('p', { class: 'tc-error tc-unreadable', hidden: true });
  private readonly root = h(
    'div',
    { class: this.host.side ? 'tc side' : 'tc', role: 'region', 'aria-label': trans.__('Tool calls') },
    this.page,
    this.errorText,
    this.announcer.element
  );
  private readonly shell = h('div', { class: 'tc-shell' }, this.root);
  private readonly resizeObserver = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => this.graph.resize());

  constructor(private readonly el: HTMLElement, private readonly host: Host, private readonly known = EMPTY_MODEL) {
    this.tabBar.panels.Graph.append(this.scoreCard.element);
    this.tabBar.panels.Messages.append(this.messagesTab.element);
    this.tabBar.panels.Compare.append(this.compareTab.element);
    this.root.addEventListener('keydown', event => {
      if (this.ui.tab === 'Graph' && !this.dialog) this.graph.handleKey(event);
      keepKeys(event);
    });
    this.el.append(this.shell);
    this.resizeObserver?.observe(this.graph.element);
    this.paint();
  }

  /** `folded` is the model after the notice, where the host keeps one. */
  update(notice: Notice, folded = applyNotice(this.model, notice)): void {
    this.saveExport(notice);
    const wasSent = this.ui.commandSent;
    const before = waitingSubject(this.model);
    const whole = !this.model.missedUpdate;
    const { refusal: refused } = this.model;
    // A refusal that was heard before is no news, also where the host folds.
    this.model = folded.refusal === this.lastRefusal ? { ...folded, refusal: refused } : folded;
    this.lastRefusal = folded.refusal;
    if (this.model.missedUpdate && whole) this.host.send?.({ type: 'hello' });
    const waiting = waitingSubject(this.model);
    const anew = waiting !== undefined && waiting !== before && this.ui.pastStep === null;
    const refusal = this.model.refusal !== refused;
    // A refusal stands until the person does something else, or something else waits.
    if (!refusal && waiting !== before) this.model = { ...this.model, refusal: null };
    this.ui = { ...this.ui, commandSent: false, ...(anew && !this.dialog ? { chosen: null, form: null } : {}) };
    if (refusal && this.model.refusal) this.showRefusal();
    else if (wasSent) this.closeDialog();
    this.paintSoon(notice);
  }

  act(what: ShortcutAction): void {
    const { live, waitingCall: waiting, isPast: past } = this.state();
    if (what === 'step' && live && !past && canStep(this.model)) this.acts.send({ type: 'step' });
    if (what === 'step') return;
    const sees = !past && (this.ui.tab === 'Graph' || this.ui.tab === 'Steps') && this.state().chosen.call === waiting?.id;
    if (!sees || what === 'focus') this.showWaiting({ chosen: null, form: null });
    if (what === 'focus' || !sees) this.card.element.focus();
    else if (live && waiting) this.decide(what, waiting);
  }

  dispose(): void {
    clearTimeout(this.paintTimer);
    this.resizeObserver?.disconnect();
    this.shell.remove();
  }

  private state(): ViewState {
    return viewState(this.model, this.ui, this.host.live && this.host.send !== undefined);
  }

  private setState(patch: Partial<PanelState>): void {
    this.ui = { ...this.ui, ...patch };
    this.paint();
  }

  private exportAs(format: ExportFormat): void {
    this.requestedExports.add(format);
    this.host.send?.({ type: 'export', to: format });
  }

  /** Sends a command; the host may ask the person first whether to approve all calls. */
  private sendConfirmed(command: Command): void {
    if (command.type !== 'approve_all' || !this.host.confirm) return this.send(command);
    const { turn } = this.model.calls.get(firstWaiting(this.model)?.id ?? '') ?? { turn: -1 };
    const calls = [...this.model.calls.values()].filter(call => isDecision(call) && call.turn === turn);
    void this.host.confirm(calls).then(yes => yes && this.send(command));
  }

  private send(command: Command): void {
    if (this.ui.commandSent && command.type !== 'stop') return;
    this.ui = { ...this.ui, commandSent: command.type !== 'stop', editedCall: command.type === 'edit' ? command.call : '' };
    this.model = { ...this.model, refusal: null };
    this.host.send?.(command);
    this.dialog?.view.busy(this.ui.commandSent);
    this.paint();
  }

  /** The steps and the card stand once, in the tab that is open. */
  private moveStepsAndCard(to: Tab): void {
    const panel = this.tabBar.panels[to];
    if (to === 'Graph' && this.graph.element.parentElement !== panel) panel.prepend(this.graph.element);
    if ((to !== 'Graph' && to !== 'Steps') || this.steps.element.parentElement === panel) return;
    const scroll = this.steps.element.querySelector('ol')?.scrollTop ?? 0;
    panel.append(this.steps.element, this.card.element);
    const moved = this.steps.element.querySelector('ol');
    if (moved) moved.scrollTop = scroll;
  }

  private draw(view: ViewState): void {
    this.root.dataset.phase = view.isPast ? 'past' : view.model.session.phase;
    this.moveStepsAndCard(view.ui.tab);
    for (const part of this.parts) part.paint(view);
    if (view.ui.tab === 'Graph') this.graph.paint(view);
  }

  private paint(): void {
    if (this.isPainting) return;
    clearTimeout(this.paintTimer);
    this.paintTimer = undefined;
    this.isPainting = true;
    try {
      this.page.hidden = this.model.unreadable !== '';
      this.errorText.hidden = !this.page.hidden;
      this.errorText.textContent = this.model.unreadable;
      if (!this.page.hidden) this.draw(this.state());
    } finally {
      this.isPainting = false;
      this.paintedAt = performance.now();
    }
  }

  /** While it goes on by itself the pictures of a burst are one; what a person waits for is drawn at once. */
  private paintSoon(notice: Notice): void {
    const rest = this.paintedAt + FRAME_MS - performance.now();
    const bursts = notice.type === 'delta' && BUSY_PHASES.includes(this.model.session.phase);
    if (!bursts || rest <= 0) this.paint();
    else this.paintTimer ??= setTimeout(() => this.paint(), rest);
  }

  private closeDialog(): void {
    if (!this.dialog) return;
    const { view, back } = this.dialog;
    this.dialog = null;
    view.element.remove();
    this.page.inert = false;
    this.root.style.minHeight = '';
    if (back instanceof HTMLElement && back.isConnected) back.focus({ preventScroll: true });
    else this.card.element.focus({ preventScroll: true });
  }

  private openDialog(view: Dialog): void {
    this.closeDialog();
    this.dialog = { view, back: document.activeElement };
    this.root.append(view.element);
    this.page.inert = true;
    const box = view.element.firstElementChild;
    if (box) this.root.style.minHeight = `${box.getBoundingClientRect().height + 48}px`;
    box?.scrollIntoView({ block: 'nearest' });
    view.focus();
  }

  private showRefusal(): void {
    if (!this.dialog) return;
    const { refusal: refused } = this.model;
    this.dialog.view.busy(false);
    if (refused) this.dialog.view.refuse(refused.reason, refused.fields);
  }

  /** A session in a format, where it was asked for here, becomes a file. */
  private saveExport(notice: Notice): void {
    if (notice.type === 'refused' && notice.command === 'export') this.requestedExports.clear();
    if (notice.type !== 'exported' || !isExportFormat(notice.to) || !this.requestedExports.delete(notice.to)) return;
    download(fileName(this.model.session.name, notice.to), notice.to, notice.text);
  }

  /** What waits is brought before the person first, in a tab that has its card. */
  private showWaiting(patch: Partial<PanelState>): void {
    const tab = this.ui.tab === 'Graph' || this.ui.tab === 'Steps' ? this.ui.tab : 'Graph';
    this.acts.setState({ tab, pastStep: null, ...patch });
  }

  private decide(what: ShortcutAction, call: FullCall): void {
    const answers = this.model.tools.get(call.tool)?.for_person ?? false;
    if (what === 'approve' && call.may_have_run) this.showWaiting({ chosen: choiceOf(call), form: null });
    else if (what === 'approve' && !answers) this.acts.send({ type: 'approve', call: call.call, bound: call.bound });
    else if (what === 'edit' && !answers) this.acts.openEditDialog(call);
    else this.showWaiting({ chosen: choiceOf(call), form: { kind: what === 'reject' ? 'reject' : 'answer', call: call.id } });
  }
}

