/** The tools at the corner of the canvas. */
import { h } from '../dom';
import { button } from '../icons';
import { menu, type Entry } from './menu';

export interface Wishes {
  fold(): void;
  tidy(): void;
  search(): void;
  zoom(by: number): void;
  fit(): void;
  entries(): readonly Entry[];
}

export interface Shown {
  readonly any: boolean;
  readonly fold: boolean;
  readonly tidy: boolean;
  readonly search: boolean;
}

export interface Toolbar {
  readonly element: HTMLElement;
  /** Says in a word what was done, and is silent again. */
  say(text: string): void;
  paint(shown: Shown): void;
}

const SAID = 2500;
export const STEP = 1.25;

export function toolbar(wishes: Wishes): Toolbar {
  const says = h('span', { class: 'tc-says', role: 'status', 'aria-label': 'Graph' });
  const fold = button('Fold', { look: 'ghost', onclick: () => wishes.fold() });
  const tidy = button('Tidy', { look: 'ghost', onclick: () => wishes.tidy() });
  const search = button('', { icon: 'search', label: 'Search', look: 'ghost icon', onclick: () => wishes.search() });
  const element = h(
    'div',
    { class: 'tc-tools' },
    says,
    fold,
    tidy,
    search,
    button('', { icon: 'minus', label: 'Zoom out', look: 'ghost icon', onclick: () => wishes.zoom(1 / STEP) }),
    button('', { icon: 'plus', label: 'Zoom in', look: 'ghost icon', onclick: () => wishes.zoom(STEP) }),
    button('', { icon: 'fit', label: 'Fit', look: 'ghost icon', onclick: () => wishes.fit() }),
    menu('More', button('More', { icon: 'more', label: 'More', look: 'ghost icon' }), () => wishes.entries())
  );
  return {
    element,
    say(text) {
      says.textContent = text;
      setTimeout(() => says.textContent === text && says.replaceChildren(), SAID);
    },
    paint(shown) {
      element.hidden = !shown.any;
      fold.hidden = !shown.fold;
      tidy.hidden = !shown.tidy;
      search.hidden = !shown.search;
    }
  };
}
