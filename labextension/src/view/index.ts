/**
 * The one view, for every host: rows in, elements out. No Jupyter import here or below.
 *
 * `mount` keeps the model (folded from notices) and what the person set; each part draws a
 * look at both, and touches only what changed.
 */
import type { Command, Notice } from '../generated/contract';
import { card } from './card';
import { compare } from './compare';
import { dialog } from './dialog';
import { h } from './dom';
import type { Dialog } from './form';
import { graph } from './graph';
import { head, herald } from './head';
import { firstWaiting, look, START, type Acts, type Look, type Tab } from './look';
import { messages } from './messages';
import { EMPTY, fold, type Model } from './rows';
import { said } from './said';
import { steps } from './steps';
import { branches, tabs } from './tabs';
import { time } from './time';
import { write } from './write';

export interface Host {
  /** Sends a command to the kernel; a host without a kernel has none. */
  send?(command: Command): void;
  live: boolean;
  /** The view stands in a side panel, where it is narrow and high. */
  side?: boolean;
}

export interface View {
  update(notice: Notice): void;
  dispose(): void;
}

/** Milliseconds between two pictures of a session that goes on by itself. */
const REST = 80;
const GOES_ON: readonly string[] = ['running', 'thinking'];

/** Keys that move in the panel must not move in the notebook around it. */
function keepKeys(event: KeyboardEvent): void {
  if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
}

/** What the person is asked for: a call to decide on, or the model's turn; undefined for nothing. */
const asksFor = (model: Model): string | undefined =>
  firstWaiting(model)?.id ?? (model.session.yours ? `turn ${model.session.yours.turn}` : undefined);

/** Puts the view into `el`. */
export function mount(el: HTMLElement, host: Host): View {
  let model = EMPTY;
  let ui = START;
  let painting = false;
  let painted = 0;
  let due: ReturnType<typeof setTimeout> | undefined;
  let open: { readonly view: Dialog; readonly back: Element | null } | null = null;

  const acts: Acts = {
    set(patch) {
      ui = { ...ui, ...patch };
      paint();
    },
    send(command) {
      if (ui.sent && command.type !== 'stop') return;
      ui = { ...ui, sent: command.type !== 'stop' };
      model = { ...model, refused: null };
      host.send?.(command);
      open?.view.busy(ui.sent);
      paint();
    },
    edit: call => ask(dialog(look(model, ui, true), call, acts, close)),
    write: tool => ask(write(look(model, ui, true), tool, acts, close))
  };

  const beside = branches(acts);
  const tab = tabs(acts, beside.element);
  const top = head(acts);
  const voice = herald();
  const drawing = graph(acts);
  const list = steps(acts);
  const details = card(acts);
  const talk = messages(acts);
  const both = compare(acts);
  const words = said();
  const slider = time(acts);
  const parts = [beside, tab, top, voice, list, details, talk, both, words, slider];

  const panels = Object.values(tab.panels);
  const page = h(
    'div',
    { class: 'tc-page' },
    top.element,
    top.bar,
    tab.element,
    ...panels,
    words.element,
    slider.element
  );
  const broken = h('p', { class: 'tc-error tc-unreadable', hidden: true });
  const root = h(
    'div',
    { class: host.side ? 'tc side' : 'tc', role: 'region', 'aria-label': 'Tool calls' },
    page,
    broken,
    voice.element
  );
  const shell = h('div', { class: 'tc-shell' }, root);
  tab.panels.Messages.append(talk.element);
  tab.panels.Compare.append(both.element);
  root.addEventListener('keydown', keepKeys);
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

  function draw(view: Look): void {
    root.dataset.phase = view.past ? 'past' : view.model.session.phase;
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
      if (!page.hidden) draw(look(model, ui, host.live && host.send !== undefined));
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
    const { refused } = model;
    open.view.busy(false);
    if (refused) open.view.refuse(refused.reason, refused.fields);
  }

  function update(notice: Notice): void {
    const wasSent = ui.sent;
    const before = asksFor(model);
    const whole = !model.gap;
    const { refused } = model;
    model = fold(model, notice);
    if (model.gap && whole) host.send?.({ type: 'hello' });
    const waiting = asksFor(model);
    const anew = waiting !== undefined && waiting !== before && ui.at === null;
    const refusal = model.refused !== refused;
    // A refusal stands until the person does something else, or something else waits.
    if (!refusal && waiting !== before) model = { ...model, refused: null };
    ui = { ...ui, sent: false, ...(anew && !open ? { chosen: null, form: null } : {}) };
    if (refusal && model.refused) heed();
    else if (wasSent) close();
    paintSoon(notice);
  }

  const watch = typeof ResizeObserver === 'undefined' ? null : new ResizeObserver(() => drawing.resize());
  watch?.observe(drawing.element);
  paint();
  return {
    update,
    dispose() {
      clearTimeout(due);
      watch?.disconnect();
      shell.remove();
    }
  };
}

export { EMPTY, fold } from './rows';
