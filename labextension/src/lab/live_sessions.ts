/**
 * The sessions that live in the kernels of the open notebooks, as this page hears them. Each is
 * folded once, whoever looks at it; a session in a notebook that nobody looks at is heard too.
 * A session that has not ended stays when its output is deleted: its kernel goes on, and waits.
 */
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { type Kernel, KernelMessage } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { type Command, type Notice, VERSION } from '../generated/contract';
import { finished } from '../view/incremental';
import { EMPTY_MODEL, isBusy, type Model, readNotice } from '../view/model';
import { parsedRow } from '../view/reader';
import { t, tn } from '../view/text';
import { hasPanel, noticeIn, onKernelEnd, panelIn, sendTo } from './comm';
import { type CellSession, newestOf, sessionsIn, sessionWith, watchOutputs } from './outputs';

const ENDED_PHASES: readonly string[] = ['finished', 'failed', 'stopped'];
/** Milliseconds between two `hello` commands: first, and at most. */
const [FIRST, LONGEST] = [400, 10_000];
/** Milliseconds to wait for the comm list; a busy kernel answers later, and may have the panel. */
const ANSWER_MS = 1000;
const ENDED_NOTICE: Notice = { type: 'whole', rows: {}, live: false, version: VERSION };

/** The sessions without an output, in `sessionStorage`: the key, with the id of their kernel. */
const STORED = 'jupyter-toolcall:without-output:';

/** The key of a notebook's metadata that holds its rules. */
const RULES = 'jupyter_toolcall';

export const sleep = (ms: number): Promise<true> => new Promise(resolve => setTimeout(() => resolve(true), ms));

/** One live session: its model, and the commands to its kernel. */
export class LiveSession {
  readonly updated = new Signal<this, Notice>(this);
  /** Emitted when the person focuses one of its views. */
  readonly focused = new Signal<this, void>(this);
  model: Model = EMPTY_MODEL;
  state: 'unknown' | 'alive' | 'lost' = 'unknown';
  /** Its output is in the notebook. */
  hasOutput = true;
  private _listed: CellSession = {
    cell: this.panel,
    title: '',
    lastRun: 0,
    trusted: true,
    isDeleted: true,
    live: { panel: this.panel, version: VERSION },
    saved: null
  };

  constructor(readonly panel: string, readonly sessions: NotebookSessions) {}

  send(command: Command): void {
    const { kernel } = this.sessions;
    if (!kernel || this.state === 'lost') return;
    // A kernel that runs a tool reads no messages; an interrupt stops it at once.
    if (command.type === 'stop' && isBusy(this.model)) void kernel.interrupt();
    else sendTo(kernel, this.panel, command);
  }

  /** Whether it runs or waits, as far as this page knows. */
  get isOpen(): boolean {
    return this.state !== 'lost' && !ENDED_PHASES.includes(this.model.session.phase);
  }

  /** The session as it was listed with its output, for when that is deleted. */
  get listed(): CellSession {
    return { ...this._listed, lastRun: this.isOpen ? Infinity : 0, saved: null, isDeleted: true };
  }

  set listed(found: CellSession) {
    this._listed = found;
  }

  /** Whether this session took the place of an older one: in its cell, or under its name. */
  replaces(older: LiveSession): boolean {
    const { name } = this.model.session;
    return this._listed.cell === older._listed.cell || (name !== '' && name === older.model.session.name);
  }

