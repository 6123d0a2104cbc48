/** The panel as an anywidget: receives notices, sends commands. */
import type { RenderProps } from '@anywidget/types';
import { setCatalogue } from './catalogue';
import type { Command } from './generated/contract';
import { PanelView } from './view';

const PATIENCE = 400;

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
  let hasNotice = false;
  setCatalogue(model.get('texts'));
  const kernel = kernelOf(model.widget_manager);
  // A kernel that runs a tool reads no messages; an interrupt stops it at once.
  const send = (command: Command): void =>
    command.type === 'stop' && view.isBusy && kernel ? void kernel.interrupt() : model.send(command);
  const view = new PanelView(el, { live: true, send });
  // `hello` can get lost while the kernel is busy: it is repeated until a notice arrives.
  const hello = (): void => (hasNotice ? clearInterval(timer) : send({ type: 'hello' }));
  const timer = setInterval(hello, PATIENCE);

  function hear(message: unknown): void {
    hasNotice = true;
    view.update(message);
  }

  model.on('msg:custom', hear);
  hello();
  return () => {
    clearInterval(timer);
    model.off('msg:custom', hear);
    view.dispose();
  };
}

export default { render };
