/**
 * The sessions that live in the kernels of the open notebooks, as this page hears them. Each is
 * folded once, whoever looks at it; a session in a notebook that nobody looks at is heard too.
 */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { KernelMessage, type Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { VERSION, type Command, type Notice } from '../generated/contract';
import { EMPTY, fold, type Model } from '../view';
import { trans } from '../view/words';
import { panelsIn } from './found';
import { watch } from './watch';
import { knows, noticeIn, panelIn, sendTo } from './wire';

/** States of a kernel that end what lived in it. */
const ENDS: readonly Kernel.Status[] = ['restarting', 'autorestarting', 'terminating', 'dead'];
const BUSY: readonly string[] = ['running', 'thinking'];
const OVER: readonly string[] = ['finished', 'failed', 'stopped'];
/** Milliseconds between two greetings: at first, and at most. */
const [FIRST, LONGEST] = [400, 10_000];
/** A kernel that runs a cell answers later than that, and may well know what it is asked for. */
const PATIENCE = 1000;
const GONE: Notice = { type: 'whole', rows: {}, live: false, version: VERSION };

const later = (wait: number): Promise<true> => new Promise(resolve => setTimeout(() => resolve(true), wait));

/** One session, and the panel of its kernel that tells of it. */
export class Live {
  readonly heard = new Signal<this, Notice>(this);
  /** That the person came to one of its views. */
  readonly met = new Signal<this, void>(this);
  model: Model = EMPTY;
  state: 'unknown' | 'alive' | 'lost' = 'unknown';

  constructor(
    readonly panel: string,
    readonly sessions: Sessions
  ) {}

  send(command: Command): void {
    const { kernel } = this.sessions;
    if (!kernel || this.state === 'lost') return;
    // A kernel that runs a tool hears no message: its interrupt is what stops it at once.
    if (command.type === 'stop' && BUSY.includes(this.model.session.phase)) void kernel.interrupt();
    else sendTo(kernel, this.panel, command);
  }

  /** Resolves with the session in a format; rejects with the reason where its kernel cannot write it. */
  exported(to: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const hear = (_: unknown, notice: Notice): void => {
        if (notice.type === 'exported' && notice.to === to) resolve(notice.text);
        else if (notice.type === 'refused' && notice.command === 'export') reject(new Error(notice.reason));
        else if (this.state === 'lost') reject(new Error(trans.__('Its kernel has ended')));
        else return;
        this.heard.disconnect(hear);
      };
      this.heard.connect(hear);
      this.send({ type: 'export', to });
    });
  }

  hear(notice: Notice): void {
    const whole = !this.model.gap;
    this.model = fold(this.model, notice);
    this.state = 'alive';
    if (this.model.gap && whole) this.send({ type: 'hello' });
    this.heard.emit(notice);
  }

  /** Its kernel has ended: what was heard stays, and nothing can be done with it. */
  lose(): void {
    if (this.state === 'lost') return;
    const { session, teaching } = this.model;
    const ended = {
      session: { ...session, phase: 'stopped' as const, pending: [], yours: null, says: trans.__('Its kernel has ended') },
      teaching: { ...teaching, turn: null, task: null }
    };
    this.model = { ...this.model, live: false, ...(OVER.includes(session.phase) ? {} : ended) };
    this.state = 'lost';
    this.heard.emit(GONE);
  }
}

/** The sessions of one notebook's kernel, by the id of their panel. */
export class Sessions {
  readonly changed = new Signal<this, Live>(this);
  private readonly byPanel = new Map<string, Live>();

  constructor(readonly notebook: NotebookPanel) {
    const { sessionContext } = notebook;
    sessionContext.iopubMessage.connect((_, message) => this.receive(message));
    sessionContext.statusChanged.connect((_, status) => ENDS.includes(status) && this.lose());
    sessionContext.kernelChanged.connect((_, { oldValue }) => oldValue && this.lose());
    notebook.disposed.connect(() => this.lose());
    const watching = watch(notebook, () => this.look());
    notebook.disposed.connect(() => watching.dispose());
  }

  get kernel(): Kernel.IKernelConnection | null {
    return this.notebook.isDisposed ? null : (this.notebook.sessionContext.session?.kernel ?? null);
  }

  all(): Live[] {
    return [...this.byPanel.values()];
  }

  /** The session behind a panel; one that is new here is greeted until it answers. */
  live(panel: string): Live {
    const known = this.byPanel.get(panel);
    if (known) return known;
    const live = new Live(panel, this);
    this.byPanel.set(panel, live);
    live.heard.connect(() => this.changed.emit(live));
    void this.greet(live);
    return live;
  }

  /** Finds the sessions that the outputs name, after a reload too; what no output shows any more is let go. */
  private look(): void {
    const model = this.notebook.content.model;
    const named = new Set(model ? panelsIn(model) : []);
    for (const panel of named) this.live(panel);
    for (const [panel, live] of this.byPanel) {
      if (named.has(panel)) continue;
      this.byPanel.delete(panel);
      live.lose();
    }
  }

  private receive(message: KernelMessage.IMessage): void {
    const found = noticeIn(message);
    if (found) this.shown(found.panel)?.hear(found.notice);
    const named = KernelMessage.isDisplayDataMsg(message) ? panelIn(message.content.data) : null;
    // Its kernel has just shown it, and need not be asked for it.
    if (named) this.shown(named.panel)?.send({ type: 'hello' });
  }

  /** The session of a panel that stands in an output; what the person has cleared away is not heard. */
  private shown(panel: string): Live | null {
    const model = this.notebook.content.model;
    const named = this.byPanel.has(panel) || (model && panelsIn(model).includes(panel));
    return named ? this.live(panel) : null;
  }

  /** A word can get lost while a kernel is busy: it is said again, ever more seldom. */
  private async greet(live: Live, wait = FIRST): Promise<void> {
    const { kernel } = this;
    if (kernel?.connectionStatus === 'connected') {
      const there = await Promise.race([knows(kernel, live.panel), later(PATIENCE)]).catch(() => true);
      if (live.state !== 'unknown') return;
      if (!there) return live.lose();
      live.send({ type: 'hello' });
    }
    await later(wait);
    if (live.state === 'unknown' && !this.notebook.isDisposed) void this.greet(live, Math.min(2 * wait, LONGEST));
  }

  private lose(): void {
    for (const live of this.byPanel.values()) live.lose();
  }
}

/** The sessions of all notebooks that are open. */
export class Everywhere {
  readonly changed = new Signal<this, Live>(this);
  private readonly known = new Map<NotebookPanel, Sessions>();

  constructor(notebooks: INotebookTracker) {
    notebooks.forEach(notebook => this.of(notebook));
    notebooks.widgetAdded.connect((_, notebook) => this.of(notebook));
  }

  of(notebook: NotebookPanel): Sessions {
    const known = this.known.get(notebook);
    if (known) return known;
    const sessions = new Sessions(notebook);
    this.known.set(notebook, sessions);
    sessions.changed.connect((_, live) => this.changed.emit(live));
    notebook.disposed.connect(() => this.known.delete(notebook));
    return sessions;
  }

  all(): Live[] {
    return [...this.known.values()].flatMap(sessions => sessions.all());
  }
}
