/** Sessions in the outputs of a notebook: found, named, watched, and kept up to date. */
import type { ICellModel, ICodeCellModel } from '@jupyterlab/cells';
import { ActivityMonitor } from '@jupyterlab/coreutils';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import { KernelMessage } from '@jupyterlab/services';
import { JSONExt, type PartialJSONObject, type ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { forgetPublished, recordPublished, SESSION_TYPE } from '../saved_view';
import { oneLine } from '../view/text';
import { onKernelEnd, panelIn, type PanelName } from './comm';

/** The session of a cell: its live panel and its saved output. */
export interface CellSession {
  /** The id of the cell. */
  readonly cell: string;
  readonly title: string;
  /** The number of its last run; Infinity while it runs. */
  readonly lastRun: number;
  readonly trusted: boolean;
  /** The session goes on, but its output is no longer in the notebook. */
  readonly isDeleted: boolean;
  readonly live: PanelName | null;
  /** The MIME bundle of the saved output; the same object while the output stays. */
  readonly saved: ReadonlyPartialJSONObject | null;
}

const isCode = (cell: ICellModel): cell is ICodeCellModel => cell.type === 'code';

/** The session of a cell; the last saved output counts. */
export function sessionOf(cell: ICellModel): CellSession | null {
  if (!isCode(cell)) return null;
  let [live, saved]: [PanelName | null, ReadonlyPartialJSONObject | null] = [null, null];
  for (let at = 0; at < cell.outputs.length; at++) {
    const output = cell.outputs.get(at);
    // Not `output.data`: that copies each time.
    const data = (output.toJSON().data ?? {}) as ReadonlyPartialJSONObject;
    if (data[SESSION_TYPE] !== undefined) saved = data;
    else live = panelIn(data) ?? live;
  }
  if (!live && !saved) return null;
  const lastRun = cell.executionState === 'running' ? Infinity : (cell.executionCount ?? 0);
  return { cell: cell.id, title: sessionTitle(cell), lastRun, trusted: cell.trusted, isDeleted: false, live, saved };
}

/** All cells with a session, from the top. */
export const sessionsIn = (model: INotebookModel): CellSession[] =>
  [...model.cells].flatMap(cell => sessionOf(cell) ?? []);

/** The session that runs, else the one that ran last. */
export const newestOf = (sessions: readonly CellSession[]): CellSession | null =>
  sessions.reduce<CellSession | null>((last, found) => (last && last.lastRun > found.lastRun ? last : found), null);

/** The session whose output has this panel; null if there is none. */
export const sessionWith = (model: INotebookModel | null, panel: string): CellSession | null =>
  (model && sessionsIn(model).find(found => found.live?.panel === panel)) ?? null;

/**
 * Shows the panel of a cell that is about to run again while its session waits: JupyterLab clears its output at once,
 * and the kernel runs it after the decision. What the new run shows takes the panel's place.
 */
export function keepPanel(cell: ICellModel): void {
  if (!isCode(cell)) return;
  const { outputs } = cell;
  const at = indexOfOutput(outputs, data => panelIn(data) !== null);
  if (at < 0) return;
  const live = outputs.get(at).toJSON();
  queueMicrotask(() => {
    outputs.add(live);
    outputs.clear(true);
  });
}

const MAGIC = /^\s*%%?toolchat\b.*$/m;

function sessionTitle({ executionCount, executionState, sharedModel }: ICodeCellModel): string {
  const asked = sharedModel.getSource().replace(MAGIC, '').trim();
  const number = executionState === 'running' ? '*' : (executionCount ?? ' ');
  return `[${number}] ${oneLine(asked.split('\n')[0] ?? '', 60)}`.trim();
}

const QUIET_MS = 200;

/** Calls `changed` when the notebook is loaded and after each burst of changes, until disposed. */
export function watchOutputs(notebook: NotebookPanel, changed: () => void): IDisposable {
  let monitor: ActivityMonitor<INotebookModel, void> | null = null;
  let over = false;
  const begin = (): void => {
    const { model } = notebook.content;
    if (over || !model) return;
    monitor = new ActivityMonitor({ signal: model.contentChanged, timeout: QUIET_MS });
    monitor.activityStopped.connect(changed);
    changed();
  };
  void notebook.context.ready.then(begin);
  return {
    get isDisposed() {
      return over;
    },
    dispose() {
      over = true;
      monitor?.dispose();
    }
  };
}

type Outputs = ICodeCellModel['outputs'];

/** Keeps the saved sessions of this notebook up to date, also after a page reload. */
export function keepSavedSessions(notebook: NotebookPanel): void {
  const published = new Set<string>();
  onKernelEnd(notebook.sessionContext, () => {
    forgetPublished(published);
    published.clear();
  });
  notebook.sessionContext.iopubMessage.connect((_, message) => {
    const shows = KernelMessage.isDisplayDataMsg(message) || KernelMessage.isUpdateDisplayDataMsg(message);
    if (!shows && !KernelMessage.isExecuteResultMsg(message)) return;
    const { data, metadata, transient } = message.content;
    if (data[SESSION_TYPE] === undefined) return;
    published.add(recordPublished(data[SESSION_TYPE]));
    if (!shows || !transient?.display_id) return;
    const outputs = outputsWith(notebook, transient.display_id);
    if (outputs) saveOutput(outputs, { data, metadata });
  });
}

/** The outputs that contain this panel. */
function outputsWith(notebook: NotebookPanel, panel: string): Outputs | undefined {
  for (const cell of notebook.content.model?.cells ?? []) {
    if (cell.type !== 'code') continue;
    const { outputs } = cell as ICodeCellModel;
    if (indexOfOutput(outputs, data => panelIn(data)?.panel === panel) >= 0) return outputs;
  }
  return undefined;
}

/** Adds the bundle or replaces the older one; an equal one changes nothing. */
function saveOutput(outputs: Outputs, bundle: Pick<KernelMessage.IDisplayDataMsg['content'], 'data' | 'metadata'>): void {
  const output = { output_type: 'display_data' as const, ...bundle };
  const at = indexOfOutput(outputs, data => data[SESSION_TYPE] !== undefined);
  if (at < 0) outputs.add(output);
  else if (!JSONExt.deepEqual(bundleOf(outputs, at)[SESSION_TYPE] ?? null, bundle.data[SESSION_TYPE] ?? null))
    outputs.set(at, output);
}

function indexOfOutput(outputs: Outputs, suits: (bundle: PartialJSONObject) => boolean): number {
  for (let at = 0; at < outputs.length; at++) if (suits(bundleOf(outputs, at))) return at;
  return -1;
}

function bundleOf(outputs: Outputs, at: number): PartialJSONObject {
  return (outputs.get(at).toJSON().data ?? {}) as PartialJSONObject;
}