  /** Resolves with the session in a format; rejects with the kernel's reason. */
  exported(to: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const receive = (_: unknown, notice: Notice): void => {
        if (notice.type === 'exported' && notice.to === to) resolve(notice.text);
        else if (notice.type === 'refused' && notice.command === 'export') reject(new Error(notice.reason));
        else if (this.state === 'lost') reject(new Error(t('The kernel has ended.')));
        else return;
        this.updated.disconnect(receive);
      };
      this.updated.connect(receive);
      this.send({ type: 'export', to });
    });
  }

  hear(notice: Notice): void {
    const whole = !this.model.missedUpdate;
    this.model = finished(readNotice(this.model, notice));
    this.state = 'alive';
    if (this.model.missedUpdate && whole) this.send({ type: 'hello' });
    this.updated.emit(notice);
  }

  /** Ends the session with its kernel: the rows stay, commands are not sent. */
  end(restarts = false): void {
    if (this.state === 'lost') return;
    const { session, teaching, calls } = this.model;
    const decisions = [...calls.values()].filter(({ who, branch }) => who !== '' && branch === '').length;
    // The magic, the tools and the inputs of a new kernel come from the cells above.
    const advice = decisions
      ? tn('Run the cells above, then this one: your decision is kept.', 'Run the cells above, then this one: your %1 decisions are kept.', decisions)
      : t('Run the cells above, then this one.');
    const says = `${restarts ? t('The kernel restarted.') : t('The kernel has ended.')} ${advice}`;
    const ended = {
      session: { ...session, phase: 'stopped' as const, pending: [], yours: null, says, detail: '' },
      teaching: { ...teaching, turn: null, task: null }
    };
    this.model = { ...this.model, live: false, ...(ENDED_PHASES.includes(session.phase) ? {} : ended) };
    this.state = 'lost';
    this.updated.emit(ENDED_NOTICE);
  }
}

/** The live sessions of one notebook, by the id of their panel. */
export class NotebookSessions {
  readonly changed = new Signal<this, LiveSession>(this);
  /** Emitted after changes of the outputs, and of sessions whose output was deleted. */
  readonly listChanged = new Signal<this, void>(this);
  private readonly _byPanel = new Map<string, LiveSession>();
  private _isRestored = false;

  constructor(readonly notebook: NotebookPanel) {
    const { sessionContext } = notebook;
    sessionContext.iopubMessage.connect((_, message) => this._receive(message));
    onKernelEnd(sessionContext, restarts => this._endAll(restarts));
    notebook.disposed.connect(() => this._endAll());
    const watching = watchOutputs(notebook, () => this._findPanels());
    void sessionContext.ready.then(() => this._restore());
    // What was deleted just before a reload has not been noticed yet.
    const left = (): void => this._findPanels();
    addEventListener('pagehide', left);
    notebook.disposed.connect(() => {
      watching.dispose();
      removeEventListener('pagehide', left);
    });
  }

  get kernel(): Kernel.IKernelConnection | null {
    return this.notebook.isDisposed ? null : (this.notebook.sessionContext.session?.kernel ?? null);
  }

  all(): LiveSession[] {
    return [...this._byPanel.values()];
  }

  /** The sessions of the cells, from the top, after those whose output was deleted. */
  list(): CellSession[] {
    const { model } = this.notebook.content;
    const deleted = this.all().filter(live => !live.hasOutput);
    return [...deleted.map(live => live.listed), ...(model ? sessionsIn(model) : [])];
  }

  newest(): CellSession | null {
    return newestOf(this.list());
  }

  /** The session of the cell with this id, which may be deleted. */
  ofCell(id: string): CellSession | null {
    return this.list().findLast(({ cell }) => cell === id) ?? null;
  }

  /** The session of a panel. A new one gets `hello` until it answers. */
  session(panel: string): LiveSession {
    const known = this._byPanel.get(panel);
    if (known) return known;
    const live = new LiveSession(panel, this);
    this._byPanel.set(panel, live);
    // Not after the next burst of changes: its output may be deleted in that burst.
    live.listed = sessionWith(this.notebook.content.model, panel) ?? live.listed;
    live.updated.connect(() => {
      if (live.state === 'lost' && !live.hasOutput) this._drop(live);
      this._keepRules(live.model.session.notebook_rules);
      this.changed.emit(live);
      if (!live.hasOutput) this.listChanged.emit();
    });
    void this._sendHello(live);
    return live;
  }

