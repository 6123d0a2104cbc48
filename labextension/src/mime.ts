/** The renderer of saved sessions for JupyterLab and Notebook. */
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { SavedView, SESSION_TYPE } from './saved_view';

const extension: IRenderMime.IExtension = {
  id: 'jupyter-toolcall:mime',
  description: 'Shows the tool-calling sessions that are saved in a notebook.',
  rendererFactory: {
    safe: true,
    mimeTypes: [SESSION_TYPE],
    defaultRank: 40,
    createRenderer: () => new SavedView()
  },
  dataType: 'json'
};

export default extension;
