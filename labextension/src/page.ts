/**
 * The panels of a page, each from rows inside the page: no kernel, no network.
 *
 * If the rows cannot be shown, the static picture and text before them stay.
 */
import { type Rows, VERSION } from './generated/contract';
import { PanelView } from './view';
import { t } from './view/text';

function show(container: HTMLElement, still: HTMLElement, text: string): void {
  const { rows, version } = JSON.parse(text) as { rows: Rows; version: number };
  if (version !== VERSION) return;
  const view = new PanelView(container, { live: false, copyText: t('Saved copy. Run the cell to continue.') });
  view.update({ type: 'whole', rows, live: false, version: VERSION });
  still.hidden = true;
}

for (const data of document.querySelectorAll('.toolcall-rows')) {
  const still = data.previousElementSibling as HTMLElement;
  const container = still.previousElementSibling as HTMLElement;
  try {
    show(container, still, data.textContent ?? '');
  } catch (error) {
    console.error(error);
    container.replaceChildren();
  }
}
