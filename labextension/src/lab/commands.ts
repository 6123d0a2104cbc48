/** The commands of the palette, the menus, the shortcuts and the context menu. */
import { Clipboard, Notification } from '@jupyterlab/apputils';
import { type INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { ShortcutAction } from '../view';
import { canStep } from '../view/head';
import { callsIcon, type ExtensionContext, NEXT_COMMAND, type NotebookSession, OPEN_TAB_COMMAND, SHOW_COMMAND } from './context';
import type { LiveSession } from './live_sessions';
import { sessionOf } from './outputs';
import type { SessionPlace } from './tab';
import { focusedView, isCardVisible, showLive, showNextWaiting, waitingCount } from './visibility';

const OPEN_SIDE = 'jupyter-toolcall:open-in-side';
const INSERT = 'jupyter-toolcall:insert-cell';
const FOCUS = 'jupyter-toolcall:focus-panel';
const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;
const PLACE_ARGUMENTS = {
  args: { type: 'object', properties: { path: { type: 'string' }, cell: { type: 'string' } } }
} as const;

type Command = Omit<CommandRegistry.ICommandOptions, 'describedBy' | 'execute'> & {
  readonly execute: (args: ReadonlyPartialJSONObject) => unknown;
};

interface SessionTabs {
  open(place: SessionPlace): void;
}

/** The session that the context menu was opened on: that of the cell, else the newest of the current notebook. */
function sessionAtMenu({ app, notebooks, sessions }: ExtensionContext): NotebookSession | null {
  const notebook = notebooks.currentWidget;
  if (!notebook) return null;
  const node = app.contextMenuHitTest(node => node.classList.contains('jp-Cell'));
  const cell = notebook.content.widgets.find(widget => widget.node === node)?.model;
  const session = (cell && sessionOf(cell)) ?? sessions.of(notebook).newest();
  return session && { notebook, session };
}

type Add = (id: string, command: Command, describedBy?: CommandRegistry.ICommandOptions['describedBy']) => void;

/** Adds all commands; returns the ids of those that belong in the command palette. */
export function addCommands(context: ExtensionContext, tabs: SessionTabs | null): readonly string[] {
  const added: string[] = [];
  const add: Add = (id, command, describedBy = NO_ARGUMENTS) => {
    context.app.commands.addCommand(id, { ...command, describedBy });
    added.push(id);
  };
  addPanelCommands(context, add);
  addDecisionCommands(context, add);
  addSideCommand(context, add);
  addCopyCommand(context, add);
  if (tabs) addTabCommand(context, tabs, add);
  return added;
}

function addPanelCommands(context: ExtensionContext, add: Add): void {
  const { app, notebooks, side, trans } = context;
  add(SHOW_COMMAND, {
    label: trans.__('Tool Calls'),
    caption: trans.__('Show the tool calls of this notebook in the side panel'),
    icon: args => (args.toolbar ? callsIcon : undefined),
    execute: () => app.shell.activateById(side.id)
  });
  add(INSERT, {
    label: trans.__('Insert %1 Cell', '%%toolchat'),
    caption: trans.__('Insert a cell that starts a tool-calling session'),
    isEnabled: () => notebooks.currentWidget !== null,
    execute: () => insertCell(notebooks)
  });
  add(FOCUS, {
    label: trans.__('Focus the Tool Calls Panel'),
    caption: trans.__('Move the keyboard focus to the visible panel'),
    execute: () => focus(context)
  });
}

function addDecisionCommands(context: ExtensionContext, add: Add): void {
  const { sessions, trans } = context;
  const isEnabled = (): boolean => sessions.all().some(waitingCount);
  const decide = (action: ShortcutAction, label: string, caption: string): void =>
    add(`jupyter-toolcall:${action}`, { label, caption, isEnabled, execute: () => decideVisible(context, action) });
  decide('approve', trans.__('Approve the Waiting Call'), trans.__('Run the waiting tool call with the arguments shown'));
  decide('edit', trans.__('Edit the Waiting Call'), trans.__('Change the arguments of the waiting tool call'));
  decide('reject', trans.__('Reject the Waiting Call'), trans.__('Do not run the waiting tool call, and give the model a reason'));
  const canStepNow = (live = focusedView()?.live): boolean => live?.state === 'alive' && canStep(live.model);
  const step = (action: ShortcutAction, label: string, caption: string): void =>
    add(`jupyter-toolcall:${action}`, { label, caption, isEnabled: () => canStepNow(), execute: () => focusedView()?.act(action) });
  step('step', trans.__('Take One Step'), trans.__('Take the next step of the visible session; after its end, show the next call'));
  step('step-back', trans.__('Go One Step Back'), trans.__('Show the call before, in a session that has ended'));
  add(NEXT_COMMAND, {
    label: trans.__('Go to the Next Waiting Call'),
    caption: trans.__('Go to the next call that waits for you, in any open notebook'),
    isEnabled,
    execute: () => showNextWaiting(context)
  });
}

/** Decides on the waiting call if its card is visible, else shows the card first. */
async function decideVisible(context: ExtensionContext, action: ShortcutAction): Promise<void> {
  const view = focusedView();
  if (!view || !waitingCount(view.live)) await showNextWaiting(context);
  else view.act(isCardVisible(view) ? action : 'focus');
}

function addSideCommand(context: ExtensionContext, add: Add): void {
  const { app, side, trans } = context;
  add(OPEN_SIDE, {
    label: trans.__('Show Tool Calls at the Side'),
    isVisible: () => sessionAtMenu(context) !== null,
    execute: () => {
      const session = sessionAtMenu(context);
      if (!session) return;
      side.choose(session.session.cell);
      app.shell.activateById(side.id);
    }
  });
}

function addCopyCommand(context: ExtensionContext, add: Add): void {
  const { trans } = context;
  const formatOf = ({ to }: ReadonlyPartialJSONObject): CopyFormat => (isCopyFormat(to) ? to : 'dot');
  const command: Command = {
    label: args => (isCopyFormat(args.to) ? trans.__('Copy as %1', COPY_FORMATS[args.to]) : trans.__('Copy the Session as DOT')),
    isVisible: () => sessionAtMenu(context) !== null,
    isEnabled: args => {
      const session = sessionAtMenu(context);
      return session !== null && canCopy(context, session, formatOf(args));
    },
    execute: args => {
      const session = sessionAtMenu(context);
      return session && copySession(context, session, formatOf(args));
    }
  };
  add(COPY_COMMAND, command, { args: { type: 'object', properties: { to: { type: 'string' } } } });
}

function addTabCommand(context: ExtensionContext, tabs: SessionTabs, add: Add): void {
  const command: Command = {
    label: context.trans.__('Open Tool Calls in a Tab'),
    isVisible: () => sessionAtMenu(context) !== null,
    execute: args => {
      const session = typeof args.cell === 'string' ? null : sessionAtMenu(context);
      const place = session ? { path: session.notebook.context.path, cell: session.session.cell } : args;
      if (typeof place.path === 'string' && typeof place.cell === 'string') tabs.open({ path: place.path, cell: place.cell });
    }
  };
  add(OPEN_TAB_COMMAND, command, PLACE_ARGUMENTS);
}

/** Focuses the visible view, else a waiting session, else the side panel. */
async function focus(context: ExtensionContext): Promise<void> {
  const view = focusedView();
  const [live] = context.sessions.all().filter(waitingCount);
  if (view) view.act('focus');
  else if (live) await showLive(context, live);
  else {
    context.app.shell.activateById(context.side.id);
    context.side.focus();
  }
}

/** Inserts a cell below the active one, with the cursor at the options. */
async function insertCell(notebooks: INotebookTracker): Promise<void> {
  const notebook = notebooks.currentWidget?.content;
  if (!notebook) return;
  NotebookActions.insertBelow(notebook);
  const [options, prompt] = ['%%toolchat -t ', '\n'];
  const cell = notebook.activeCell;
  cell?.model.sharedModel.setSource(options + prompt);
  notebook.mode = 'edit';
  await cell?.ready;
  cell?.editor?.setCursorPosition({ line: 0, column: options.length });
}

const COPY_COMMAND = 'jupyter-toolcall:copy';

/** The formats that can be copied, with their menu texts. */
const COPY_FORMATS = { py: 'Python', dot: 'DOT', svg: 'SVG', json: 'JSON' } as const;
type CopyFormat = keyof typeof COPY_FORMATS;

const isCopyFormat = (value: unknown): value is CopyFormat => typeof value === 'string' && value in COPY_FORMATS;

function liveSessionOf({ sessions }: ExtensionContext, { notebook, session }: NotebookSession): LiveSession | null {
  const live = session.live && sessions.of(notebook).session(session.live.panel);
  return live?.state === 'alive' ? live : null;
}

function savedSvg({ session: found }: NotebookSession): string {
  const svg = found.saved?.['image/svg+xml'];
  return Array.isArray(svg) ? svg.join('') : typeof svg === 'string' ? svg : '';
}

/** Whether the session is available in this format: live, or saved as SVG. */
const canCopy = (context: ExtensionContext, session: NotebookSession, to: CopyFormat): boolean =>
  liveSessionOf(context, session) !== null || (to === 'svg' && savedSvg(session) !== '');

/** Copies the session to the clipboard; shows a notification with the result. */
async function copySession(context: ExtensionContext, session: NotebookSession, to: CopyFormat): Promise<void> {
  const { trans } = context;
  try {
    Clipboard.copyToSystem((await liveSessionOf(context, session)?.exported(to)) ?? savedSvg(session));
    Notification.success(trans.__('Copied the session as %1.', COPY_FORMATS[to]), { autoClose: 3000 });
  } catch (error) {
    Notification.error(error instanceof Error ? error.message : String(error));
  }
}
