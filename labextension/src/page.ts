/**
 * The panels of a page, each from rows inside the page: no kernel, no network.
 *
 * If the rows cannot be shown, the static picture and text before them stay.
 */
import { VERSION, Whole } from './generated/contract';
import { RecordedGuesses } from './recorded_guesses';
import { PanelView } from './view';
import { h } from './view/dom';
import { applyNotice, EMPTY_MODEL, type Model } from './view/model';
import { t } from './view/text';

function show(container: HTMLElement, notice: Whole): void {
  const view = new PanelView(container, { live: false, copyText: t('Saved copy. Run the cell to continue.') });
  view.update(notice);
}

/** Shows a session reply by reply: the reader guesses each one first. */
function showGuesses(container: HTMLElement, notice: Whole, all: Model, key: string): void {
  const guesses = new RecordedGuesses(all, key);
  const draw = (): void => {
    again.hidden = !guesses.hasGuesses;
    view.update(notice, guesses.model);
  };
  const act = (change: () => void): void => {
    change();
    draw();
  };
  const again = h('button', { type: 'button', class: 'toolcall-again', onclick: () => act(() => guesses.startOver()) }, t('Guess again'));
  const view = new PanelView(container, { live: false, takesGuesses: true, send: command => act(() => guesses.take(command)) });
  container.append(again);
  draw();
}

for (const [index, data] of document.querySelectorAll('.toolcall-rows').entries()) {
  const still = data.previousElementSibling as HTMLElement;
  const container = still.previousElementSibling as HTMLElement;
  try {
    const notice = Whole.read({ ...JSON.parse(data.textContent ?? ''), type: 'whole', live: false });
    if (notice?.version !== VERSION) continue;
    const all = applyNotice(EMPTY_MODEL, notice);
    if (all.teaching.answers.length) showGuesses(container, notice, all, `toolcall ${location.pathname} ${index}`);
    else show(container, notice);
    still.hidden = true;
  } catch (error) {
    console.error(error);
    container.replaceChildren();
  }
}
