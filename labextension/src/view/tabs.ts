/** The tabs, and the list of branches beside them. */
import { h, once } from './dom';
import { icon } from './icons';
import { TABS, type Acts, type Look, type Tab } from './look';
import type { FullBranch } from './rows';
import { currentBranch } from './scene';
import { line, many } from './text';

let ids = 0;

const move = (event: KeyboardEvent, size: number, at: number, back: string, on: string): number | null => {
  if (event.key === on) return (at + 1) % size;
  if (event.key === back) return (at - 1 + size) % size;
  return event.key === 'Home' ? 0 : event.key === 'End' ? size - 1 : null;
};

export interface Branches {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

/** The button that names the branch; it opens the list to check out another. */
export function branches(acts: Acts): Branches {
  const name = h('span', { class: 'tc-branchname' });
  const id = `tc-b${++ids}`;
  const opener = h(
    'button',
    { type: 'button', class: 'tc-branch', 'aria-haspopup': 'listbox', 'aria-expanded': 'false', 'aria-controls': id },
    h('span', { class: 'muted' }, 'Branch'),
    ' ',
    name,
    icon('down')
  );
  const list = h('ul', { class: 'tc-list', role: 'listbox', 'aria-label': 'Branches', id, hidden: true });
  const element = h('div', { class: 'tc-branches right' }, opener, list);
  let view: Look;

  function toggle(open: boolean): void {
    list.hidden = !open;
    opener.setAttribute('aria-expanded', String(open));
    if (open)
      (list.querySelector<HTMLElement>('[aria-selected=true]') ?? list.querySelector<HTMLElement>('li'))?.focus({
        preventScroll: true
      });
  }
  function pick(branch: FullBranch): void {
    toggle(false);
    opener.focus({ preventScroll: true });
    if (!branch.current && view.live) acts.send({ type: 'checkout', branch: branch.id });
  }
  function option(branch: FullBranch): HTMLElement {
    const item = h(
      'li',
      {
        role: 'option',
        tabindex: -1,
        'aria-selected': String(branch.current),
        'aria-disabled': String(!view.live && !branch.current),
        onclick: () => pick(branch)
      },
      branch.current ? icon('done') : h('span', { class: 'i' }),
      h('span', {}, line(branch.name, 60)),
      h('span', { class: 'muted small' }, many(branch.calls, 'call'))
    );
    item.addEventListener('keydown', event => {
      if (event.key === 'Enter' || event.key === ' ') pick(branch);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    return item;
  }
  list.addEventListener('keydown', event => {
    const items = [...list.querySelectorAll<HTMLElement>('li')];
    const to = move(
      event,
      items.length,
      items.findIndex(item => item === document.activeElement),
      'ArrowUp',
      'ArrowDown'
    );
    if (to !== null) items[to]?.focus({ preventScroll: true });
    else if (event.key === 'Escape') {
      toggle(false);
      opener.focus({ preventScroll: true });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  opener.addEventListener('click', () => toggle(list.hidden));
  element.addEventListener('focusout', event => {
    if (!(event.relatedTarget instanceof globalThis.Node && element.contains(event.relatedTarget))) toggle(false);
  });

  const draw = once(() => {
    const all = [...view.model.branches.values()];
    const current = currentBranch(view.model);
    element.hidden = all.length === 0;
    name.textContent = line(current?.name ?? '', 40);
    name.classList.toggle('strong', all.length > 1);
    list.replaceChildren(...all.map(option));
  });
  return {
    element,
    paint(next) {
      view = next;
      draw(next.model.branches, next.live);
    }
  };
}

export interface Tabs {
  readonly element: HTMLElement;
  readonly panels: Readonly<Record<Tab, HTMLElement>>;
  paint(view: Look): void;
}

export function tabs(acts: Acts, beside: HTMLElement): Tabs {
  const id = `tc-t${++ids}`;
  const panels: Partial<Record<Tab, HTMLElement>> = {};
  const made = TABS.map((tab, index) => {
    const attributes = {
      type: 'button',
      role: 'tab',
      id: `${id}-${index}`,
      'aria-controls': `${id}-${index}-p`,
      onclick: () => acts.set({ tab })
    };
    const panel = h('div', {
      class: 'tc-body',
      role: 'tabpanel',
      id: `${id}-${index}-p`,
      'aria-labelledby': `${id}-${index}`
    });
    panels[tab] = panel;
    return { tab, button: h('button', attributes, tab), panel };
  });
  const list = h(
    'div',
    { class: 'tc-tablist', role: 'tablist', 'aria-label': 'Views' },
    ...made.map(one => one.button)
  );
  list.addEventListener('keydown', event => {
    const to = move(
      event,
      made.length,
      made.findIndex(one => one.button === event.target),
      'ArrowLeft',
      'ArrowRight'
    );
    const next = to === null ? undefined : made[to];
    if (!next) return;
    acts.set({ tab: next.tab });
    next.button.focus({ preventScroll: true });
    event.preventDefault();
    event.stopPropagation();
  });
  return {
    element: h('div', { class: 'tc-tabs' }, list, beside),
    panels: panels as Readonly<Record<Tab, HTMLElement>>,
    paint({ ui }) {
      for (const { tab, button, panel } of made) {
        const on = tab === ui.tab;
        button.setAttribute('aria-selected', String(on));
        button.tabIndex = on ? 0 : -1;
        panel.hidden = !on;
      }
    }
  };
}
