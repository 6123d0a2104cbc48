/** The list of branches: check out, rename, hide and show a branch. */
import type { BranchRow } from '../generated/contract';
import { hiddenBranches, visibleBranches } from './compare/comparison';
import { type Child, consume, focusInPlace, h, hasFocus, joined, listen, mutedText, nextId, redraw, setChildren, whenChanged } from './dom';
import { button, icon } from './icons';
import { currentBranch } from './labels';
import { oneLine, plural, t } from './text';
import type { PanelActions, PanelState, ViewState } from './view_state';

const MOST_NAME = 60;

/** In what a branch differs, its calls and its tokens. */
const branchSummary = (branch: BranchRow): string =>
  joined(' · ', oneLine(branch.differs, 120), plural(branch.calls, 'call'), branch.tokens && plural(branch.tokens, 'token'));

/** The button that names the branch; it opens the list. */
export class BranchList {
  private readonly _id = nextId();
  private readonly _name = h('span', 'tc-branchname');
  private readonly _hiddenCount = h('span', 'muted');
  private readonly _opener = h(
    'button', { class: 'tc-branch', 'aria-haspopup': 'dialog', 'aria-expanded': 'false', 'aria-controls': this._id },
    h('span', 'muted', t('Branch')), ' ', this._name, this._hiddenCount, icon('down')
  );
  private readonly _list = h('div', { class: 'tc-list', role: 'dialog', label: t('Branches'), id: this._id, hidden: true });
  readonly element = h('div', 'tc-branches', this._opener, this._list);
  private _view!: ViewState;
  private _typedName = '';
  private _drawnState: PanelState['branchList'] = 'closed';
  private readonly _draw = whenChanged(() => {
    const known = visibleBranches(this._view.model);
    const away = hiddenBranches(this._view.model).length;
    const open = this._view.ui.branchList !== 'closed';
    this.element.hidden = known.length === 0;
    this._name.textContent = oneLine(currentBranch(this._view.model)?.name ?? '', 40);
    this._name.title = oneLine(currentBranch(this._view.model)?.name ?? '');
    this._name.classList.toggle('strong', known.length > 1);
    this._hiddenCount.textContent = away ? ` · ${t('%1 hidden', away)}` : '';
    this._opener.setAttribute('aria-expanded', String(open));
    this._list.hidden = !open;
    redraw(this._list, () => setChildren(this._list, open ? this._listContent() : []), '[aria-current]');
    this.element.closest('.tc')?.classList.toggle('listing', this._list.querySelectorAll('li').length > 4);
    if (open && this._drawnState === 'closed') focusInPlace(this._list.querySelector<HTMLElement>('[aria-current]'));
    this._drawnState = this._view.ui.branchList;
    const field = this._list.querySelector('input');
    if (hasFocus(field)) return;
    focusInPlace(field);
    field?.select();
  });

