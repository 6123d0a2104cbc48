/** What the person looks for in the graph: the words, what they find, and where it stands. */
import type { Acts, Look } from '../look';
import { hits, nextHit, type Hit } from './find';
import { finder, NOTHING, type Finder, type Query } from './finder';
import type { FullCall } from '../rows';
import type { Judged } from './overview';
import { counts, slowFrom, type Kind, type Usual } from './trouble';
import { unusual } from './unusual';

export interface Looking extends Judged {
  readonly element: HTMLElement;
  /** The keys of the nodes that stand for what was found. */
  readonly keys: ReadonlySet<string>;
  readonly open: boolean;
  set(open: boolean): void;
  /** The bar; `always` where the session is long. */
  paint(view: Look, always: boolean, focus: boolean): void;
}

export interface Wishes {
  again(): void;
  focus(on: boolean): void;
  close(): void;
}

const NONE: ReadonlyMap<Kind, number> = new Map();
const NOTHING_KNOWN: Usual = { slow: Infinity, unusual: new Map() };
/** Before a session ends, what is usual is asked again when it has grown by so much. */
const GROWN = 1.05;

/** What is usual among the calls; looking through all of them at each step would be slow. */
function judge(): (view: Look) => Usual {
  let calls: readonly FullCall[] = [];
  let usual = NOTHING_KNOWN;
  return view => {
    const [now, then] = [view.calls.length, calls.length];
    const ended = view.model.session.phase === 'finished';
    const same = now === then && view.calls.at(-1) === calls.at(-1);
    if (same || (!ended && now >= then && now < GROWN * then)) return usual;
    calls = view.calls;
    usual = { slow: slowFrom(calls), unusual: unusual(calls) };
    return usual;
  };
}

export function looking(acts: Acts, wishes: Wishes): Looking {
  const bar: Finder = finder({ look: ask, go: step, focus: on => wishes.focus(on), close: () => wishes.close() });
  let view: Look | null = null;
  let query: Query = NOTHING;
  let found: readonly Hit[] = [];
  let wrong = NONE;
  let usual = NOTHING_KNOWN;
  const judged = judge();
  let open = false;

  function ask(next: Query): void {
    query = next;
    found = view ? hits(view, query.text, query.kind, usual) : [];
    if (query.kind !== null && found.length > 0) step(1);
    else wishes.again();
  }

  function step(by: 1 | -1): void {
    const hit = view && nextHit(found, view, by);
    if (hit) acts.set({ chosen: { call: hit.call, object: hit.object }, form: null });
    else wishes.again();
  }

  return {
    element: bar.element,
    get hits() {
      return found;
    },
    get keys() {
      return new Set(found.flatMap(hit => [hit.object, `call:${hit.call}`]));
    },
    get wrong() {
      return wrong;
    },
    get usual() {
      return usual;
    },
    get open() {
      return open;
    },
    set(on) {
      open = on;
      if (!on) [query, found] = [NOTHING, []];
      wishes.again();
      if (on) bar.field.focus({ preventScroll: true });
    },
    paint(next, always, focus) {
      view = next;
      bar.element.hidden = !(always || open || focus);
      bar.element.classList.toggle('fixed', always);
      usual = bar.element.hidden ? NOTHING_KNOWN : judged(next);
      if (query !== NOTHING) found = hits(next, query.text, query.kind, usual);
      wrong = bar.element.hidden ? NONE : counts(next.calls, usual);
      const why = query.kind === 'unusual' ? (usual.unusual.get(next.chosen.call) ?? '') : '';
      if (!bar.element.hidden) bar.paint(next, { query, found, wrong, focus, why });
    }
  };
}
