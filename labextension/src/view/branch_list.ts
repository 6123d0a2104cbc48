/** The list of branches: go to one, give it a name, take it out of view and back. */
import { hiddenBranches, visibleBranches } from './compare/comparison';
import { type Child, h, whenChanged } from './dom';
import { button, icon } from './icons';
import { currentBranch } from './labels';
import type { FullBranch } from './rows';
import { formatNumber, oneLine, plural } from './text';
import type { PanelActions, PanelState, ViewState } from './view_state';

let ids = 0;
const MOST_NAME = 60;

/** What a branch has: its calls, what its requests took, its last call. */
const branchSummary = (branch: FullBranch): string =>
  [
    plural(branch.calls, 'call'),
    branch.tokens ? `${formatNumber(branch.tokens)} tokens` : '',
    branch.last ? `last ${oneLine(branch.last, 40)}` : ''
  ]
    .filter(Boolean)
    .join(' · ');

/** The button that names the branch; it opens the list. */
export class BranchList {
  private readonly id = `tc-b${++ids}`;
  private readonly name = h('span', { class: 'tc-branchname' });
  private readonly hiddenCount = h('span', { class: 'muted' });
  private readonly opener = h(
    'button',
    { type: 'button', class: 'tc-branch', 'aria-haspopup': 'dialog', 'aria-expanded': 'false', 'aria-controls': this.id },
    h('span', { class: 'muted' }, 'Branch'),
    ' ',
    this.name,
    this.hiddenCount,
    icon('down')
  );
  private readonly list = h('div', { class: 'tc-list', role: 'dialog', 'aria-label': 'Branches', id: this.id, hidden: true });
  readonly element = h('div', { class: 'tc-branches right' }, this.opener, this.list);
  private view!: ViewState;
  private typedName = '';
  private drawnState: PanelState['branchList'] = 'closed';
  private readonly draw = whenChanged(() => {
    const known = visibleBranches(this.view.model);
    const away = hiddenBranches(this.view.model).length;
    const open = this.view.ui.branchList !== 'closed';
    this.element.hidden = known.length === 0;
    this.name.textContent = oneLine(currentBranch(this.view.model)?.name ?? '', 40);
    this.name.classList.toggle('strong', known.length > 1);
    this.hiddenCount.textContent = away ? ` · ${away} hidden` : '';
    this.opener.setAttribute('aria-expanded', String(open));
    const before = this.list.contains(document.activeElement) ? (document.activeElement?.getAttribute('data-k') ?? '') : null;
    this.list.hidden = !open;
    this.list.replaceChildren(...(open ? this.listContent() : []).filter(one => one instanceof globalThis.Node));
    if (open) this.restoreFocus(before, this.drawnState === 'closed');
    this.drawnState = this.view.ui.branchList;
  });