  constructor(private readonly _acts: PanelActions) {
    listen(this._list, 'keydown', event => {
      const typing = event.target instanceof HTMLInputElement;
      const rows = [...this._list.querySelectorAll<HTMLElement>('.tc-goto:not(:disabled)')];
      const at = rows.findIndex(row => hasFocus(row.parentElement));
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === 'Escape' && typing) this._setListState(this._view.ui.branchList);
      else if (event.key === 'Escape') this._close();
      else if (step && !typing && rows.length) focusInPlace(rows[(at + step + rows.length) % rows.length]);
      else return;
      consume(event);
    });
    listen(this._opener, 'click', () => this._setListState(this._view.ui.branchList === 'closed' ? 'open' : 'closed'));
    listen(this.element, 'focusout', event => {
      const to = event.relatedTarget;
      if (to instanceof globalThis.Node && !this.element.contains(to) && this._view.ui.branchList !== 'closed') this._setListState('closed');
    });
  }

  paint(next: ViewState): void {
    // Close the form once the new name is applied.
    const done = this._view && this._view.ui.renamedBranch && next.model.branches.get(this._view.ui.renamedBranch)?.name === this._typedName.trim();
    this._view = next;
    const { model, ui, live } = next;
    this._draw(model.branches, model.refusal, live, ui.branchList, ui.renamedBranch, ui.commandSent);
    if (done && ui.renamedBranch) queueMicrotask(() => this._setListState(this._view.ui.branchList));
  }

  private _setListState(to: PanelState['branchList'], nameForm = ''): void {
    this._acts.setState({ branchList: to, renamedBranch: nameForm });
  }

  private _close(): void {
    this._setListState('closed');
    focusInPlace(this._opener);
  }

  private _checkOut(branch: BranchRow): void {
    this._close();
    if (!branch.current && this._view.live) this._acts.send({ type: 'checkout', branch: branch.id });
  }

  private _branchEntry(branch: BranchRow): HTMLElement {
    const label = oneLine(branch.name, 60);
    const go = h(
      'button',
      {
        class: 'tc-goto',
        'aria-current': branch.current ? 'true' : undefined,
        disabled: !this._view.live && !branch.current,
        key: `go ${branch.id}`,
        onclick: () => this._checkOut(branch)
      },
      branch.current ? icon('done') : h('span', 'i'), h('span', { class: branch.current ? 'strong' : '' }, label),
      mutedText(branchSummary(branch))
    );
    const rename = (): void => {
      this._typedName = branch.name;
      this._setListState(this._view.ui.branchList, branch.id);
    };
    const hide = (): void => this._acts.send({ type: 'hide_branch', branch: branch.id, hidden: true });
    return h(
      'li', {}, go,
      this._view.live
        ? button('', { icon: 'edited', label: t('Rename %1', label), look: 'ghost icon', key: `name ${branch.id}`, onclick: rename })
        : null,
      this._view.live && !branch.current
        ? button('', { icon: 'hide', label: t('Hide %1', label), look: 'ghost icon', key: `hide ${branch.id}`, onclick: hide })
        : null
    );
  }

  /** The form that renames a branch. */
  private _naming(branch: BranchRow): HTMLElement {
    const field = h('input', {
      class: 'tc-in',
      label: t('New name of %1', oneLine(branch.name, 60)),
      maxlength: MOST_NAME,
      key: 'naming',
      oninput: () => void (this._typedName = field.value)
    });
    field.value = this._typedName;
    const wrong = this._view.model.refusal?.command === 'name_branch' ? oneLine(this._view.model.refusal.reason, 200) : '';
    field.setAttribute('aria-invalid', String(wrong !== ''));
    const submit = (): void => {
      const said = field.value.trim();
      if (said === branch.name || said === '') this._setListState(this._view.ui.branchList);
      else this._acts.send({ type: 'name_branch', branch: branch.id, name: said });
    };
    const save = button(t('Save'), { type: 'submit', disabled: this._view.ui.commandSent });
    const form = h('form', { onsubmit: submit, novalidate: true, class: 'tc-naming' }, field, save);
    return h('li', 'naming', form, wrong ? h('p', { class: 'tc-wrong', role: 'alert' }, wrong) : null);
  }

  private _hiddenEntries(all: readonly BranchRow[]): Child[] {
    if (all.length === 0) return [];
    const open = this._view.ui.branchList === 'hidden';
    const show = (branch: BranchRow): HTMLElement => {
      const back = (): void => this._acts.send({ type: 'hide_branch', branch: branch.id, hidden: false });
      const label = oneLine(branch.name, 60);
      return h(
        'li', {}, h('span', 'tc-gone', label, mutedText(branchSummary(branch))),
        this._view.live ? button(t('Show'), { look: 'small', key: `show ${branch.id}`, title: t('Show %1', label), onclick: back }) : null
      );
    };
    return [
      h(
        'button',
        { class: 'tc-btn ghost small', 'aria-expanded': String(open), key: 'gone', onclick: () => this._setListState(open ? 'open' : 'hidden') },
        icon('down'), t('%1 hidden', all.length)
      ),
      open ? h('ul', { label: t('Hidden branches') }, ...all.map(show)) : null
    ];
  }

  private _listContent(): Child[] {
    const branches = visibleBranches(this._view.model);
    const rows = branches.map(
      branch => (branch.id === this._view.ui.renamedBranch && this._view.live ? this._naming(branch) : this._branchEntry(branch))
    );
    return [h('ul', { label: t('Branches in view') }, ...rows), ...this._hiddenEntries(hiddenBranches(this._view.model))];
  }
}
