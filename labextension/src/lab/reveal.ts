/** Brings a session before the person, wherever it is. */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { ICodeCellModel } from '@jupyterlab/cells';
import type { Core } from './core';
import { cellOf } from './found';
import { views } from './live';
import type { Live } from './sessions';
import { atHand, inSight, waiting } from './sight';

/** Resolves when the cell is active and in sight. */
export async function showCell({ app }: Pick<Core, 'app'>, notebook: NotebookPanel, cell: ICodeCellModel): Promise<void> {
  const { content } = notebook;
  const index = content.widgets.findIndex(widget => widget.model === cell);
  const widget = content.widgets[index];
  app.shell.activateById(notebook.id);
  if (!widget) return;
  content.activeCellIndex = index;
  content.mode = 'command';
  await content.scrollToCell(widget);
}

const picture = (): Promise<void> => new Promise(resolve => requestAnimationFrame(() => resolve()));

/** Resolves with the keyboard at what the session asks: in its cell, or at the side where the cell hides it. */
export async function showLive(core: Core, live: Live): Promise<void> {
  const { notebook } = live.sessions;
  const model = notebook.content.model;
  const cell = model && cellOf(model, live.panel);
  if (!cell) return;
  await showCell(core, notebook, cell);
  await picture();
  const inCell = views().find(view => view.live === live && view.isVisible && notebook.node.contains(view.node));
  if (inCell) return inCell.act('focus');
  core.side.choose(cell.id);
  core.app.shell.activateById(core.side.id);
  await picture();
  views().find(view => view.live === live && view.isVisible)?.act('focus');
}

/** Goes to the next session that waits; to the first where none is at hand. */
export async function showNext(core: Core): Promise<void> {
  const all = core.open.all().filter(waiting);
  const held = atHand();
  const at = held?.node.contains(document.activeElement) ? all.indexOf(held.live) : -1;
  const next = all[(at + 1) % all.length];
  if (next) await showLive(core, next);
}

/** Whether the person sees the session, or the cell that it runs in. */
export function seen(live: Live): boolean {
  const { notebook } = live.sessions;
  const model = notebook.content.model;
  const cell = model && cellOf(model, live.panel);
  const widget = notebook.isVisible ? notebook.content.widgets.find(one => one.model === cell) : undefined;
  return inSight(widget?.node) || views().some(view => view.live === live && view.isVisible && inSight(view.node));
}
