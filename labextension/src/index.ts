/** The JupyterLab extension: the side panel and its commands, live slots, highlighting. */
import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker, NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { highlight } from './highlight';
import { keepSaved } from './keep';
import { addLiveSlots } from './live';
import { SidePanel } from './side';

const SHOW = 'jupyter-toolcall:show-panel';
const INSERT = 'jupyter-toolcall:insert-cell';
const APPROVE = 'jupyter-toolcall:approve';
const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

const slots: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-toolcall:slots',
  description: 'Shows one view of a session per cell: the live panel or the saved session.',
  autoStart: true,
  requires: [INotebookTracker],
  activate: (_app, notebooks: INotebookTracker) => {
    const follow = (notebook: NotebookPanel): void => {
      addLiveSlots(notebook);
      keepSaved(notebook);
    };
    notebooks.forEach(follow);
    notebooks.widgetAdded.connect((_, notebook) => follow(notebook));
  }
};

const panel: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-toolcall:plugin',
  description: 'The side panel with the session of the current notebook, and its commands.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ILayoutRestorer, ICommandPalette, ISettingRegistry, ITranslator],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    settings: ISettingRegistry | null,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load('jupyter_toolcall');
    const side = new SidePanel(trans);
    side.id = 'jupyter-toolcall-side';
    side.title.label = trans.__('Tool calls');
    side.title.caption = trans.__('Tool calls of the current notebook');
    app.shell.add(side, 'right', { rank: 600 });
    restorer?.add(side, side.id);
    notebooks.currentChanged.connect((_, notebook) => side.follow(notebook));
    side.follow(notebooks.currentWidget);

    app.commands.addCommand(SHOW, {
      label: trans.__('Tool Calls'),
      caption: trans.__('Show the tool calls of this notebook at the side'),
      describedBy: NO_ARGUMENTS,
      execute: () => app.shell.activateById(side.id)
    });
    app.commands.addCommand(INSERT, {
      label: trans.__('Insert %1 Cell', '%%toolchat'),
      caption: trans.__('Insert a cell that starts a tool-calling session'),
      describedBy: NO_ARGUMENTS,
      isEnabled: () => notebooks.currentWidget !== null,
      execute: () => insertCell(notebooks)
    });
    app.commands.addCommand(APPROVE, {
      label: trans.__('Approve the Waiting Call'),
      caption: trans.__('Let the tool call run that waits for you in this notebook'),
      describedBy: NO_ARGUMENTS,
      isEnabled: () => approveButton(notebooks) !== undefined,
      execute: () => approveButton(notebooks)?.click()
    });
    for (const command of [SHOW, INSERT, APPROVE])
      palette?.addItem({ command, category: trans.__('Tool calling') });

    void settings?.load(panel.id).then(async setting => {
      await app.restored;
      if (setting.get('openAtStart').composite) app.shell.activateById(side.id);
    });
  }
};

/** The button of the live panel: what is approved is what a person can see there. */
function approveButton(notebooks: INotebookTracker): HTMLButtonElement | undefined {
  const live = notebooks.currentWidget?.node.querySelectorAll('.jtc-live:not(.jtc-lost) button');
  return [...(live ?? [])]
    .filter(button => button instanceof HTMLButtonElement)
    .find(button => button.textContent?.trim() === 'Approve' && !button.disabled);
}

/** Below the active cell, with the cursor where the options go. */
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

export default [slots, panel, highlight];
