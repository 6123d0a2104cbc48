/**
 * The live panel's place in a cell. The kernel publishes the panel twice in one bundle: as a
 * widget, for every front end, and under LIVE, for ours. Drawn from LIVE it stands in a slot
 * that the style sheet can tell apart, so that of panel and saved session one is on show:
 * the panel while its kernel lives, the saved session otherwise (see style/one-view.css).
 */
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Panel } from '@lumino/widgets';

export const LIVE = 'application/vnd.jupyter-toolcall.live+json';
const WIDGET_VIEW = 'application/vnd.jupyter.widget-view+json';
/** Before the rank of widgets, which is -10. */
const RANK = -20;

/** From now on this notebook draws live panels in slots. */
export function addLiveSlots(rendermime: IRenderMimeRegistry): void {
  const createRenderer = (): LiveSlot => new LiveSlot(rendermime);
  rendermime.addFactory({ safe: true, mimeTypes: [LIVE], createRenderer }, RANK);
}

/** Holds the widget; stays empty where the output is not trusted or widgets are not installed. */
export class LiveSlot extends Panel implements IRenderMime.IRenderer {
  constructor(private readonly rendermime: IRenderMimeRegistry) {
    super();
    this.addClass('jtc-live');
  }

  /** Resolves when the widget is on show, or when its kernel is known to have lost it. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    for (const old of [...this.widgets]) old.dispose();
    if (!model.trusted || !this.rendermime.getFactory(WIDGET_VIEW)) return;
    const widget = this.rendermime.createRenderer(WIDGET_VIEW);
    this.addWidget(widget);
    await widget.renderModel(model);
  }
}
