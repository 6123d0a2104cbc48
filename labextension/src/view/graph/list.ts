/** The graph as a list, for who hears it and does not see it. */
import { h, keyed } from '../dom';
import type { Look } from '../look';
import { line, many } from '../text';
import { parentsOf } from './lineage';
import type { Places } from './place';
import { node } from './words';

const MOST = 120;

/** What a spot says: what it is, what made it, and of what. */
function told(view: Look, spot: Places['spots'][number], found: Places): string {
  const { whole } = node(view, spot, { width: 0, narrow: false });
  const { object } = spot;
  const call = object ? view.model.calls.get(object.call) : undefined;
  if (!object || !call || found.spotOf(object.id) !== spot) return whole;
  const names = parentsOf(view, object.id).map(id => line(view.model.objects.get(id)?.name ?? '', 60));
  const from = names.length ? ` from ${names.join(' and ')}` : '';
  return `${whole}; ${object.role === 'pending' ? 'will be made' : 'made'} by ${line(call.tool, 80)}${from}, call ${call.step}`;
}

export interface List {
  readonly element: HTMLElement;
  paint(view: Look, found: Places): void;
}

export function list(): List {
  const rows = h('ul', { 'aria-label': 'Objects' });
  const rest = h('p');
  const element = h('div', { class: 'tc-sr' }, rows, rest);
  const draw = keyed(rows, (text: string) => h('li', {}, text));
  return {
    element,
    paint(view, found) {
      const shown = found.spots.slice(-MOST);
      draw(
        shown.map(spot => {
          const text = told(view, spot, found);
          return { key: spot.key, stamp: [text], item: text };
        })
      );
      const hidden = found.spots.length - shown.length;
      rest.textContent = hidden > 0 ? `and ${many(hidden, 'object')} before these: the list of steps has them` : '';
    }
  };
}
