/** The button at a side of a graph that is larger than its place: what is out of sight there, and the way to it. */
import { h, setChanged } from '../dom';
import { icon } from '../icons';
import { t, tableText } from '../text';
import type { Camera } from './camera';
import type { Box, Spot } from './drawing';

/** The width of a button at the left or the right, as in the style sheet. */
export const BEYOND_BUTTON = 24;
/** The height of one above or below. */
export const STRIP = 20;
const TEXTS = {
  left: tableText('%1 more to the left'), right: tableText('%1 more to the right'), above: tableText('%1 more above'),
  below: tableText('%1 more below')
} as const;
type Side = keyof typeof TEXTS;

const IS_BEYOND: Readonly<Record<Side, (spot: Spot, sight: Box) => boolean>> = {
  left: ({ x }, { left }) => x < left, right: ({ x }, { right }) => x > right, above: ({ y }, { top }) => y < top,
  below: ({ y }, { bottom }) => y > bottom
};

export class BeyondButton {
  private readonly _text = h('span', {});
  readonly element: HTMLElement;

  constructor(private readonly _side: Side, private readonly _camera: Camera) {
    this.element = h('button', { class: `tc-beyond ${this._side}`, key: this._side, onclick: () => this._show() }, icon('down'), this._text);
  }

  paint(spots: readonly Spot[]): void {
    const sight = this._camera.inSight();
    const count = spots.filter(spot => IS_BEYOND[this._side](spot, sight)).length;
    const words = t(TEXTS[this._side], count);
    this.element.classList.toggle('none', count === 0);
    this._text.textContent = this._side === 'left' || this._side === 'right' ? String(count) : words;
    for (const name of ['title', 'aria-label']) setChanged(this.element, name, words);
  }

  /** Moves the graph by half of what is in sight. */
  private _show(): void {
    const { left, right, top, bottom } = this._camera.inSight();
    const x = this._side === 'left' ? left : this._side === 'right' ? right : (left + right) / 2;
    this._camera.showPoint(x, this._side === 'above' ? top : this._side === 'below' ? bottom : (top + bottom) / 2);
  }
}
