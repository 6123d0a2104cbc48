/** The tools of the session: what each is, and the breakpoint that a click sets on it. */
import { h, once, type Child } from './dom';
import { icon } from './icons';
import type { Acts, Look } from './look';
import type { FullTool } from './rows';
import { block, gist, line, many } from './text';

/** What stands beside a tool's name: whether its calls wait, and why. */
function waits(tool: FullTool, stops: boolean): string {
  if (stops) return 'its calls wait: breakpoint';
  if (tool.for_person) return 'a request to you';
  return tool.read_only ? 'read-only' : '';
}

function toggle(tool: FullTool, stops: boolean, view: Look, acts: Acts): HTMLElement {
  const send = (): void => acts.send({ type: 'break', tool: tool.id, on: !stops });
  return h(
    'button',
    {
      type: 'button',
      class: 'tc-stopat',
      'aria-pressed': String(stops),
      'aria-label': `Breakpoint on ${line(tool.id, 120)}`,
      title: stops ? 'Take the breakpoint away' : 'Let every call of this tool wait',
      'data-k': `break ${tool.id}`,
      disabled: !view.live || view.past || view.ui.sent,
      onclick: send
    },
    icon(stops ? 'wait' : 'ready'),
    h('span', { class: 'tool' }, line(tool.id, 120))
  );
}

function item(tool: FullTool, view: Look, acts: Acts): HTMLElement {
  const stops = view.model.session.stops.includes(tool.id);
  const said = waits(tool, stops);
  return h(
    'li',
    {},
    toggle(tool, stops, view, acts),
    said ? h('span', { class: 'end' }, said) : null,
    h('span', { class: 'what', title: block(tool.description.trim(), 2000) }, gist(tool.description))
  );
}

/** `12 tools, 1 breakpoint`. */
function sum(tools: number, stops: number): string {
  return many(tools, 'tool') + (stops ? `, ${many(stops, 'breakpoint')}` : '');
}

export interface Tools {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

/** A list that is folded until somebody wants it. */
export function tools(acts: Acts): Tools {
  const summary = h('summary', {});
  const list = h('ul', { 'aria-label': 'Tools' });
  const element = h('details', { class: 'tc-toolbox', hidden: true }, summary, list);
  let view: Look;

  const draw = once(() => {
    const all = [...view.model.tools.values()];
    element.hidden = all.length === 0;
    summary.textContent = sum(all.length, view.model.session.stops.length);
    const focus = document.activeElement?.getAttribute('data-k');
    const children: Child[] = element.open ? all.map(tool => item(tool, view, acts)) : [];
    list.replaceChildren(...children.filter(child => child instanceof HTMLElement));
    if (focus) [...list.querySelectorAll<HTMLElement>('button')].find(one => one.dataset.k === focus)?.focus();
  });
  const paint = (next: Look): void => {
    view = next;
    const { model, ui, live, past } = next;
    draw(model.tools, model.session.stops.join(), element.open, live, past, ui.sent);
  };
  element.addEventListener('toggle', () => paint(view));
  return { element, paint };
}
