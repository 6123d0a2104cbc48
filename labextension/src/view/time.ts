/** The slider that takes the whole panel back to a step. */
import { h, once } from './dom';
import { button } from './icons';
import type { Acts, Look } from './look';
import { trans } from './words';

const FEW = 60;
let ids = 0;

export interface Time {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

export function time(acts: Acts): Time {
  const id = `tc-time${++ids}`;
  const ticks = h('div', { class: 'ticks' });
  const done = h('i', { class: 'done' });
  const slider = h('input', { id, type: 'range', 'aria-label': trans.__('Time'), min: 1, max: 1, step: 1 });
  const says = h('span');
  const back = button(trans.__('Back to now'), { look: 'ghost', onclick: () => acts.set({ at: null }) });
  const element = h(
    'div',
    { class: 'tc-time' },
    h('label', { for: id }, trans.__('Time')),
    h('div', { class: 'tc-track' }, ticks, done, slider),
    says,
    back
  );
  let view: Look;

  slider.addEventListener('input', () => {
    const at = Number(slider.value);
    acts.set({ at: at >= view.last ? null : at, chosen: null, form: null });
  });

  const draw = once(() => {
    const { last, at, past } = view;
    const share = last > 1 ? (100 * (at - 1)) / (last - 1) : 0;
    slider.max = String(Math.max(1, last));
    slider.value = String(Math.max(1, at));
    // One step is no way to slide.
    element.hidden = last < 2;
    const text = past ? trans.__('step %1 of %2', at, last) : last ? trans.__('now, step %1', last) : trans.__('now');
    slider.setAttribute('aria-valuetext', text);
    says.textContent = text;
    done.style.width = `${share}%`;
    back.hidden = !past;
    const marks = last > 1 && last <= FEW ? last : 0;
    if (ticks.childElementCount === marks) return;
    ticks.replaceChildren(
      ...Array.from({ length: marks }, (_, index) => {
        const tick = h('i');
        tick.style.left = `${(100 * index) / (marks - 1)}%`;
        return tick;
      })
    );
  });
  return {
    element,
    paint(next) {
      view = next;
      draw(next.last, next.at, next.past);
    }
  };
}
