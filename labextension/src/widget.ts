/** The view in an anywidget: how notices come, and commands go. */
import type { RenderProps } from '@anywidget/types';
import type { Command, Notice } from './generated/contract';
import { mount } from './view';

const PATIENCE = 400;

/** Draws the view of one model into `el`; gives back what takes it away. */
function render({ model, el }: RenderProps): () => void {
  let came = false;
  const send = (command: Command): void => model.send(command);
  const view = mount(el, { live: true, send });
  // A first word can get lost while the kernel is busy: it is repeated until something comes.
  const hello = (): void => (came ? clearInterval(timer) : send({ type: 'hello' }));
  const timer = setInterval(hello, PATIENCE);

  function hear(notice: Notice): void {
    came = true;
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
