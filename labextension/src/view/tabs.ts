/** The tabs. */
import { consume, focusInPlace, h, listen, nextId } from './dom';
import { t } from './text';
import { type PanelActions, type Tab, TABS, type ViewState } from './view_state';

/** The index of the tab that a key leads to; null for any other key. */
function nextTab({ key }: KeyboardEvent, index: number): number | null {
  const next = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: TABS.length - 1 }[key];
  return next === undefined ? null : (next + TABS.length) % TABS.length;
}

export class TabBar {
  private readonly _id = nextId();
  readonly panels = Object.fromEntries(TABS.map((tab, index) => [tab, this._panelOf(index)])) as Readonly<Record<Tab, HTMLElement>>;
  private readonly _buttons = TABS.map((tab, index) => this._buttonOf(tab, index));
  private readonly _list = h('div', { class: 'tc-tablist', role: 'tablist', label: t('Views') }, ...this._buttons);
  readonly element: HTMLElement = h('div', 'tc-tabs', this._list, ...this._beside);

  constructor(private readonly _acts: PanelActions, private readonly _beside: readonly HTMLElement[]) {
    listen(this._list, 'keydown', event => this._moveByKey(event));
  }

  paint({ ui }: ViewState): void {
    for (const [index, tab] of TABS.entries()) {
      const isShown = tab === ui.tab;
      const tabButton = this._buttons[index];
      tabButton?.setAttribute('aria-selected', String(isShown));
      if (tabButton) tabButton.tabIndex = isShown ? 0 : -1;
      this.panels[tab].hidden = !isShown;
    }
  }

  private _panelOf(index: number): HTMLElement {
    const tabId = `${this._id}-${index}`;
    return h('div', { class: 'tc-body', role: 'tabpanel', id: `${tabId}-p`, 'aria-labelledby': tabId });
  }

  private _buttonOf(tab: Tab, index: number): HTMLButtonElement {
    const tabId = `${this._id}-${index}`;
    const onclick = (): void => this._acts.setState({ tab });
    return h('button', { role: 'tab', id: tabId, 'aria-controls': `${tabId}-p`, onclick }, t(tab));
  }

  private _moveByKey(event: KeyboardEvent): void {
    const index = nextTab(event, this._buttons.findIndex(one => one === event.target));
    const [tab, tabButton] = index === null ? [] : [TABS[index], this._buttons[index]];
    if (!tab || !tabButton) return;
    this._acts.setState({ tab });
    focusInPlace(tabButton);
    consume(event);
  }
}
