/** The foot of the panel: the reply text and the time slider. */
import { h, whenChanged } from './dom';
import { button } from './icons';
import { textBlock, trans } from './text';
import type { PanelActions, ViewState } from './view_state';

export function replyText(): { readonly element: HTMLElement; paint(view: ViewState): void } {
  const text = h('p');
  const element = h(
    'div',
    { class: 'tc-said', role: 'group', 'aria-label': trans.__('What the model says'), tabindex: 0 },
    h('span', { class: 'who' }, trans.__('Model')),
    text
  );
  let view: ViewState;
  const draw = whenChanged(() => {
    const { session } = view.model;
    element.hidden =
      view.isPast ||
      session.text === '' ||
      session.phase === 'waiting' ||
      view.ui.tab === 'Messages' ||
      view.ui.tab === 'Compare';
    text.textContent = textBlock(session.text, 6000);
    if (session.phase === 'thinking') element.scrollTop = element.scrollHeight;
  });
  return {
    element,
    paint(next) {
      view = next;
      draw(next.model.session, next.isPast, next.ui.tab);
    }
  };
}

const MOST_TICKS = 60;
let ids = 0;

export interface TimeSlider {
  readonly element: HTMLElement;
  paint(view: ViewState): void;
}

export function timeSlider(acts: PanelActions): TimeSlider {
  const id = `tc-time${++ids}`;
  const ticks = h('div', { class: 'ticks' });
  const done = h('i', { class: 'done' });
  const slider = h('input', { id, type: 'range', 'aria-label': trans.__('Time'), min: 1, max: 1, step: 1 });
  const says = h('span');
  const back = button(trans.__('Back to now'), { look: 'ghost', onclick: () => acts.setState({ pastStep: null }) });
  const element = h(
    'div',
    { class: 'tc-time' },
    h('label', { for: id }, trans.__('Time')),
    h('div', { class: 'tc-track' }, ticks, done, slider),
    says,
    back
  );
  let view: ViewState;

  slider.addEventListener('input', () => {
    const at = Number(slider.value);
    acts.setState({ pastStep: at >= view.lastStep ? null : at, chosen: null, form: null });
  });

  const draw = whenChanged(() => {
    const { lastStep: last, step: at, isPast: past } = view;
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
    const marks = last > 1 && last <= MOST_TICKS ? last : 0;
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
      draw(next.lastStep, next.step, next.isPast);
    }
  };
}
