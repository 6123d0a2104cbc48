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
export type Act = 'approve' | 'reject' | 'edit' | 'step' | 'focus';

/** Milliseconds between two pictures of a session that goes on by itself. */
const REST = 80;
const GOES_ON: readonly string[] = ['running', 'thinking'];

/** Keys that move in the panel must not move in the notebook around it. */
function keepKeys(event: KeyboardEvent): void {
  if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
}

/** The turn that the person replies to, or whose reply they guess. */
function turnOf({ session, teaching }: Model): string | undefined {
  const turn = session.yours ?? teaching.turn;
  return turn ? `turn ${turn.turn}` : undefined;
}

/** What the person is asked for: a call to decide on, or the model's turn; undefined for nothing. */
const asksFor = (model: Model): string | undefined =>
  firstWaiting(model)?.id ?? turnOf(model);

/** Puts the view into `el`; `known` is what the host has heard already. */
export class PanelView {
  private model: Model = { ...this.known, refusal: null };
  private heard = this.known.refusal;
  private ui = INITIAL_STATE;
  private painting = false;
  private painted = 0;
  private due: ReturnType<typeof setTimeout> | undefined;
  /** The formats that the person asked for here: every view of a session hears what any of them asked. */
  private readonly taking = new Set<ExportFormat>();
  private open: { readonly view: Dialog; readonly back: Element | null } | null = null;
  private readonly acts: PanelActions = {
    setState: patch => this.setState(patch),
    send: command => this.sendConfirmed(command),
    request: command => this.host.send?.(command),
    exportAs: format => this.exportAs(format),
    openEditDialog: call => this.ask(editDialog(this.seen(), call, this.acts, () => this.close())),
    openCallDialog: tool => this.ask(callDialog(this.seen(), tool, this.acts, () => this.close()))
  };
  private readonly beside = new BranchList(this.acts);
  private readonly tab = new TabBar(this.acts, this.beside.element);
  private readonly top = new PanelHead(this.acts, this.host.unchecked ?? false);
  private readonly exercise = new ExerciseBar(this.acts);
  private readonly voice = new Announcer(this.host.speaks ?? false);
  private readonly drawing = new Graph(this.acts);
  private readonly list = new StepList(this.acts);
  private readonly details = new Card(this.acts);
  private readonly points = new ScoreCard(false);
  private readonly talk = new MessagesTab(this.acts);
  private readonly both = new CompareTab(this.acts);
  private readonly words = new ReplyText();
  private readonly slider = new TimeSlider(this.acts);
  private readonly parts = [this.beside, this.tab, this.top, this.exercise, this.voice, this.list, this.details, this.points, this.talk, this.both, this.words, this.slider];
  private readonly panels = Object.values(this.tab.panels);
  private readonly page = h(
    'div',
    { class: 'tc-page' },
    this.top.element,
    ...this.top.bars,
    this.exercise.element,
    this.tab.element,
    ...this.panels,
    this.words.element,
    this.slider.element
  );
  private readonly broken = h('p', { class: 'tc-error tc-unreadable', hidden: true });
  private readonly root = h(
    'div',
    { class: this.host.side ? 'tc side' : 'tc', role: 'region', 'aria-label': trans.__('Tool calls') },
    this.page,
    this.broken,
    this.voice.element
  );
  private readonly shell = h('div', { class: 'tc-shell' }, this.root);
  private readonly watch = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => this.drawing.resize());

  constructor(private readonly el: HTMLElement, private readonly host: Host, private readonly known = EMPTY_MODEL) {
    this.tab.panels.Graph.append(this.points.element);
    this.tab.panels.Messages.append(this.talk.element);
    this.tab.panels.Compare.append(this.both.element);
    this.root.addEventListener('keydown', event => {
      if (this.ui.tab === 'Graph' && !this.open) this.drawing.press(event);
      keepKeys(event);
    });
    this.el.append(this.shell);
    this.watch?.observe(this.drawing.element);
    this.paint();
  }

  /** `folded` is the model after the notice, where the host keeps one. */
  update(notice: Notice, folded = applyNotice(this.model, notice)): void {
    this.keep(notice);
    const wasSent = this.ui.commandSent;
    const before = asksFor(this.model);
    const whole = !this.model.missedUpdate;
    const { refusal: refused } = this.model;
    // A refusal that was heard before is no news, also where the host folds.
    this.model = folded.refusal === this.heard ? { ...folded, refusal: refused } : folded;
    this.heard = folded.refusal;
    if (this.model.missedUpdate && whole) this.host.send?.({ type: 'hello' });
    const waiting = asksFor(this.model);
    const anew = waiting !== undefined && waiting !== before && this.ui.pastStep === null;
    const refusal = this.model.refusal !== refused;
    // A refusal stands until the person does something else, or something else waits.
    if (!refusal && waiting !== before) this.model = { ...this.model, refusal: null };
    this.ui = { ...this.ui, commandSent: false, ...(anew && !this.open ? { chosen: null, form: null } : {}) };
    if (refusal && this.model.refusal) this.heed();
    else if (wasSent) this.close();
    this.paintSoon(notice);
  }

  act(what: Act): void {
    const { live, waitingCall: waiting, isPast: past } = this.seen();
    if (what === 'step' && live && !past && canStep(this.model)) this.acts.send({ type: 'step' });
    if (what === 'step') return;
    const sees = !past && (this.ui.tab === 'Graph' || this.ui.tab === 'Steps') && this.seen().chosen.call === waiting?.id;
    if (!sees || what === 'focus') this.face({ chosen: null, form: null });
    if (what === 'focus' || !sees) this.details.element.focus();
    else if (live && waiting) this.decide(what, waiting);
  }

  dispose(): void {
    clearTimeout(this.due);
    this.watch?.disconnect();
    this.shell.remove();
  }

  private seen(): ViewState {
    return viewState(this.model, this.ui, this.host.live && this.host.send !== undefined);
  }

  private setState(patch: Partial<PanelState>): void {
    this.ui = { ...this.ui, ...patch };
    this.paint();
  }

  private exportAs(format: ExportFormat): void {
    this.taking.add(format);
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
    this.open?.view.busy(this.ui.commandSent);
    this.paint();
  }

  /** The steps and the card stand once, in the tab that is open. */
  private seat(to: Tab): void {
    const panel = this.tab.panels[to];
    if (to === 'Graph' && this.drawing.element.parentElement !== panel) panel.prepend(this.drawing.element);
    if ((to !== 'Graph' && to !== 'Steps') || this.list.element.parentElement === panel) return;
    const scroll = this.list.element.querySelector('ol')?.scrollTop ?? 0;
    panel.append(this.list.element, this.details.element);
    const moved = this.list.element.querySelector('ol');
    if (moved) moved.scrollTop = scroll;
  }

  private draw(view: ViewState): void {
    this.root.dataset.phase = view.isPast ? 'past' : view.model.session.phase;
    this.seat(view.ui.tab);
    for (const part of this.parts) part.paint(view);
    if (view.ui.tab === 'Graph') this.drawing.paint(view);
  }

  private paint(): void {
    if (this.painting) return;
    clearTimeout(this.due);
    this.due = undefined;
    this.painting = true;
    try {
      this.page.hidden = this.model.unreadable !== '';
      this.broken.hidden = !this.page.hidden;
      this.broken.textContent = this.model.unreadable;
      if (!this.page.hidden) this.draw(this.seen());
    } finally {
      this.painting = false;
      this.painted = performance.now();
    }
  }

  /** While it goes on by itself the pictures of a burst are one; what a person waits for is drawn at once. */
  private paintSoon(notice: Notice): void {
    const rest = this.painted + REST - performance.now();
    const bursts = notice.type === 'delta' && GOES_ON.includes(this.model.session.phase);
    if (!bursts || rest <= 0) this.paint();
    else this.due ??= setTimeout(() => this.paint(), rest);
  }

  private close(): void {
    if (!this.open) return;
    const { view, back } = this.open;
    this.open = null;
    view.element.remove();
    this.page.inert = false;
    this.root.style.minHeight = '';
    if (back instanceof HTMLElement && back.isConnected) back.focus({ preventScroll: true });
    else this.details.element.focus({ preventScroll: true });
  }

  private ask(view: Dialog): void {
    this.close();
    this.open = { view, back: document.activeElement };
    this.root.append(view.element);
    this.page.inert = true;
    const box = view.element.firstElementChild;
    if (box) this.root.style.minHeight = `${box.getBoundingClientRect().height + 48}px`;
    box?.scrollIntoView({ block: 'nearest' });
    view.focus();
  }

  private heed(): void {
    if (!this.open) return;
    const { refusal: refused } = this.model;
    this.open.view.busy(false);
    if (refused) this.open.view.refuse(refused.reason, refused.fields);
  }

  /** A session in a format, where it was asked for here, becomes a file. */
  private keep(notice: Notice): void {
    if (notice.type === 'refused' && notice.command === 'export') this.taking.clear();
    if (notice.type !== 'exported' || !isExportFormat(notice.to) || !this.taking.delete(notice.to)) return;
    download(fileName(this.model.session.name, notice.to), notice.to, notice.text);
  }

  /** What waits is brought before the person first, in a tab that has its card. */
  private face(patch: Partial<PanelState>): void {
    const tab = this.ui.tab === 'Graph' || this.ui.tab === 'Steps' ? this.ui.tab : 'Graph';
    this.acts.setState({ tab, pastStep: null, ...patch });
  }

  private decide(what: Act, call: FullCall): void {
    const answers = this.model.tools.get(call.tool)?.for_person ?? false;
    if (what === 'approve' && call.may_have_run) this.face({ chosen: choiceOf(call), form: null });
    else if (what === 'approve' && !answers) this.acts.send({ type: 'approve', call: call.call, bound: call.bound });
    else if (what === 'edit' && !answers) this.acts.openEditDialog(call);
    else this.face({ chosen: choiceOf(call), form: { kind: what === 'reject' ? 'reject' : 'answer', call: call.id } });
  }
}

