/** Tells when a notebook's cells and outputs have changed, as far as a person would notice. */
import { ActivityMonitor } from '@jupyterlab/coreutils';
import type { INotebookModel, NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';

const REST = 200;

/** Calls `changed` once the notebook is read, and after each burst of changes, until it is disposed of. */
export function watch(notebook: NotebookPanel, changed: () => void): IDisposable {
  let monitor: ActivityMonitor<INotebookModel, void> | null = null;
  let over = false;
  const begin = (): void => {
    const { model } = notebook.content;
    if (over || !model) return;
    monitor = new ActivityMonitor({ signal: model.contentChanged, timeout: REST });
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
