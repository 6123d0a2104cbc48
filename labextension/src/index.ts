/** The JupyterLab extension: its plugins and the services that each needs. */
import { ILabShell, ILayoutRestorer, type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Dialog, ICommandPalette, showDialog } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { INotebookTracker, NotebookActions, type NotebookPanel } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { cellHighlighting } from './lab/cell_highlighting';
import { addCommands } from './lab/commands';
import { callsIcon, type ExtensionContext, IExtensionContext } from './lab/context';
import { AllSessions } from './lab/live_sessions';
import { addLiveSlots, type ViewOptions } from './lab/live_view';
import { addStatus, addTitle, Announcements } from './lab/notifications';
import { keepPanel, keepSavedSessions } from './lab/outputs';
import { Settings } from './lab/settings';
import { openBySettings, SidePanel } from './lab/side_panel';
import { addTabs } from './lab/tab';
import { openTutorial } from './lab/tutorial';
import { showCell } from './lab/visibility';
import { h } from './view/dom';
import { oneLine, setLanguage } from './view/text';

const FIRST = 'jupyter-toolcall:first-session';

/** Its id is the name of the settings schema. */
const panel: JupyterFrontEndPlugin<ExtensionContext> = {
  id: 'jupyter-toolcall:plugin',
  description: 'The sessions of the open notebooks, live panels in their cells, and the side panel.',
  autoStart: true,
  provides: IExtensionContext,
  requires: [INotebookTracker],
  optional: [ILayoutRestorer, ISettingRegistry, ITranslator, ILabShell],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    restorer: ILayoutRestorer | null,
    registry: ISettingRegistry | null,
    translator: ITranslator | null,
    shell: ILabShell | null
  ): ExtensionContext => {
    const trans = (translator ?? nullTranslator).load('jupyter_toolcall');
    setLanguage((translator ?? nullTranslator).languageCode, catalogueOf(trans));
    const settings = new Settings(registry, panel.id);
    const sessions = new AllSessions(notebooks);
    const viewOptions = viewOptionsOf(settings, trans);
    const follow = (notebook: NotebookPanel): void => {
      addLiveSlots(notebook, sessions, viewOptions);
      keepSavedSessions(notebook);
    };
    notebooks.forEach(follow);
    notebooks.widgetAdded.connect((_, notebook) => follow(notebook));
    NotebookActions.executionScheduled.connect((_, { cell }) => {
      if (sessions.all().some(live => live.isOpen && live.listed.cell === cell.model.id)) keepPanel(cell.model);
    });
    const side = new SidePanel(sessions, viewOptions, trans, {
      showCell: (notebook, { cell }) => void showCell({ app }, notebook, cell),
      ...(shell && {
        openTab: (notebook, { cell }) => {
          void app.commands.execute('jupyter-toolcall:open-tab', { path: notebook.context.path, cell });
        }
      })
    });
    side.id = 'jupyter-toolcall-side';
    side.title.icon = callsIcon;
    side.title.caption = trans.__('Tool calls of the current notebook');
    app.shell.add(side, 'right', { rank: 600 });
    restorer?.add(side, side.id);
    notebooks.currentChanged.connect((_, notebook) => side.follow(notebook));
    side.follow(notebooks.currentWidget);
    return { app, notebooks, sessions, settings, trans, viewOptions, side, shell };
  }
};

const commands: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-toolcall:commands',
  description: 'Commands for the tool-calling sessions, and tabs for them.',
  autoStart: true,
  requires: [IExtensionContext],
  optional: [ICommandPalette, ILayoutRestorer],
  activate: (_app, context: ExtensionContext, palette: ICommandPalette | null, restorer: ILayoutRestorer | null) => {
    const tabs = context.shell ? addTabs(context, restorer) : null;
    const category = context.trans.__('Tool calling');
    for (const command of addCommands(context, tabs)) palette?.addItem({ command, category });
    void openBySettings(context);
  }
};

const notices: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-toolcall:notices',
  description: 'Announces waiting tool calls: to screen readers, in notifications, in the status bar.',
  autoStart: true,
  requires: [IExtensionContext],
  optional: [IStatusBar],
  activate: (_app, context: ExtensionContext, bar: IStatusBar | null) => {
    new Announcements(context);
    addTitle(context);
    if (bar) addStatus(context, bar);
  }
};

const launcher: JupyterFrontEndPlugin<void> = {
  id: 'jupyter-toolcall:launcher',
  description: 'A launcher card for the tutorial notebook, which works offline.',
  autoStart: true,
  requires: [IExtensionContext],
  optional: [ILauncher, ICommandPalette],
  activate: (app, { trans }: ExtensionContext, cards: ILauncher | null, palette: ICommandPalette | null) => {
    const category = trans.__('Other');
    app.commands.addCommand(FIRST, {
      label: args => (args.isPalette ? trans.__('New Tool Calls Tutorial') : trans.__('Tool Calls Tutorial')),
      caption: trans.__('Open a tutorial notebook that works offline'),
      icon: args => (args.isPalette ? undefined : callsIcon),
      describedBy: { args: { type: 'object', properties: { cwd: { type: 'string' }, isPalette: { type: 'boolean' } } } },
      execute: args => openTutorial(app, trans, typeof args.cwd === 'string' ? args.cwd : '')
    });
    cards?.add({ command: FIRST, category, rank: 5 });
    palette?.addItem({ command: FIRST, category: trans.__('Tool calling'), args: { isPalette: true } });
  }
};

/** The texts of a bundle with their placeholders, which the views fill in. */
function catalogueOf(trans: TranslationBundle): (text: string, many?: string, count?: number) => string | undefined {
  const places = ['%1', '%2', '%3', '%4', '%5'];
  return (text, many, count) => {
    // The bundle looks its texts up in a plain object.
    if (text in {}) return undefined;
    if (many === undefined) return trans.__(text, ...places);
    // A number that chooses the form, and stands in the text as its placeholder.
    const number = Object.assign(new Number(count), { toString: () => '%1' });
    return trans._n(text, many, number as number, ...places.slice(1));
  };
}

/** Options of all views of this page: who confirms `Approve all`, and who announces. */
function viewOptionsOf(settings: Settings, trans: TranslationBundle): ViewOptions {
  return {
    speaks: true,
    async confirm(calls) {
      if (!settings.now.confirmApproveAll) return true;
      const items = calls.map(call => h('li', {}, `${oneLine(call.tool, 60)}(${oneLine(call.what, 80)})`));
      const body = new Widget({ node: h('ul', 'jtc-calls', ...items) });
      const title = trans._n('Approve this call?', 'Approve all %1 calls?', calls.length);
      const buttons = [Dialog.cancelButton({ label: trans.__('Cancel') }), Dialog.okButton({ label: trans.__('Approve all') })];
      return (await showDialog({ title, body, buttons })).button.accept;
    }
  };
}

export default [panel, commands, notices, launcher, cellHighlighting];
