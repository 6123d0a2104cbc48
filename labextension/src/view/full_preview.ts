/** The full preview of an object: picture, table, HTML or text. */
import { type Child, h, mutedText, scrollingTable, scrollingText } from './dom';
import { safeImage } from './safe_markup';
import { button } from './icons';
import type { FullObject, FullPreview } from './rows';
import { cleanMarkup } from './safe_markup';
import { oneLine, t, textBlock } from './text';
import type { PanelActions, ViewState } from './view_state';

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; form-action 'none'; base-uri 'none'; frame-src 'none'";

/** The document of a preview frame; it loads nothing but inline images and sounds. */
function framePage(html: string, ink: string, ground: string): string {
  const look = `html{color:${ink};background:${ground};font:13px/20px system-ui,sans-serif}body{margin:8px 12px;overflow-wrap:anywhere}table{border-collapse:collapse;font-size:12px}:is(th,td){padding:2px 8px;text-align:right}img,svg{max-width:100%}`;
  return `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><style>${look}</style><body>${cleanMarkup(html)}`;
}

const COLOUR = /^[#\w(), .%/-]{1,80}$/;

const colour = (value: string, standard: string): string => (COLOUR.test(value.trim()) ? value.trim() : standard);

/** HTML in a sandboxed frame: no scripts, no origin, no loading. */
function frame(object: FullObject, html: string, place: Element): HTMLElement {
  const style = getComputedStyle(place);
  const [ink, ground] = [colour(style.color, '#000'), colour(style.getPropertyValue('--tc-bg'), '#fff')];
  const title = oneLine(t('%1, HTML view', object.name), 120);
  const srcdoc = framePage(html, ink, ground);
  const element = h('iframe', { class: 'tc-frame', sandbox: '', referrerpolicy: 'no-referrer', title, srcdoc });
  // The sandbox hides the height of the page, so it is estimated.
  element.style.height = `${heightOf(html)}px`;
  return element;
}

/** The estimated height of a page, in pixels. */
function heightOf(html: string): number {
  if (/<(img|svg|table|details)\b/i.test(html)) return 240;
  const blocks = html.match(/<(p|li|tr|br|h[1-6]|div|dt|dd|pre|hr)\b|\n/gi)?.length ?? 0;
  return Math.min(240, 48 + 26 * Math.max(blocks, html.length / 160));
}

/** Rows of a table that are drawn. */
const MOST_ROWS = 500;

/** A number, or an empty cell of a column of numbers. */
const NUMBER = /^(-?[\d.]*(e[-+]\d+)?|nan|None|<NA>)$/;

function table(preview: FullPreview): HTMLElement {
  const isNumeric = preview.columns.map((_, column) => preview.cells.every(cells => NUMBER.test(cells[column] ?? '')));
  const row = (cells: readonly string[], tag: 'th' | 'td'): HTMLElement =>
    h('tr', {}, ...cells.slice(0, 20).map((cell, column) => h(tag, { class: isNumeric[column] && 'num' }, oneLine(cell, 60))));
  const body = preview.cells.slice(0, MOST_ROWS).map(cells => row(cells, 'td'));
  return scrollingTable(t('Table'), row(preview.columns, 'th'), body);
}

function previewElement(object: FullObject, preview: FullPreview, place: Element): Child {
  const src = safeImage(preview.image);
  if (src && preview.glyph.length === 0)
    return h('img', { class: 'tc-picture', src, alt: t('%1, a picture', object.name) });
  if (preview.columns.length > 0) return h('div', 'tc-tablepart', table(preview), mutedText(oneLine(preview.text)));
  if (preview.html) return frame(object, preview.html, place);
  return preview.text && (preview.fields.length === 0 || preview.text.length > 80)
    ? scrollingText(textBlock(preview.text, 20_000))
    : null;
}

/** The previews whose full image was requested: the small one is sharp in the graph, not in a card. */
const requested = new WeakSet<FullPreview>();

/** The preview of an object, with a button for the full one. */
export function fullPreview(view: ViewState, object: FullObject, acts: PanelActions, place: Element): Child[] {
  const shown = view.model.fullPreviews.get(object.id);
  const more = view.live && !shown && object.preview.more;
  const command = { type: 'show_object', object: object.id } as const;
  const isImage = object.preview.image !== '';
  if (more && isImage && !requested.has(object.preview)) {
    requested.add(object.preview);
    acts.request(command);
  }
  return [
    previewElement(object, shown ?? object.preview, place),
    more && !isImage
      ? button(t('Show all'), { look: 'small first', disabled: view.ui.commandSent, onclick: () => acts.send(command) })
      : null
  ];
}
