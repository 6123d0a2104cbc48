/** What the model says last: while it speaks, and when it is done. */
import { h, once } from './dom';
import type { Look } from './look';
import { block } from './text';
import { trans } from './words';

export function said(): { readonly element: HTMLElement; paint(view: Look): void } {
  const text = h('p');
  const element = h(
    'div',
    { class: 'tc-said', role: 'group', 'aria-label': trans.__('What the model says'), tabindex: 0 },
    h('span', { class: 'who' }, trans.__('Model')),
    text
  );
  let view: Look;
  const draw = once(() => {
    const { session } = view.model;
    element.hidden =
      view.past ||
      session.text === '' ||
      session.phase === 'waiting' ||
      view.ui.tab === 'Messages' ||
      view.ui.tab === 'Compare';
    text.textContent = block(session.text, 6000);
    if (session.phase === 'thinking') element.scrollTop = element.scrollHeight;
  });
  return {
    element,
    paint(next) {
      view = next;
      draw(next.model.session, next.past, next.ui.tab);
    }
  };
}
