/**
 * The live panel's place in a cell. The kernel publishes the panel twice in one bundle: as a
 * widget, for every front end, and under LIVE, for ours. Drawn from LIVE it stands in a slot
 * that the style sheet can tell apart, so that of panel and saved session one is on show:
 * the panel while its kernel lives, the saved session otherwise (see style/one-view.css).
 */
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { Kernel } from '@jupyterlab/services';
import { Widget } from '@lumino/widgets';

export const LIVE = 'application/vnd.jupyter-toolcall.live+json';
const WIDGET_VIEW = 'application/vnd.jupyter.widget-view+json';
/** Before the rank of widgets, which is -10. */
const RANK = -20;
/** States of a kernel that end what lived in it. */
const ENDS: readonly Kernel.Status[] = ['restarting', 'autorestarting', 'terminating', 'dead'];

/** From now on this notebook draws live panels in slots. */
export function addLiveSlots(notebook: NotebookPanel): void {
  const createRenderer = (): IRenderMime.IRenderer => liveSlot(notebook);
  notebook.content.rendermime.addFactory({ safe: true, mimeTypes: [LIVE], createRenderer }, RANK);
}

/**
 * The renderer of ipywidgets itself, which gets its manager later and has to be found by it:
 * marked as a slot, as a lost one when the kernel ends, and empty for good where the output
 * is not trusted.
 */
export function liveSlot({ content, sessionContext }: NotebookPanel): IRenderMime.IRenderer {
  if (!content.rendermime.getFactory(WIDGET_VIEW)) return new Empty();
  const slot = content.rendermime.createRenderer(WIDGET_VIEW);
  const render = slot.renderModel.bind(slot);
  slot.renderModel = async model => {
    slot.removeClass('jtc-lost');
    if (model.trusted) await render(model);
  };
  const onStatus = (_: unknown, status: Kernel.Status): void => {
    if (ENDS.includes(status)) slot.addClass('jtc-lost');
  };
  const onKernel = (_: unknown, { oldValue }: { oldValue: unknown }): void => {
    if (oldValue) slot.addClass('jtc-lost');
  };
  sessionContext.statusChanged.connect(onStatus);
  sessionContext.kernelChanged.connect(onKernel);
  slot.disposed.connect(() => {
    sessionContext.statusChanged.disconnect(onStatus);
    sessionContext.kernelChanged.disconnect(onKernel);
  });
  slot.addClass('jtc-live');
  return slot;
}

/** What a slot is where ipywidgets is not installed. */
class Empty extends Widget implements IRenderMime.IRenderer {
  constructor() {
    super();
    this.addClass('jtc-live');
  }

  async renderModel(): Promise<void> {
    return undefined;
  }
}
