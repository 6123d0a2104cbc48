/** The foot of the panel: the reply text and the time slider. */
import { h, whenChanged } from './dom';
import { button } from './icons';
import { textBlock, trans } from './text';
import type { PanelActions, ViewState } from './view_state';

export class ReplyText {
  private readonly text = h('p');
  readonly element = h(
    'div',
    { class: 'tc-said', role: 'group', 'aria-label': trans.__('What the model says'), tabindex: 0 },
    h('span', { class: 'who' }, trans.__('Model')),
    this.text
  );
  private view!: ViewState;
  private readonly draw = whenChanged(() => {
    const { session } = this.view.model;
    this.element.hidden =
      this.view.isPast ||
      session.text === '' ||
      session.phase === 'waiting' ||
      this.view.ui.tab === 'Messages' ||
      this.view.ui.tab === 'Compare';
    this.text.textContent = textBlock(session.text, 6000);
    if (session.phase === 'thinking') this.element.scrollTop = this.element.scrollHeight;
  });

  paint(next: ViewState): void {
    this.view = next;
    this.draw(next.model.session, next.isPast, next.ui.tab);
  }
}

const MOST_TICKS = 60;
let ids = 0;

export class TimeSlider {
  private readonly id = `tc-time${++ids}`;
  private readonly tickMarks = h('div', { class: 'ticks' });
  private readonly pastBar = h('i', { class: 'done' });
  private readonly slider = h('input', { id: this.id, type: 'range', 'aria-label': trans.__('Time'), min: 1, max: 1, step: 1 });
  private readonly stepText = h('span');
  private readonly backButton = button(trans.__('Back to now'), { look: 'ghost', onclick: () => this.acts.setState({ pastStep: null }) });
  readonly element = h(
    'div',
    { class: 'tc-time' },
    h('label', { for: this.id }, trans.__('Time')),
    h('div', { class: 'tc-track' }, this.tickMarks, this.pastBar, this.slider),
    this.stepText,
    this.backButton
  );
  private view!: ViewState;
  private readonly draw = whenChanged(() => {
    const { lastStep: last, step: at, isPast: past } = this.view;
    const share = last > 1 ? (100 * (at - 1)) / (last - 1) : 0;
    this.slider.max = String(Math.max(1, last));
    this.slider.value = String(Math.max(1, at));
    // One step is no way to slide.
    this.element.hidden = last < 2;
    const text = past ? trans.__('step %1 of %2', at, last) : last ? trans.__('now, step %1', last) : trans.__('now');
    this.slider.setAttribute('aria-valuetext', text);
    this.stepText.textContent = text;
    this.pastBar.style.width = `${share}%`;
    this.backButton.hidden = !past;
    const marks = last > 1 && last <= MOST_TICKS ? last : 0;
    if (this.tickMarks.childElementCount === marks) return;
    this.tickMarks.replaceChildren(
      ...Array.from({ length: marks }, (_, index) => {
        const tick = h('i');
        tick.style.left = `${(100 * index) / (marks - 1)}%`;
        return tick;
      })
    );
  });

  constructor(private readonly acts: PanelActions) {
    this.slider.addEventListener('input', () => {
      const at = Number(this.slider.value);
      this.acts.setState({ pastStep: at >= this.view.lastStep ? null : at, chosen: null, form: null });
    });
  }

  paint(next: ViewState): void {
    this.view = next;
    this.draw(next.lastStep, next.step, next.isPast);
  }
}
