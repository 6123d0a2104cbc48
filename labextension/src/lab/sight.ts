/** What a person can see and reach on this page. Nothing is kept here. */
import type { Live } from './sessions';
import { views, type LiveView } from './live';
import { firstWaiting } from '../view/look';

/** So many pixels of a thing have to be seen for it to count as seen. */
const ENOUGH = 24;

/** Whether enough of an element is on the screen, and not scrolled away in what holds it. */
export function inSight(element: Element | null | undefined): boolean {
  if (!element?.isConnected || document.visibilityState === 'hidden') return false;
  let { top, bottom, left, right } = element.getBoundingClientRect();
  const enough = Math.min(ENOUGH, bottom - top);
  // What the body hides is what the window hides: its own box may be empty.
  for (let around = element.parentElement; around && around !== document.body; around = around.parentElement) {
    if (getComputedStyle(around).overflowY === 'visible') continue;
    const box = around.getBoundingClientRect();
    [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
    [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
  }
  [top, bottom] = [Math.max(top, 0), Math.min(bottom, window.innerHeight)];
  return enough > 0 && bottom - top >= enough && right > left;
}

/** How many decisions a session waits for. */
export function waiting({ state, model }: Live): number {
  if (state !== 'alive' || model.session.phase !== 'waiting') return 0;
  const open = model.session.pending.filter(id => model.calls.has(id)).length;
  return firstWaiting(model) ? open : model.session.yours ? 1 : 0;
}

/** The view that a shortcut is about: that with the keyboard, else one in sight, first where something waits. */
export function atHand(): LiveView | null {
  const seen = views().filter(view => view.isVisible && inSight(view.node));
  const held = seen.find(view => view.node.contains(document.activeElement));
  return held ?? seen.find(view => waiting(view.live)) ?? seen[0] ?? null;
}

/** Whether what a view asks to decide is in sight. */
export const asksInSight = (view: LiveView): boolean => inSight(view.node.querySelector('.tc-card'));