  constructor(private readonly acts: PanelActions) {
    this.list.addEventListener('keydown', event => {
      const typing = event.target instanceof HTMLInputElement;
      const rows = [...this.list.querySelectorAll<HTMLElement>('.tc-goto:not(:disabled)')];
      const at = rows.findIndex(row => row.parentElement?.contains(document.activeElement));
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === 'Escape' && typing) this.setListState(this.view.ui.branchList);
      else if (event.key === 'Escape') this.close();
      else if (step && !typing && rows.length) rows[(at + step + rows.length) % rows.length]?.focus({ preventScroll: true });
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    this.opener.addEventListener('click', () => this.setListState(this.view.ui.branchList === 'closed' ? 'open' : 'closed'));
    this.element.addEventListener('focusout', event => {
      const to = event.relatedTarget;
      if (to instanceof globalThis.Node && !this.element.contains(to) && this.view.ui.branchList !== 'closed') this.setListState('closed');
    });
  }

  paint(next: ViewState): void {
    // A name that was taken in is done with.
    const done = this.view && this.view.ui.renamedBranch && next.model.branches.get(this.view.ui.renamedBranch)?.name === this.typedName.trim();
    this.view = next;
    const { model, ui, live } = next;
    this.draw(model.branches, model.refusal, live, ui.branchList, ui.renamedBranch, ui.commandSent);
    if (done && ui.renamedBranch) queueMicrotask(() => this.setListState(this.view.ui.branchList));
  }

  private setListState(to: PanelState['branchList'], nameForm = ''): void {
    this.acts.setState({ branchList: to, renamedBranch: nameForm });
  }

  private close(): void {
    this.setListState('closed');
    this.opener.focus({ preventScroll: true });
  }

  private checkOut(branch: FullBranch): void {
    this.close();
    if (!branch.current && this.view.live) this.acts.send({ type: 'checkout', branch: branch.id });
  }

  private branchEntry(branch: FullBranch): HTMLElement {
    const label = oneLine(branch.name, 60);
    const go = h(
      'button',
      {
        type: 'button',
        class: 'tc-goto',
        'aria-current': branch.current ? 'true' : undefined,
        disabled: !this.view.live && !branch.current,
        'data-k': `go ${branch.id}`,
        onclick: () => this.checkOut(branch)
      },
      branch.current ? icon('done') : h('span', { class: 'i' }),
      h('span', { class: branch.current ? 'strong' : '' }, label),
      h('span', { class: 'muted small' }, branchSummary(branch))
    );
    const rename = (): void => {
      this.typedName = branch.name;
      this.setListState(this.view.ui.branchList, branch.id);
    };
    const hide = (): void => this.acts.send({ type: 'hide_branch', branch: branch.id, hidden: true });
    return h(
      'li',
      {},
      go,
      this.view.live ? button('Name', { icon: 'edited', label: `Name ${label}`, look: 'ghost icon', key: `name ${branch.id}`, onclick: rename }) : null,
      this.view.live && !branch.current
        ? button('Hide', { icon: 'hide', label: `Hide ${label}`, look: 'ghost icon', key: `hide ${branch.id}`, onclick: hide })
        : null
    );
  }

  /** The form in which a branch gets a name. */
  private naming(branch: FullBranch): HTMLElement {
    const field = h('input', {
      class: 'tc-in',
      'aria-label': `New name of ${oneLine(branch.name, 60)}`,
      maxlength: MOST_NAME,
      'data-k': 'naming',
      oninput: () => void (this.typedName = field.value)
    });
    field.value = this.typedName;
    const wrong = this.view.model.refusal?.command === 'name_branch' ? oneLine(this.view.model.refusal.reason, 200) : '';
    field.setAttribute('aria-invalid', String(wrong !== ''));
    const submit = (event: Event): void => {
      event.preventDefault();
      const said = field.value.trim();
      if (said === branch.name || said === '') this.setListState(this.view.ui.branchList);
      else this.acts.send({ type: 'name_branch', branch: branch.id, name: said });
    };
    const save = h('button', { type: 'submit', class: 'tc-btn', disabled: this.view.ui.commandSent }, 'Save');
    const form = h('form', { onsubmit: submit, novalidate: true, class: 'tc-naming' }, field, save);
    return h('li', { class: 'naming' }, form, wrong ? h('p', { class: 'tc-wrong', role: 'alert' }, wrong) : null);
  }

  private hiddenEntries(all: readonly FullBranch[]): Child[] {
    if (all.length === 0) return [];
    const open = this.view.ui.branchList === 'hidden';
    const show = (branch: FullBranch): HTMLElement => {
      const back = (): void => this.acts.send({ type: 'hide_branch', branch: branch.id, hidden: false });
      const label = oneLine(branch.name, 60);
      return h(
        'li',
        {},
        h('span', { class: 'tc-gone' }, label, h('span', { class: 'muted small' }, branchSummary(branch))),
        this.view.live ? button('Show', { look: 'small', key: `show ${branch.id}`, title: `Show ${label}`, onclick: back }) : null
      );
    };
    return [
      h(
        'button',
        { type: 'button', class: 'tc-btn ghost small', 'aria-expanded': String(open), 'data-k': 'gone', onclick: () => this.setListState(open ? 'open' : 'hidden') },
        icon('down'),
        `${all.length} hidden`
      ),
      open ? h('ul', { 'aria-label': 'Hidden branches' }, ...all.map(show)) : null
    ];
  }

  private listContent(): Child[] {
    const known = visibleBranches(this.view.model);
    const rows = known.map(branch => (branch.id === this.view.ui.renamedBranch && this.view.live ? this.naming(branch) : this.branchEntry(branch)));
    return [h('ul', { 'aria-label': 'Branches in view' }, ...rows), ...this.hiddenEntries(hiddenBranches(this.view.model))];
  }

  private focusableElements(): HTMLElement[] {
    return [...this.list.querySelectorAll<HTMLElement>('button:not(:disabled), input')];
  }

  /** What had the keyboard has it again; a list that was opened gets it. */
  private restoreFocus(before: string | null, opened: boolean): void {
    const all = this.focusableElements();
    const named = all.find(one => one.dataset.k === (this.view.ui.renamedBranch ? 'naming' : before));
    const first = all.find(one => one.getAttribute('aria-current')) ?? all[0];
    const next = named ?? (opened || before !== null ? first : undefined);
    next?.focus({ preventScroll: true });
    if (next instanceof HTMLInputElement && before !== 'naming') next.select();
  }
}
