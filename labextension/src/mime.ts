/** The door for saved sessions: JupyterLab and Notebook draw our MIME type with this. */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { SavedView, SESSION } from './saved';

const extension: IRenderMime.IExtension = {
  id: 'jupyter-toolcall:mime',
  description: 'Shows the tool-calling sessions that a notebook keeps.',
  rendererFactory: {
    safe: true,
    mimeTypes: [SESSION],
    defaultRank: 40,
    createRenderer: () => new SavedView()
  },
  dataType: 'json'
};

export default extension;
