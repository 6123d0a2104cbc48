/** What the parts of the extension share. */
import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Token } from '@lumino/coreutils';
import type { Found } from './found';
import type { Manners } from './live';
import type { Everywhere } from './sessions';
import type { Settings } from './settings';
import type { SidePanel } from './side';

export interface Core {
  readonly app: JupyterFrontEnd;
  readonly notebooks: INotebookTracker;
  readonly open: Everywhere;
  readonly settings: Settings;
  readonly trans: TranslationBundle;
  readonly manners: Manners;
  readonly side: SidePanel;
  /** Null where the front end has room for one document alone. */
  readonly shell: ILabShell | null;
}

export const ICore = new Token<Core>('jupyter-toolcall:ICore', 'The tool-calling sessions of the open notebooks.');

export const SHOW = 'jupyter-toolcall:show-panel';
export const OPEN_TAB = 'jupyter-toolcall:open-tab';
export const NEXT = 'jupyter-toolcall:next-waiting';

/** A session, and the notebook that it is in. */
export interface Place {
  readonly notebook: NotebookPanel;
  readonly found: Found;
}