  /** Finds the sessions that the outputs name, also after a reload; drops those that have ended and have no output. */
  private _findPanels(): void {
    const { model } = this.notebook.content;
    const named = new Set<LiveSession>();
    for (const found of model ? sessionsIn(model) : []) {
      if (!found.live) continue;
      const live = this.session(found.live.panel);
      live.listed = found;
      named.add(live);
    }
    for (const [index, live] of this.all().entries()) {
      const [had, has] = [live.hasOutput, named.has(live)];
      live.hasOutput = has;
      const isReplaced = this.all().slice(index + 1).some(newer => newer.replaces(live));
      // Once its output is deleted, an open session stays after its end too: only here its end is seen.
      if (!has && (isReplaced || (had && !live.isOpen))) this._drop(live);
      else if (had !== has) this.changed.emit(live);
    }
    this._store();
    this.listChanged.emit();
  }

  /** Writes the person's rules of this notebook into its metadata, as the kernel sealed them. */
  private _keepRules(text: string): void {
    const { model } = this.notebook;
    const rules = parsedRow(text);
    if (!rules || !model || JSON.stringify(model.getMetadata(RULES)) === text) return;
    model.setMetadata(RULES, rules);
  }

  private _drop(live: LiveSession): void {
    this._byPanel.delete(live.panel);
    this._store();
    live.end();
  }

  /** Remembers the sessions without an output while this tab of the browser is reloaded. */
  private _store(): void {
    const { kernel } = this;
    if (!kernel || !this._isRestored) return;
    const deleted = this.all().filter(live => !live.hasOutput);
    if (deleted.length) sessionStorage.setItem(STORED + kernel.id, JSON.stringify(deleted.map(live => live.listed)));
    else sessionStorage.removeItem(STORED + kernel.id);
  }

  /** Finds the stored sessions: a kernel whose cell waits does not tell which panels it has. */
  private _restore(): void {
    const stored = this.kernel && sessionStorage.getItem(STORED + this.kernel.id);
    for (const found of JSON.parse(stored ?? '[]') as CellSession[]) {
      const live = found.live && this.session(found.live.panel);
      if (live) live.listed = found;
    }
    this._isRestored = true;
    this._findPanels();
  }

  private _receive(message: KernelMessage.IMessage): void {
    const addressed = noticeIn(message);
    if (addressed) this._sessionOfPanel(addressed.panel)?.hear(addressed.notice);
    const named = KernelMessage.isDisplayDataMsg(message) ? panelIn(message.content.data) : null;
    // The kernel has just shown it, so it exists.
    if (named) this._sessionOfPanel(named.panel)?.send({ type: 'hello' });
  }

  /** The session of a panel in an output; null if the output was cleared. */
  private _sessionOfPanel(panel: string): LiveSession | null {
    return this._byPanel.has(panel) || sessionWith(this.notebook.content.model, panel) ? this.session(panel) : null;
  }

  /** Sends `hello` until the kernel answers, with growing pauses: a busy kernel can lose it. */
  private async _sendHello(live: LiveSession, pause = FIRST): Promise<void> {
    const { kernel } = this;
    if (kernel?.connectionStatus === 'connected') {
      const there = await Promise.race([hasPanel(kernel, live.panel), sleep(ANSWER_MS)]).catch(() => true);
      if (live.state !== 'unknown') return;
      if (!there) return live.end();
      live.send({ type: 'hello' });
    }
    await sleep(pause);
    if (live.state === 'unknown' && !this.notebook.isDisposed) void this._sendHello(live, Math.min(2 * pause, LONGEST));
  }

  private _endAll(restarts = false): void {
    for (const live of this._byPanel.values()) live.end(restarts);
  }
}

/** The live sessions of all open notebooks. */
export class AllSessions {
  readonly changed = new Signal<this, LiveSession>(this);
  private readonly _known = new Map<NotebookPanel, NotebookSessions>();

  constructor(notebooks: INotebookTracker) {
    notebooks.forEach(notebook => this.of(notebook));
    notebooks.widgetAdded.connect((_, notebook) => this.of(notebook));
  }

  of(notebook: NotebookPanel): NotebookSessions {
    const known = this._known.get(notebook);
    if (known) return known;
    const sessions = new NotebookSessions(notebook);
    this._known.set(notebook, sessions);
    sessions.changed.connect((_, live) => this.changed.emit(live));
    notebook.disposed.connect(() => this._known.delete(notebook));
    return sessions;
  }

  all(): LiveSession[] {
    return [...this._known.values()].flatMap(sessions => sessions.all());
  }
}
