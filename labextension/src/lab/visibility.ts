/** Which sessions the person can see, and how a session is brought into view. */
import type { NotebookPanel } from '@jupyterlab/notebook';
import { firstWaiting } from '../view/view_state';
import type { ExtensionContext } from './context';
import type { LiveSession } from './live_sessions';
import { type LiveView, openViews } from './live_view';
import { sessionWith } from './outputs';

/** Pixels of an element that must be visible. */
const LEAST_PIXELS = 24;

/** Whether enough of an element is on the screen, also inside scrolled parents. */
function isVisible(element: Element | null | undefined): boolean {
  if (!element?.isConnected || document.visibilityState === 'hidden') return false;
  let { top, bottom, left, right } = element.getBoundingClientRect();
  const enough = Math.min(LEAST_PIXELS, bottom - top);
  // The body's own box may be empty, so it is skipped.
  for (let around = element.parentElement; around && around !== document.body; around = around.parentElement) {
    if (getComputedStyle(around).overflowY === 'visible') continue;
    const box = around.getBoundingClientRect();
    [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
  }
  [top, bottom] = [Math.max(top, 0), Math.min(bottom, window.innerHeight)];
  return enough > 0 && bottom - top >= enough && right > left;
}

/** The number of decisions that a session waits for. */
export function waitingCount({ state, model }: LiveSession): number {
  if (state !== 'alive' || model.session.phase !== 'waiting') return 0;
  const open = model.session.pending.filter(id => model.calls.has(id)).length;
  return firstWaiting(model) ? open : (model.session.yours ?? model.session.budget) ? 1 : 0;
}

/** The view for keyboard shortcuts: the focused one, else a visible one with a waiting call, else any visible one. */
export function focusedView(): LiveView | null {
  const visible = openViews().filter(view => view.isVisible && isVisible(view.node));
  const held = visible.find(view => view.node.contains(document.activeElement));
  return held ?? visible.find(view => waitingCount(view.live)) ?? visible[0] ?? null;
}

/** Whether the card of the waiting call is visible. */
export const isCardVisible = (view: LiveView): boolean => isVisible(view.node.querySelector('.tc-card'));

/** Activates the notebook, and the cell with this id, and scrolls to it. */
export async function showCell({ app }: Pick<ExtensionContext, 'app'>, notebook: NotebookPanel, cell: string): Promise<void> {
  const { content } = notebook;
  const index = content.widgets.findIndex(({ model }) => model.id === cell);
  const widget = content.widgets[index];
  app.shell.activateById(notebook.id);
  if (!widget) return;
  content.activeCellIndex = index;
  content.mode = 'command';
  await content.scrollToCell(widget);
}

const nextFrame = (): Promise<void> => new Promise(resolve => requestAnimationFrame(() => resolve()));

/** Focuses the waiting call of a session: in its cell, or in the side panel if the cell hides it or no longer has it. */
export async function showLive(context: ExtensionContext, live: LiveSession): Promise<void> {
  const { notebook } = live.sessions;
  const cell = (sessionWith(notebook.content.model, live.panel) ?? live.listed).cell;
  await showCell(context, notebook, cell);
  await nextFrame();
  const inCell = openViews().find(view => view.live === live && view.isVisible && notebook.node.contains(view.node));
  if (inCell) return inCell.act('focus');
  context.side.focusCall(live, cell);
  context.app.shell.activateById(context.side.id);
}

/** Shows the next waiting session, from the focused one on. */
export async function showNextWaiting(context: ExtensionContext): Promise<void> {
  const all = context.sessions.all().filter(waitingCount);
  const held = focusedView();
  const at = held?.node.contains(document.activeElement) ? all.indexOf(held.live) : -1;
  const next = all[(at + 1) % all.length];
  if (next) await showLive(context, next);
}

/** Whether the session or its cell is visible. */
export function isSessionVisible(live: LiveSession): boolean {
  const { notebook } = live.sessions;
  const cell = notebook.isVisible ? sessionWith(notebook.content.model, live.panel)?.cell : null;
  const widget = notebook.content.widgets.find(({ model }) => model.id === cell);
  return isVisible(widget?.node) || openViews().some(view => view.live === live && view.isVisible && isVisible(view.node));
}
