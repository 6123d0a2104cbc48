/**
 * Keeps in the notebook what a session saves. A page that was loaded anew no longer knows which
 * cell runs, and JupyterLab would drop what comes from it; the saved session names the panel that
 * it belongs to (its display id is the panel's model id), so its cell can be found.
 */
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { KernelMessage } from '@jupyterlab/services';
import { JSONExt, type PartialJSONObject, type PartialJSONValue } from '@lumino/coreutils';
import { LIVE } from './lab/wire';
import { SESSION } from './saved';
import { takeNote } from './told';

type Outputs = ICodeCellModel['outputs'];

/** From now on no saved session of this notebook gets lost. */
export function keepSaved(notebook: NotebookPanel): void {
  notebook.sessionContext.iopubMessage.connect((_, message) => {
    const shows = KernelMessage.isDisplayDataMsg(message) || KernelMessage.isUpdateDisplayDataMsg(message);
    if (!shows && !KernelMessage.isExecuteResultMsg(message)) return;
    const { data, metadata, transient } = message.content;
    if (data[SESSION] === undefined) return;
    takeNote(data[SESSION]);
    if (!shows || !transient?.display_id) return;
    const outputs = outputsWith(notebook, transient.display_id);
    if (outputs) keep(outputs, { data, metadata });
  });
}

/** The outputs among which this panel is. */
function outputsWith(notebook: NotebookPanel, panel: string): Outputs | undefined {
  for (const cell of notebook.content.model?.cells ?? []) {
    if (cell.type !== 'code') continue;
    const { outputs } = cell as ICodeCellModel;
    if (find(outputs, LIVE, live => modelOf(live) === panel) >= 0) return outputs;
  }
  return undefined;
}

/** Adds the bundle, or puts it in the place of an older one; the same one changes nothing. */
function keep(outputs: Outputs, bundle: Pick<KernelMessage.IDisplayDataMsg['content'], 'data' | 'metadata'>): void {
  const output = { output_type: 'display_data' as const, ...bundle };
  const at = find(outputs, SESSION, () => true);
  if (at < 0) outputs.add(output);
  else if (!JSONExt.deepEqual(bundleOf(outputs, at)[SESSION] ?? null, bundle.data[SESSION] ?? null))
    outputs.set(at, output);
}

function find(outputs: Outputs, type: string, suits: (data: PartialJSONValue) => boolean): number {
  for (let at = 0; at < outputs.length; at++) {
    const data = bundleOf(outputs, at)[type];
    if (data !== undefined && suits(data)) return at;
  }
  return -1;
}

function bundleOf(outputs: Outputs, at: number): PartialJSONObject {
  return (outputs.get(at).toJSON().data ?? {}) as PartialJSONObject;
}

function modelOf(live: PartialJSONValue): unknown {
  return typeof live === 'object' && live !== null && 'model_id' in live ? live.model_id : undefined;
}
