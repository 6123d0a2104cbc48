/**
 * The panel in a standalone page, from rows inside the page: no kernel, no network.
 *
 * If the rows cannot be shown, the static picture and text of the page stay.
 */
import { type Rows, VERSION } from './generated/contract';
import { PanelView } from './view';

function show(container: HTMLElement, still: HTMLElement, text: string): void {
  const { rows, version } = JSON.parse(text) as { rows: Rows; version: number };
  if (version !== VERSION) return;
  const view = new PanelView(container, { live: false });
  view.update({ type: 'whole', rows, live: false, version: VERSION });
  still.hidden = true;
}

const [place, still, data] = ['session', 'still', 'rows'].map(id => document.getElementById(id));
if (place && still && data) {
  try {
    show(place, still, data.textContent ?? '');
  } catch (error) {
    console.error(error);
    place.replaceChildren();
  }
}
