/** The button at a side of a wide graph: how many calls and objects are out of sight there, and the way to them. */
import { h, setChanged } from '../dom';
import { icon } from '../icons';
import { t, tableText } from '../text';
import type { Camera } from './camera';
import type { Spot } from './drawing';

/** The width of a button, as in the style sheet. */
export const BEYOND_BUTTON = 24;
const TEXTS = { left: tableText('%1 more to the left'), right: tableText('%1 more to the right') } as const;

export class BeyondButton {
  private readonly _count = h('span', {});
  readonly element: HTMLElement;

  constructor(private readonly _side: 'left' | 'right', private readonly _camera: Camera) {
    this.element = h('button', { class: `tc-beyond ${this._side}`, key: this._side, onclick: () => this._show() }, icon('down'), this._count);
  }

  paint(spots: readonly Spot[]): void {
    const edge = this._camera.inSight()[this._side];
    const count = spots.filter(({ x }) => (this._side === 'left' ? x < edge : x > edge)).length;
    this.element.classList.toggle('none', count === 0);
    this._count.textContent = String(count);
    for (const name of ['title', 'aria-label']) setChanged(this.element, name, t(TEXTS[this._side], count));
  }

  /** Moves the graph by half of what is in sight. */
  private _show(): void {
    const { top, bottom, [this._side]: edge } = this._camera.inSight();
    this._camera.showPoint(edge, (top + bottom) / 2);
  }
}
