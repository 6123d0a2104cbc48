/** A button that opens a list of things to do. */
import { h } from './dom';

export interface MenuEntry {
  readonly text: string;
  /** The key that does the same. */
  readonly key?: string;
  readonly act: () => void;
}

let ids = 0;

/** A button and the list that it opens; `entries` are asked for when it opens. */
export function menu(label: string, opener: HTMLButtonElement, entries: () => readonly MenuEntry[]): HTMLElement {
  const id = `tc-menu${++ids}`;
  const list = h('div', { class: 'tc-menu', role: 'menu', 'aria-label': label, id, hidden: true });
  opener.addEventListener('click', () => toggle(list.hidden));
  opener.setAttribute('aria-haspopup', 'menu');
  opener.setAttribute('aria-controls', id);
  opener.setAttribute('aria-expanded', 'false');
  const element = h('div', { class: 'tc-menuplace' }, opener, list);

  function item({ text, key, act }: MenuEntry): HTMLElement {
    const does = (): void => {
      toggle(false);
      opener.focus({ preventScroll: true });
      act();
    };
    const hint = key ? h('kbd', { 'aria-hidden': 'true' }, key) : null;
    const attributes = { type: 'button', role: 'menuitem', tabindex: -1, 'aria-keyshortcuts': key, onclick: does };
    return h('button', attributes, h('span', {}, text), hint);
  }

  function toggle(open: boolean): void {
    list.hidden = !open;
    opener.setAttribute('aria-expanded', String(open));
    if (!open) return;
    list.replaceChildren(...entries().map(item));
    list.querySelector<HTMLElement>('button')?.focus({ preventScroll: true });
  }

  element.addEventListener('keydown', event => {
    if (list.hidden) return;
    const items = [...list.querySelectorAll<HTMLElement>('button')];
    const at = items.findIndex(one => one === document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to !== undefined) items.at(to % items.length)?.focus({ preventScroll: true });
    else if (event.key === 'Escape') {
      toggle(false);
      opener.focus({ preventScroll: true });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  element.addEventListener('focusout', event => {
    if (!(event.relatedTarget instanceof globalThis.Node && element.contains(event.relatedTarget))) toggle(false);
  });
  return element;
}
