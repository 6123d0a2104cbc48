/** What the parts of the extension share: the objects of JupyterLab, command ids, the icon. */
import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { LabIcon } from '@jupyterlab/ui-components';
import { Token } from '@lumino/coreutils';
import type { AllSessions } from './live_sessions';
import type { ViewOptions } from './live_view';
import type { CellSession } from './outputs';
import type { Settings } from './settings';
import type { SidePanel } from './side_panel';

export interface ExtensionContext {
  readonly app: JupyterFrontEnd;
  readonly notebooks: INotebookTracker;
  readonly sessions: AllSessions;
  readonly settings: Settings;
  readonly trans: TranslationBundle;
  readonly viewOptions: ViewOptions;
  readonly side: SidePanel;
  /** Null in front ends that show one document, such as Notebook 7. */
  readonly shell: ILabShell | null;
}

export const IExtensionContext = new Token<ExtensionContext>('jupyter-toolcall:ICore', 'The tool-calling sessions of the open notebooks.');

export const SHOW_COMMAND = 'jupyter-toolcall:show-panel';
export const OPEN_TAB_COMMAND = 'jupyter-toolcall:open-tab';
export const NEXT_COMMAND = 'jupyter-toolcall:next-waiting';

/** A session and its notebook. */
export interface NotebookSession {
  readonly notebook: NotebookPanel;
  readonly session: CellSession;
}

const svgstr = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 22 22">
  <g class="jp-icon3" fill="none" stroke="#616161" stroke-width="1.6" stroke-linejoin="round">
    <rect x="2.5" y="7.500" width="6" height="6" rx="1.500"/>
    <rect x="13.500" y="3" width="6" height="6" rx="1.500"/>
    <rect x="13.500" y="13" width="6" height="6" rx="1.500" stroke-dasharray="2 1.500"/>
    <path d="M8.500 10.500h2.200M13.500 6h-1.300q-1.500 0-1.500 1.500v6.500q0 2 1.500 2h1.300"/>
  </g>
</svg>`;

export const callsIcon = new LabIcon({ name: 'jupyter-toolcall:calls', svgstr });
