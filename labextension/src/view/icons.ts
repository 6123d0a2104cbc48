/** Icons of 16 and glyphs of 24 units, as elements. */
import type { Preview } from '../generated/contract';
import SHAPES from '../../../jupyter_toolcall/view/icons.json';
import { type Child, h, s } from './dom';
import { safeImage } from './safe_markup';

/** The saved pictures draw the same ones. */
export const { icons: ICONS, glyphs: GLYPHS } = SHAPES;
export type IconName = keyof typeof ICONS;
/** The icon of a call in each state. */
export const STATE_ICONS = SHAPES.states as Readonly<Record<keyof typeof SHAPES.states, IconName>>;

export function icon(name: IconName): SVGElement {
  return s('svg', { class: 'i', viewBox: '0 0 16 16', silent: 'true' }, ...ICONS[name].map(d => s('path', { d })));
}

/** The lines of an icon or glyph of ours as one element: the graph has many. */
const onePath = (paths: readonly string[]): SVGElement => s('path', { d: paths.join('') });

/** The same icon in a drawing, 14 units wide, centred on a point. */
export function mark(name: IconName, x: number, y: number): SVGElement {
  const transform = `translate(${x - 7} ${y - 7}) scale(.875)`;
  return s('g', { class: 'mk', transform }, onePath(ICONS[name]));
}

type GlyphName = keyof typeof GLYPHS;

const PATH = /^[\sMmLlHhVvCcSsQqTtAaZzeE0-9.,+-]{1,2000}$/;

const lines = (...paths: readonly SVGElement[]): SVGElement => s('g', 'pic', ...paths);

function kindOf(preview: Preview): GlyphName {
  if (preview.columns.length) return 'table';
  if (preview.fields.length) return 'fields';
  return preview.text ? 'text' : 'object';
}

/** A picture of a value; null for an address that is no image. */
export function picture(address: string, alt: string): HTMLElement | null {
  const src = safeImage(address);
  return src ? h('img', { class: 'tc-picture', src, alt }) : null;
}

/** The glyph of an object, in a box of 24 units. */
export function glyph(preview: Preview): SVGElement {
  const paths = preview.glyph.filter(d => PATH.test(d)).slice(0, 24);
  if (paths.length) return lines(...paths.map(d => s('path', { d })));
  const href = safeImage(preview.image);
  if (href) return s('image', { href, width: 24, height: 24, preserveAspectRatio: 'xMidYMid meet' });
  return sign(kindOf(preview));
}

export const sign = (name: GlyphName): SVGElement => lines(onePath(GLYPHS[name]));

/** A tile in text: 48 pixels in a card, 24 in a line. */
export function thumb(picture: SVGElement, small = false): HTMLElement {
  const drawing = s('svg', { viewBox: '0 0 24 24', silent: 'true' }, picture);
  return h('span', { class: small ? 'tc-mini' : 'tc-thumb' }, drawing);
}

export interface ButtonProps {
  readonly icon?: IconName;
  readonly label?: string;
  readonly look?: string;
  readonly key?: string;
  readonly disabled?: boolean;
  readonly type?: 'submit';
  /** The accessible name, if it differs from the text. */
  readonly title?: string;
  /** What the pointer shows, if the name says less. */
  readonly tip?: string;
  readonly onclick?: (event: MouseEvent) => void;
}

/** A button; with a `label` it shows its icon alone. */
export function button(text: string, props: ButtonProps): HTMLButtonElement {
  const children: Child[] = [props.icon ? icon(props.icon) : null, props.label ? null : text];
  const attributes = {
    type: props.type,
    class: `tc-btn ${props.look ?? ''}`.trim(),
    label: props.label ?? props.title,
    title: props.tip ?? props.label ?? props.title,
    key: props.key,
    disabled: props.disabled ?? false,
    onclick: props.onclick
  };
  return h('button', attributes, ...children);
}

/** What opens below a line. */
export const folded = (line: string, ...content: readonly HTMLElement[]): HTMLDetailsElement =>
  h('details', 'tc-more', h('summary', {}, icon('down'), line), ...content);

/** A line of information. */
export const note = (text: string): HTMLElement => h('p', 'tc-note', icon('info'), h('span', {}, text));
