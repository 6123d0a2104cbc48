/**
 * When things are placed anew: only where a person folds, unfolds, focuses, goes back in time or
 * chooses what is folded away, or where the kernel tells all anew. Else what stands stands.
 */
import type { Look } from '../look';
import type { FullObject, Model } from '../rows';
import { focused, fold, type Folds } from './fold';
import { around, mainUse } from './lineage';
import { ground, parted, places, type Ground, type Places, type Size } from './place';

/** The object that the focus is on: the chosen one, or the newest. */
export function centre(view: Look): string {
  const call = view.model.calls.get(view.chosen.call);
  const chosen = [view.chosen.object, call?.object ?? '', mainUse(call)?.object ?? ''];
  const found = chosen.find(id => view.model.objects.has(id));
  return found ?? view.objects.findLast(object => object.role === 'made' && object.branch === '')?.id ?? '';
}

/** The object that a choice is about, where it is folded away. */
function hidden(view: Look, folds: Folds): string {
  const call = view.model.calls.get(view.chosen.call);
  const about = call && !view.model.objects.has(call.object) ? mainUse(call)?.object : view.chosen.object;
  return about && folds.stackOf.has(about) ? about : '';
}

export function survey(): (view: Look, size: Size, focus: boolean) => Places {
  let on: Ground | null = null;
  let known: readonly unknown[] = [];
  let calls: Model['calls'] | null = null;
  let settled = 0;
  let pinned: ReadonlySet<string> = new Set();

  const folds = (view: Look, placed: readonly FullObject[], focus: boolean): Folds =>
    focus
      ? focused(view, placed, centre(view))
      : fold(view, placed, { settled, pinned, unfolded: view.ui.unfolded });

  return (view, size, focus) => {
    const parts = parted(view);
    const { placed } = parts;
    const whole = view.model.calls !== calls && view.model.number === null;
    const at = view.past ? view.at : -1;
    const stamp = [view.ui.unfolded, at, focus, focus && centre(view), size.width, size.narrow];
    const changed = stamp.some((part, index) => part !== known[index]);
    calls = view.model.calls;
    known = stamp;
    if (whole || changed || !on) settled = view.last;
    if (whole) pinned = new Set();
    if (whole || changed || !on) on = ground(view, folds(view, placed, focus), size);
    const away = view.follow ? '' : hidden(view, on.folds);
    if (away) pinned = around(view, away);
    if (away && !focus) {
      settled = view.last;
      on = ground(view, folds(view, placed, focus), size);
    }
    return places(view, on, parts);
  };
}
