/** What a call changed: the object before it beside the object that it made. */
import type { CallRow, ObjectRow, PartRow, Previewed } from '../generated/contract';
import { cellTable } from './compare/differences';
import { cellText, type Child, h, marked, mutedText, strongText } from './dom';
import { pictureOf } from './full_preview';
import { picture } from './icons';
import { oneLine, t, textBlock, visibleText } from './text';
import type { PanelActions, ViewState } from './view_state';

const struck = (text: Child): HTMLElement => h('del', {}, text);

/** The changed rows of a table with their changed columns: old values struck through, new ones tinted. */
const changedRows = (cells: PartRow['cells']): HTMLElement =>
  cellTable(cells, ({ left, right }) => [left && struck(cellText(left, 24, right)), ' ', right && marked(cellText(right, 24, left))]);

/** The lines of a text that changed, and those around them. */
function changedLines(lines: PartRow['lines']): HTMLElement {
  const line = (sign: string, text: string, element: Child): Child[] => (text || sign === ' ' ? [h('span', 'ln', `${sign} `, element)] : []);
  const all = lines.flatMap(({ sign, left, right }) => {
    if (sign === 'same') return line(' ', left, visibleText(left));
    return [...(sign === 'right' ? [] : line('−', left, struck(left))), ...(sign === 'left' ? [] : line('+', right, marked(right)))];
  });
  return h('pre', { class: 'tc-lines', tabindex: 0 }, ...all);
}

export function partElement(part: PartRow, alone: boolean, names: readonly string[]): HTMLElement {
  const [left, right] = [part.left, part.right].map(text => (text === null ? '' : oneLine(text, 160)));
  const images = part.images.map((image, index) => picture(image, names[index] ?? t('Difference')));
  return h(
    'div', 'tc-partof', part.name ? h('span', 'k', oneLine(part.name, 60)) : null,
    left ? struck(left) : null, left && right ? ' ' : null, right ? marked(right) : null,
    part.says && !alone ? mutedText(` ${oneLine(part.says, 160)}`) : null, images.some(Boolean) ? h('div', 'tc-images', ...images) : null,
    part.lines.length ? changedLines(part.lines) : null, part.cells.length ? changedRows(part.cells) : null
  );
}

/** What a waiting call would do, where exactly that call was tried. */
export function previewOf({ model }: ViewState, { call, approval_digest }: CallRow): Previewed | null {
  const preview = model.previewed.get(call);
  return preview?.approval_digest === approval_digest && (preview.says || preview.error) ? preview : null;
}

/** The rows and cells that a call would change, or what it would make. */
export function previewElement(preview: Previewed, names: readonly string[]): HTMLElement {
  const { parts, object } = preview;
  const title = h(
    'h4', {}, h('span', 'tc-tag', t('Preview')), ' ', strongText(names.join(' → ')), ' ',
    mutedText(textBlock(preview.error || preview.says, 600))
  );
  return h(
    'div', { class: 'tc-change tc-preview', role: 'group', label: t('Preview') }, title,
    ...parts.map(part => partElement(part, false, names)), pictureOf(object, names.at(-1) ?? '')
  );
}

/** What a call changed, and its parts; requests them from the kernel the first time. Null if it changed no object. */
export function changeOf(
  view: ViewState, call: CallRow | undefined, object: ObjectRow, acts: PanelActions
): readonly [HTMLElement | null, (readonly PartRow[])?] {
  const before = call?.object === object.id ? view.model.objects.get(call.before) : undefined;
  if (!call || !before) return [null];
  const names = [oneLine(before.name, 60), oneLine(object.name, 60)] as const;
  const parts = view.model.differences.get(`change ${before.id} ${object.id}`)?.parts;
  if (!parts && view.live) acts.request({ type: 'show_difference', left: before.id, right: object.id });
  const body = parts?.map(part => partElement(part, parts.length === 1, names)) ?? [];
  const title = h('h4', {}, strongText(names.join(' → ')), ' ', mutedText(oneLine(call.change, 160)));
  return [h('div', { class: 'tc-change', role: 'group', label: t('What the call changed') }, title, ...body), parts];
}
