/** The tabs. */
import { h } from './dom';
import { trans } from './text';
import { type PanelActions, type Tab, TABS, type ViewState } from './view_state';

let ids = 0;

const nextTab = (event: KeyboardEvent, size: number, at: number, back: string, on: string): number | null => {
  if (event.key === on) return (at + 1) % size;
  if (event.key === back) return (at - 1 + size) % size;
  return event.key === 'Home' ? 0 : event.key === 'End' ? size - 1 : null;
};

export interface TabBar {
  readonly element: HTMLElement;
  readonly panels: Readonly<Record<Tab, HTMLElement>>;
  paint(view: ViewState): void;
}

export function tabBar(acts: PanelActions, beside: HTMLElement): TabBar {
  const id = `tc-t${++ids}`;
  const panels: Partial<Record<Tab, HTMLElement>> = {};
  const made = TABS.map((tab, index) => {
    const attributes = {
      type: 'button',
      role: 'tab',
      id: `${id}-${index}`,
      'aria-controls': `${id}-${index}-p`,
      onclick: () => acts.setState({ tab })
    };
    const panel = h('div', {
      class: 'tc-body',
      role: 'tabpanel',
      id: `${id}-${index}-p`,
      'aria-labelledby': `${id}-${index}`
    });
    panels[tab] = panel;
    return { tab, button: h('button', attributes, trans.__(tab)), panel };
  });
  const list = h(
    'div',
    { class: 'tc-tablist', role: 'tablist', 'aria-label': trans.__('Views') },
    ...made.map(one => one.button)
  );
  list.addEventListener('keydown', event => {
    const to = nextTab(
      event,
      made.length,
      made.findIndex(one => one.button === event.target),
      'ArrowLeft',
      'ArrowRight'
    );
    const next = to === null ? undefined : made[to];
    if (!next) return;
    acts.setState({ tab: next.tab });
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
