/**
 * The one view, for every host: rows in, elements out. No Jupyter import here or below.
 *
 * `mount` keeps the model (folded from notices) and what the person set; each part draws a
 * look at both, and touches only what changed.
 */
import type { Command, Notice } from '../generated/contract';
import { branchList } from './branch_list';
import { card } from './card';
import { compareTab } from './compare/compare_tab';
import { isDecision } from './decisions';
import { callDialog, editDialog } from './dialogs';
import { h } from './dom';
import type { Dialog } from './fields';
import { replyText, timeSlider } from './footer';
import { graph } from './graph';
import { announcer, canStep, download, type ExportFormat, fileName, isExportFormat, panelHead } from './head';
import { messages } from './messages/messages_tab';
import { applyNotice, EMPTY_MODEL, type Model } from './model';
import type { FullCall } from './rows';
import { stepList } from './steps';
import { tabBar } from './tabs';
import { exerciseBar, scoreCard } from './teaching';
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

export interface View {
  /** `folded` is the model after the notice, where the host keeps one. */
  update(notice: Notice, folded?: Model): void;
  act(what: Act): void;
  dispose(): void;
}

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
export function mount(el: HTMLElement, host: Host, known = EMPTY_MODEL): View {
  let model: Model = { ...known, refusal: null };
  let { refusal: heard } = known;
  let ui = INITIAL_STATE;
  let painting = false;
  let painted = 0;
  let due: ReturnType<typeof setTimeout> | undefined;
  /** The formats that the person asked for here: every view of a session hears what any of them asked. */
  const taking = new Set<ExportFormat>();
  let open: { readonly view: Dialog; readonly back: Element | null } | null = null;

  const seen = (): ViewState => viewState(model, ui, host.live && host.send !== undefined);

  function send(command: Command): void {
    if (ui.commandSent && command.type !== 'stop') return;
    ui = { ...ui, commandSent: command.type !== 'stop', editedCall: command.type === 'edit' ? command.call : '' };
    model = { ...model, refusal: null };
    host.send?.(command);
    open?.view.busy(ui.commandSent);
    paint();
  }

  const acts: PanelActions = {
    setState(patch) {
      ui = { ...ui, ...patch };
      paint();
    },
    send(command) {
      if (command.type !== 'approve_all' || !host.confirm) return send(command);
      const { turn } = model.calls.get(firstWaiting(model)?.id ?? '') ?? { turn: -1 };
      const calls = [...model.calls.values()].filter(call => isDecision(call) && call.turn === turn);
      void host.confirm(calls).then(yes => yes && send(command));
    },
    request: command => host.send?.(command),
    exportAs(to) {
      taking.add(to);
      host.send?.({ type: 'export', to });
    },
    openEditDialog: call => ask(editDialog(seen(), call, acts, close)),
    openCallDialog: tool => ask(callDialog(seen(), tool, acts, close))
  };

  const beside = branchList(acts);
  const tab = tabBar(acts, beside.element);
  const top = panelHead(acts, host.unchecked ?? false);
  const exercise = exerciseBar(acts);
  const voice = announcer(host.speaks ?? false);
  const drawing = graph(acts);
  const list = stepList(acts);
  const details = card(acts);
  const points = scoreCard(false);
  const talk = messages(acts);
  const both = compareTab(acts);
  const words = replyText();
  const slider = timeSlider(acts);
  const parts = [beside, tab, top, exercise, voice, list, details, points, talk, both, words, slider];

  const panels = Object.values(tab.panels);
  const page = h(
    'div',
    { class: 'tc-page' },
    top.element,
    ...top.bars,
    exercise.element,
    tab.element,
    ...panels,
    words.element,
    slider.element
  );
  const broken = h('p', { class: 'tc-error tc-unreadable', hidden: true });
  const root = h(
    'div',
    { class: host.side ? 'tc side' : 'tc', role: 'region', 'aria-label': trans.__('Tool calls') },
    page,
    broken,
    voice.element
  );
  const shell = h('div', { class: 'tc-shell' }, root);
  tab.panels.Graph.append(points.element);
  tab.panels.Messages.append(talk.element);
  tab.panels.Compare.append(both.element);
  root.addEventListener('keydown', event => {
    if (ui.tab === 'Graph' && !open) drawing.press(event);
    keepKeys(event);
  });
  el.append(shell);

  /** The steps and the card stand once, in the tab that is open. */
  function seat(to: Tab): void {
    const panel = tab.panels[to];
    if (to === 'Graph' && drawing.element.parentElement !== panel) panel.prepend(drawing.element);
    if ((to !== 'Graph' && to !== 'Steps') || list.element.parentElement === panel) return;
    const scroll = list.element.querySelector('ol')?.scrollTop ?? 0;
    panel.append(list.element, details.element);
    const moved = list.element.querySelector('ol');
    if (moved) moved.scrollTop = scroll;
  }

  function draw(view: ViewState): void {
    root.dataset.phase = view.isPast ? 'past' : view.model.session.phase;
    seat(view.ui.tab);
    for (const part of parts) part.paint(view);
    if (view.ui.tab === 'Graph') drawing.paint(view);
  }

  function paint(): void {
    if (painting) return;
    clearTimeout(due);
    due = undefined;
    painting = true;
    try {
      page.hidden = model.unreadable !== '';
      broken.hidden = !page.hidden;
      broken.textContent = model.unreadable;
      if (!page.hidden) draw(seen());
    } finally {
      painting = false;
      painted = performance.now();
    }
  }

  /** While it goes on by itself the pictures of a burst are one; what a person waits for is drawn at once. */
  function paintSoon(notice: Notice): void {
    const rest = painted + REST - performance.now();
    const bursts = notice.type === 'delta' && GOES_ON.includes(model.session.phase);
    if (!bursts || rest <= 0) paint();
    else due ??= setTimeout(paint, rest);
  }

  function close(): void {
    if (!open) return;
    const { view, back } = open;
    open = null;
    view.element.remove();
    page.inert = false;
    root.style.minHeight = '';
    if (back instanceof HTMLElement && back.isConnected) back.focus({ preventScroll: true });
    else details.element.focus({ preventScroll: true });
  }

  function ask(view: Dialog): void {
    close();
    open = { view, back: document.activeElement };
    root.append(view.element);
    page.inert = true;
    const box = view.element.firstElementChild;
    if (box) root.style.minHeight = `${box.getBoundingClientRect().height + 48}px`;
    box?.scrollIntoView({ block: 'nearest' });
    view.focus();
  }

  function heed(): void {
    if (!open) return;
    const { refusal: refused } = model;
    open.view.busy(false);
    if (refused) open.view.refuse(refused.reason, refused.fields);
  }

  /** A session in a format, where it was asked for here, becomes a file. */
  function keep(notice: Notice): void {
    if (notice.type === 'refused' && notice.command === 'export') taking.clear();
    if (notice.type !== 'exported' || !isExportFormat(notice.to) || !taking.delete(notice.to)) return;
    download(fileName(model.session.name, notice.to), notice.to, notice.text);
  }

  function update(notice: Notice, folded = applyNotice(model, notice)): void {
    keep(notice);
    const wasSent = ui.commandSent;
    const before = asksFor(model);
    const whole = !model.missedUpdate;
    const { refusal: refused } = model;
    // A refusal that was heard before is no news, also where the host folds.
    model = folded.refusal === heard ? { ...folded, refusal: refused } : folded;
    heard = folded.refusal;
    if (model.missedUpdate && whole) host.send?.({ type: 'hello' });
    const waiting = asksFor(model);
    const anew = waiting !== undefined && waiting !== before && ui.pastStep === null;
    const refusal = model.refusal !== refused;
    // A refusal stands until the person does something else, or something else waits.
    if (!refusal && waiting !== before) model = { ...model, refusal: null };
    ui = { ...ui, commandSent: false, ...(anew && !open ? { chosen: null, form: null } : {}) };
    if (refusal && model.refusal) heed();
    else if (wasSent) close();
    paintSoon(notice);
  }

  /** What waits is brought before the person first, in a tab that has its card. */
  function face(patch: Partial<PanelState>): void {
    const tab = ui.tab === 'Graph' || ui.tab === 'Steps' ? ui.tab : 'Graph';
    acts.setState({ tab, pastStep: null, ...patch });
  }

  function decide(what: Act, call: FullCall): void {
    const answers = model.tools.get(call.tool)?.for_person ?? false;
    if (what === 'approve' && call.may_have_run) face({ chosen: choiceOf(call), form: null });
    else if (what === 'approve' && !answers) acts.send({ type: 'approve', call: call.call, bound: call.bound });
    else if (what === 'edit' && !answers) acts.openEditDialog(call);
    else face({ chosen: choiceOf(call), form: { kind: what === 'reject' ? 'reject' : 'answer', call: call.id } });
  }

  function act(what: Act): void {
    const { live, waitingCall: waiting, isPast: past } = seen();
    if (what === 'step' && live && !past && canStep(model)) acts.send({ type: 'step' });
    if (what === 'step') return;
    const sees = !past && (ui.tab === 'Graph' || ui.tab === 'Steps') && seen().chosen.call === waiting?.id;
    if (!sees || what === 'focus') face({ chosen: null, form: null });
    if (what === 'focus' || !sees) details.element.focus();
    else if (live && waiting) decide(what, waiting);
  }

  const watch = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => drawing.resize());
  watch?.observe(drawing.element);
  paint();
  return {
    update,
    act,
    dispose() {
      clearTimeout(due);
      watch?.disconnect();
      shell.remove();
    }
  };
}

