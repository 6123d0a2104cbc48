/**
 * Elements from values: the only place that makes them. Text becomes text nodes, so nothing
 * from a session is ever read as markup; only images that `safeImage` lets through have an address.
 */
import { oneLine, shortNumber, visibleText } from './text';

export type Child = Node | string | null | undefined | false;
type Value = string | number | boolean | null | undefined | ((event: never) => void);
/** Moves the focus to an element, if there is one; nothing scrolls. */
export const focusInPlace = (element: HTMLElement | SVGElement | null | undefined): void => element?.focus({ preventScroll: true });

/** Listeners and attributes by name; a text is the class. */
type Props = Readonly<Record<string, Value>> | string;

const SVG = 'http://www.w3.org/2000/svg';

/** Names of ours for attributes: the accessible name, what tells an element from others after a redraw, and what no screen reader reads. */
const ATTRIBUTES: Readonly<Record<string, string>> = { label: 'aria-label', key: 'data-k', silent: 'aria-hidden' };

function applyProps(element: Element, props: Props, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(typeof props === 'string' ? { class: props } : props)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === 'function') listen(element, name.slice(2) as 'click', value as () => void);
    else element.setAttribute(ATTRIBUTES[name] ?? name, value === true ? '' : visibleText(String(value)));
  }
  setChildren(element, children);
}

/** Sets an attribute only if it changed: each write costs a style update. */
export function setChanged(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Calls a function at each event of a type. */
export function listen<K extends keyof HTMLElementEventMap>(target: EventTarget, type: K, react: (event: HTMLElementEventMap[K]) => void): void {
  target.addEventListener(type, react as EventListener);
}

/** Replaces the children of an element; what is no child is left out. */
export function setChildren(element: Element, children: readonly Child[]): void {
  element.replaceChildren(...children.filter(child => !!child).map(child => (typeof child === 'string' ? visibleText(child) : (child as Node))));
}

/**
 * An HTML element; `on…` props are listeners, the others attributes. A button submits nothing unless its `type` says so,
 * and a form never loads a page.
 */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (tag === 'button') element.setAttribute('type', tag);
  if (tag === 'form') listen(element, 'submit', event => event.preventDefault());
  applyProps(element, props, children);
  return element;
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(tag: K, props: Props = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag);
  applyProps(element, props, children);
  return element;
}

/** Whether keys pressed here are text. */
export const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.closest('input:not([type=range]), textarea, select') !== null;

/** A small text beside another one. */
export const mutedText = (...children: Child[]): HTMLElement => h('span', 'muted small', ...children);

export const strongText = (...children: Child[]): HTMLElement => h('span', 'strong', ...children);

/** What stands in a cell of a table; a long decimal is shortened, unless it is compared with an `other` one, and whole in its tooltip. */
export function cellText(text: string, cap: number, other?: string): Child {
  const short = shortNumber(text, other);
  return short === text ? oneLine(text, cap) : h('span', { title: text }, short);
}

export const marked = (text: Child): HTMLElement => h('mark', {}, text);

/** A table in an area that scrolls; the label names it for screen readers. */
export const scrollingTable = (label: string, head: Node, body: readonly Node[]): HTMLElement =>
  h('div', { class: 'tc-scroll', tabindex: 0, role: 'group', label }, h('table', 'tc-table', h('thead', {}, head), h('tbody', {}, ...body)));

/** A text in an area that scrolls. */
export const scrollingText = (...children: Child[]): HTMLElement => h('pre', { class: 'tc-text', tabindex: 0 }, ...children);

export const screenReaderText = (text: string): HTMLElement => h('span', 'tc-sr', text);

/** Text in which `code` stands between backticks. */
export function prose(text: string): Child[] {
  return text.split('`').map((part, index) => (index % 2 ? h('code', {}, part) : part));
}

let ids = 0;

/** An id that no other element of the page has. */
export const nextId = (): string => `tc-id${++ids}`;

/** The event is handled: nothing else reacts to it. */
export function consume(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}

/** Closes what is open in an element when Escape is pressed there; nothing around it reacts. */
export function closeOnEscape(element: HTMLElement, close: () => void): void {
  listen(element, 'keydown', event => {
    if (event.key !== 'Escape') return;
    consume(event);
    close();
  });
}

/** Whether an element has the focus, or one inside it. */
export const hasFocus = (element: Element | null | undefined): boolean => element?.contains(document.activeElement) ?? false;

