/** The panel as an anywidget: receives notices, sends commands. */
import type { RenderProps } from '@anywidget/types';
import type { Command } from './generated/contract';
import { PanelView } from './view';
import { hearKernel, setCatalogue } from './widget_kernel';

interface Kernel {
  interrupt(): Promise<void>;
}

/** The kernel of a widget manager; null if it has none. */
function kernelOf(manager: unknown): Kernel | null {
  const kernel: unknown = typeof manager === 'object' && manager !== null && 'kernel' in manager ? manager.kernel : null;
  const able = typeof kernel === 'object' && kernel !== null && 'interrupt' in kernel && typeof kernel.interrupt === 'function';
  return able ? (kernel as Kernel) : null;
}

/** Draws the panel of one model into `el`; returns its disposer. */
function render({ model, el }: RenderProps): () => void {
  setCatalogue(model.get('texts'));
  const kernel = kernelOf(model.widget_manager);
  // A kernel that runs a tool reads no messages; an interrupt stops it at once.
  const send = (command: Command): void =>
    command.type === 'stop' && view.isBusy && kernel ? void kernel.interrupt() : model.send(command);
  const view = new PanelView(el, { live: true, send });
  const stopHearing = hearKernel(model, () => send({ type: 'hello' }), message => view.update(message));
  return () => {
    stopHearing();
    view.dispose();
  };
}

export default { render };
