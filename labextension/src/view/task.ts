/** The exercise that a session is for: its title, how it stands, and the button that checks it. */
import { h, once, prose } from './dom';
import { button, icon } from './icons';
import type { Acts, Look } from './look';
import { block, line } from './text';

export interface TaskBar {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

export function task(acts: Acts): TaskBar {
  const sign = h('span', { class: 'sign' });
  const title = h('span', { class: 'strong' });
  const says = h('div', { class: 'says', role: 'status', 'aria-label': 'Exercise' });
  const check = button('Check', { key: 'check', onclick: () => acts.send({ type: 'check' }) });
  const element = h('div', { class: 'tc-task', hidden: true }, sign, h('div', {}, title, says), check);
  let view: Look;

  const draw = once(() => {
    const { task: now } = view.model.teaching;
    element.hidden = !now;
    if (!now) return;
    sign.replaceChildren(icon(now.passed ? 'done' : 'ready'));
    title.textContent = `${now.passed ? 'Passed' : 'Exercise'}: ${line(now.title, 120)}`;
    const told = block(now.says, 4000).split('\n').filter(Boolean);
    says.replaceChildren(...told.map(text => h('p', {}, ...prose(text))));
    check.hidden = !view.live;
    check.disabled = view.ui.sent;
  });

  return {
    element,
    paint(next) {
      view = next;
      draw(next.model.teaching.task, next.live, next.ui.sent);
    }
  };
}
