/** The foot of the panel: the reply text and the time slider. */
import type { SessionRow } from '../generated/contract';
import { h, listen, nextId, whenChanged } from './dom';
import { button } from './icons';
import { t, textBlock } from './text';
import { atStep, type PanelActions, type Tab, type ViewState } from './view_state';

export class ReplyText {
  private readonly _text = h('p');
  readonly element = h(
    'div', { class: 'tc-said', role: 'group', label: t('What the model says'), tabindex: 0 }, h('span', 'who', t('Model')), this._text
  );
  private readonly _draw = whenChanged((session: SessionRow, isPast: boolean, tab: Tab) => {
    this.element.hidden = isPast || session.text === '' || session.phase === 'waiting' || ['Messages', 'Compare'].includes(tab);
    this._text.textContent = textBlock(session.text, 6000);
    if (session.phase === 'thinking' && session.text) this.element.scrollTop = this.element.scrollHeight;
  });

  paint({ model, isPast, ui }: ViewState): void {
    this._draw(model.session, isPast, ui.tab);
  }
}

const MOST_TICKS = 60;

export class TimeSlider {
  private readonly _id = nextId();
  private readonly _tickMarks = h('div', 'ticks');
  private readonly _pastBar = h('i', 'done');
  private readonly _slider = h('input', { id: this._id, type: 'range', label: t('Time'), min: 0, max: 1, step: 1 });
  private readonly _stepText = h('span');
  private readonly _backButton = button(t('Back to now'), { look: 'ghost', onclick: () => this._acts.setState({ pastStep: null }) });
  readonly element = h(
    'div', 'tc-time', h('label', { for: this._id }, t('Time')), h('div', 'tc-track', this._tickMarks, this._pastBar, this._slider),
    this._stepText, this._backButton
  );
  private readonly _draw = whenChanged((last: number, at: number, past: boolean, count: number) => {
    this._slider.max = String(last);
    this._slider.value = String(at);
    // With one step there is nothing to slide.
    this.element.hidden = last < 2;
    const text = past ? (at ? t('call %1 of %2', at, count) : t('Before the first call')) : count > last ? t('now, call %1 of %2', last, count) : t('now, call %1', last);
    this._slider.setAttribute('aria-valuetext', text);
    this._stepText.textContent = text;
    this._pastBar.style.width = `${last ? (100 * at) / last : 0}%`;
    this._backButton.hidden = !past;
    this._tickMarks.hidden = last >= MOST_TICKS;
    this._tickMarks.style.setProperty('--tc-ticks', String(last));
  });

  constructor(private readonly _acts: PanelActions) {
    listen(this._slider, 'input', () => this._acts.setState(atStep({ lastStep: Number(this._slider.max) }, Number(this._slider.value))));
  }

  paint({ model, lastStep, step, isPast }: ViewState): void {
    this._draw(lastStep, step, isPast, Math.max(lastStep, model.session.recorded_calls));
  }
}