/** The texts that are not empty, with a sign between them. */
export const joined = (separator: string, ...texts: readonly (string | false | 0)[]): string => texts.filter(Boolean).join(separator);

/** The `data-k` of the element inside that has the focus. */
export const focusedKey = (inside: Element): string | null =>
  (hasFocus(inside) && document.activeElement?.getAttribute('data-k')) || null;

/** Draws what is inside an element anew; a focus inside goes to the new element with the same `data-k`, else to `otherwise`. */
export function redraw(inside: Element, draw: () => void, otherwise = ''): void {
  const [hadFocus, key] = [hasFocus(inside), focusedKey(inside)];
  draw();
  if (!hadFocus) return;
  const heir = [...inside.querySelectorAll<HTMLElement>('[data-k]')].find(element => element.dataset.k === key);
  focusInPlace(heir ?? (otherwise ? inside.querySelector<HTMLElement>(otherwise) : null));
}

interface Keyed<T> {
  readonly key: string;
  /** The element is created again if one of these changed. */
  readonly stamp: readonly unknown[];
  readonly item: T;
}

const same = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((value, index) => Object.is(value, b[index]));

/** Moves the focus to the new element with the same `data-k`. */
function moveFocus(from: Element, to: Element): void {
  const active = from.getRootNode() instanceof Document ? document.activeElement : null;
  if (!active || !from.contains(active)) return;
  const key = active.getAttribute('data-k');
  from.replaceWith(to);
  const heir = key === null ? to : ([to, ...to.querySelectorAll('[data-k]')].find(e => e.getAttribute('data-k') === key) ?? to);
  focusInPlace(heir as HTMLElement | SVGElement);
}

/**
 * Returns a function that makes the children of `parent` match the items; unchanged children stay. `place` moves a new
 * child, or one that stays, to its place.
 */
export function keyedChildren<T>(
  parent: Element, make: (item: T) => Element, place?: (element: Element, item: T, before?: T) => void
): (items: readonly Keyed<T>[]) => void {
  let old = new Map<string, Keyed<T> & { readonly element: Element }>();
  return items => {
    const next: typeof old = new Map();
    for (const { key, stamp, item } of items) {
      const before = old.get(key);
      const kept = before && same(before.stamp, stamp) ? before : undefined;
      const element = kept?.element ?? make(item);
      if (before && !kept) moveFocus(before.element, element);
      place?.(element, item, kept?.item);
      next.set(key, { key, stamp, item, element });
    }
    for (const [key, { element }] of old) if (next.get(key)?.element !== element) element.remove();
    let nextChild = parent.firstChild;
    for (const { element } of next.values()) {
      if (element === nextChild) nextChild = nextChild.nextSibling;
      else parent.insertBefore(element, nextChild);
    }
    old = next;
  };
}

/** Calls a function after the layout of the next frame and before its paint: what it reads there forces no layout of its own. */
export function afterLayout(act: () => void): void {
  const observer = new ResizeObserver(() => {
    observer.disconnect();
    act();
  });
  // What is observed from now on is told after the layout. From inside another observer it would be told too late, as an error.
  requestAnimationFrame(() => observer.observe(document.documentElement));
}

/** The space around the rows of a list, in pixels: it fades out there at the top, and in 24 pixels at the bottom. */
const ROW_EDGE = 6;

/** Scrolls a list as little as makes an item visible, so that it begins with a whole row; the page does not scroll. */
export function scrollIntoList(list: HTMLElement, item: HTMLElement): void {
  const start = (row: HTMLElement): number => row.offsetTop - ROW_EDGE;
  const least = item.offsetTop + item.offsetHeight + 24 - list.clientHeight;
  let first = item;
  for (let before = item.previousElementSibling; before instanceof HTMLElement && start(before) >= least; before = before.previousElementSibling)
    first = before;
  list.scrollTop = Math.min(Math.max(list.scrollTop, least > 0 ? start(first) : 0), Math.max(0, start(item)));
}

/** Returns a function that calls `draw` with its arguments if one of them changed. */
export function whenChanged(draw: () => void): (...stamp: unknown[]) => boolean;
export function whenChanged<Stamp extends readonly unknown[]>(draw: (...stamp: Stamp) => void): (...stamp: Stamp) => boolean;
export function whenChanged<Stamp extends readonly unknown[]>(draw: (...stamp: Stamp) => void): (...stamp: Stamp) => boolean {
  let before: Stamp | null = null;
  return (...stamp) => {
    if (before && same(before, stamp)) return false;
    before = stamp;
    draw(...stamp);
    return true;
  };
}
