/** The view in an anywidget: how notices come, and commands go. */
import type { RenderProps } from '@anywidget/types';
import type { Command, Notice } from './generated/contract';
import { PanelView } from './view';

const PATIENCE = 400;

interface Kernel {
  interrupt(): Promise<void>;
}

/** The kernel behind a widget manager, where the front end's manager has it at hand. */
function kernelOf(manager: unknown): Kernel | null {
  const found: unknown = typeof manager === 'object' && manager !== null && 'kernel' in manager ? manager.kernel : null;
  const able = typeof found === 'object' && found !== null && 'interrupt' in found && typeof found.interrupt === 'function';
  return able ? (found as Kernel) : null;
}

/** Draws the view of one model into `el`; gives back what takes it away. */
function render({ model, el }: RenderProps): () => void {
  let came = false;
  let busy = false;
  const kernel = kernelOf(model.widget_manager);
  // A kernel that runs a tool hears no message: its interrupt is what stops it at once.
  const send = (command: Command): void =>
    command.type === 'stop' && busy && kernel ? void kernel.interrupt() : model.send(command);
  const view = new PanelView(el, { live: true, send });
  // A first word can get lost while the kernel is busy: it is repeated until something comes.
  const hello = (): void => (came ? clearInterval(timer) : send({ type: 'hello' }));
  const timer = setInterval(hello, PATIENCE);

  function hear(notice: Notice): void {
    came = true;
    const phase = 'rows' in notice ? notice.rows.session?.[0]?.phase : undefined;
    if (phase) busy = phase === 'running' || phase === 'thinking';
    view.update(notice);
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
