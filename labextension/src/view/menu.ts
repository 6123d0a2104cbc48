/** A button that opens a menu. */
import { consume, focusInPlace, h, listen, nextId } from './dom';

export interface MenuEntry {
  readonly text: string;
  /** The keyboard shortcut for the same action. */
  readonly key?: string;
  readonly act: () => void;
}

/** A button that opens a menu; `entries` is called when the menu opens. */
export class Menu {
  private readonly _list: HTMLElement;
  readonly element: HTMLElement;

  constructor(label: string, private readonly _opener: HTMLButtonElement, private readonly _entries: () => readonly MenuEntry[]) {
    const id = nextId();
    this._list = h('div', { class: 'tc-menu', role: 'menu', label: label, id, hidden: true });
    this.element = h('div', 'tc-menuplace', _opener, this._list);
    _opener.setAttribute('aria-haspopup', 'menu');
    _opener.setAttribute('aria-controls', id);
    _opener.setAttribute('aria-expanded', 'false');
    listen(_opener, 'click', () => this._setOpen(this._list.hidden));
    listen(this.element, 'keydown', event => this._handleKey(event));
    listen(this.element, 'focusout', event => {
      const target = event.relatedTarget;
      if (!(target instanceof globalThis.Node && this.element.contains(target))) this._setOpen(false);
    });
  }

  private _setOpen(open: boolean): void {
    this._list.hidden = !open;
    this._opener.setAttribute('aria-expanded', String(open));
    if (!open) return;
    this._list.replaceChildren(...this._entries().map(entry => this._item(entry)));
    // It ends where its button does, but in a narrow panel not outside of that.
    this._list.style.right = '0px';
    const left = (part: Element | null): number => part?.getBoundingClientRect().left ?? 0;
    this._list.style.right = `${Math.min(0, left(this._list) - left(this.element.closest('.tc')))}px`;
    focusInPlace(this._list.querySelector<HTMLElement>('button'));
  }

  private _closeAndFocus(): void {
    this._setOpen(false);
    focusInPlace(this._opener);
  }

  private _item({ text, key, act }: MenuEntry): HTMLElement {
    const onclick = (): void => {
      this._closeAndFocus();
      act();
    };
    const hint = key ? h('kbd', { silent: 'true' }, key) : null;
    const attributes = { role: 'menuitem', tabindex: -1, 'aria-keyshortcuts': key, onclick };
    return h('button', attributes, h('span', {}, text), hint);
  }

  private _handleKey(event: KeyboardEvent): void {
    if (this._list.hidden) return;
    const items = [...this._list.querySelectorAll<HTMLElement>('button')];
    const index = items.findIndex(item => item === document.activeElement);
    const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: items.length - 1 }[event.key];
    if (next !== undefined) focusInPlace(items.at(next % items.length));
    else if (event.key === 'Escape') this._closeAndFocus();
    else return;
    consume(event);
  }
}
