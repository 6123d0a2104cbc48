/** The bar to look for something: words, how calls went, one hit after the other; and the focus. */
import { h, once } from '../dom';
import { button, icon } from '../icons';
import type { Look } from '../look';
import { count } from '../text';
import { chosenHit, type Hit } from './find';
import { ICONS, KINDS, type Kind } from './trouble';

export interface Query {
  readonly text: string;
  readonly kind: Kind | null;
}

export const NOTHING: Query = { text: '', kind: null };

export interface Wishes {
  look(query: Query): void;
  go(by: 1 | -1): void;
  focus(on: boolean): void;
  close(): void;
}

export interface Shown {
  readonly query: Query;
  readonly found: readonly Hit[];
  /** How many calls there are of each kind. */
  readonly wrong: ReadonlyMap<Kind, number>;
  readonly focus: boolean;
  /** Why the chosen call is among what was found, where that cannot be seen from it. */
  readonly why: string;
}

export interface Finder {
  readonly element: HTMLElement;
  readonly field: HTMLInputElement;
  paint(view: Look, shown: Shown): void;
}

const said = (found: readonly Hit[], view: Look, query: Query): string => {
  if (query.text.trim() === '' && query.kind === null) return '';
  if (found.length === 0) return 'nothing found';
  const at = chosenHit(found, view);
  return at < 0 ? `${count(found.length)} found` : `${count(at + 1)} of ${count(found.length)}`;
};

export function finder(wishes: Wishes): Finder {
  const label = 'Search calls and objects';
  const field = h('input', { type: 'search', class: 'tc-in', 'aria-label': label, placeholder: 'Search  /', spellcheck: 'false' });
  const told = h('span', { class: 'small muted tc-found', role: 'status', 'aria-label': 'Search results' });
  const reason = h('span', { class: 'small tc-why' });
  const back = button('', { icon: 'up', label: 'Previous result', look: 'ghost icon', onclick: () => wishes.go(-1) });
  const on = button('', { icon: 'down', label: 'Next result', look: 'ghost icon', onclick: () => wishes.go(1) });
  const chips = h('div', { class: 'tc-chips', role: 'group', 'aria-label': 'Only calls that are' });
  const focus = h('button', { type: 'button', class: 'tc-chip', title: 'Only what is within two steps (f)', onclick: () => wishes.focus(focus.getAttribute('aria-pressed') !== 'true') }, 'Focus ±2');
  const close = button('', { icon: 'close', label: 'Close search', look: 'ghost icon', onclick: () => wishes.close() });
  const element = h('div', { class: 'tc-find', role: 'search' }, h('div', { class: 'tc-field1' }, icon('search'), field), told, back, on, chips, focus, close, reason);
  let query = NOTHING;
  let counted: ReadonlyMap<Kind, number> = new Map();

  field.addEventListener('input', () => wishes.look({ ...query, text: field.value }));
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter') wishes.go(event.shiftKey ? -1 : 1);
    else if (event.key === 'Escape') {
      if (field.value === '' && query.kind === null) wishes.close();
      else wishes.look(NOTHING);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });

  function chip(kind: Kind, number: number): HTMLElement {
    const pressed = query.kind === kind;
    const act = (): void => wishes.look({ ...query, kind: pressed ? null : kind });
    return h(
      'button',
      { type: 'button', class: `tc-chip ${kind}`, 'data-k': kind, 'aria-pressed': String(pressed), onclick: act },
      icon(ICONS[kind]),
      `${count(number)} ${kind}`
    );
  }

  const drawChips = once(() => {
    const held = chips.contains(document.activeElement) ? document.activeElement?.getAttribute('data-k') : null;
    chips.replaceChildren(...KINDS.flatMap(kind => (counted.has(kind) || query.kind === kind ? [chip(kind, counted.get(kind) ?? 0)] : [])));
    chips.hidden = chips.childElementCount === 0;
    if (held) chips.querySelector<HTMLElement>(`[data-k="${held}"]`)?.focus({ preventScroll: true });
  });

  return {
    element,
    field,
    paint(view, shown) {
      [query, counted] = [shown.query, shown.wrong];
      drawChips(query.kind, ...KINDS.map(kind => counted.get(kind)));
      if (field.value !== query.text) field.value = query.text;
      told.textContent = said(shown.found, view, query);
      reason.textContent = shown.why;
      back.hidden = on.hidden = shown.found.length < 2;
      focus.setAttribute('aria-pressed', String(shown.focus));
    }
  };
}
