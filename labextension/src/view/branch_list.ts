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

export interface BranchList {
  readonly element: HTMLElement;
  paint(view: ViewState): void;
}

/** The button that names the branch; it opens the list. */
export function branchList(acts: PanelActions): BranchList {
  const id = `tc-b${++ids}`;
  const name = h('span', { class: 'tc-branchname' });
  const gone = h('span', { class: 'muted' });
  const opener = h(
    'button',
    { type: 'button', class: 'tc-branch', 'aria-haspopup': 'dialog', 'aria-expanded': 'false', 'aria-controls': id },
    h('span', { class: 'muted' }, 'Branch'),
    ' ',
    name,
    gone,
    icon('down')
  );
  const list = h('div', { class: 'tc-list', role: 'dialog', 'aria-label': 'Branches', id, hidden: true });
  const element = h('div', { class: 'tc-branches right' }, opener, list);
  let view: ViewState;
  let typed = '';

  const set = (to: PanelState['branchList'], naming = ''): void => acts.setState({ branchList: to, renamedBranch: naming });
  const close = (): void => {
    set('closed');
    opener.focus({ preventScroll: true });
  };

  function goTo(branch: FullBranch): void {
    close();
    if (!branch.current && view.live) acts.send({ type: 'checkout', branch: branch.id });
  }

  function entry(branch: FullBranch): HTMLElement {
    const label = oneLine(branch.name, 60);
    const go = h(
      'button',
      {
        type: 'button',
        class: 'tc-goto',
        'aria-current': branch.current ? 'true' : undefined,
        disabled: !view.live && !branch.current,
        'data-k': `go ${branch.id}`,
        onclick: () => goTo(branch)
      },
      branch.current ? icon('done') : h('span', { class: 'i' }),
      h('span', { class: branch.current ? 'strong' : '' }, label),
      h('span', { class: 'muted small' }, branchSummary(branch))
    );
    const rename = (): void => {
      typed = branch.name;
      set(view.ui.branchList, branch.id);
    };
    const hide = (): void => acts.send({ type: 'hide_branch', branch: branch.id, hidden: true });
    return h(
      'li',
      {},
      go,
      view.live ? button('Name', { icon: 'edited', label: `Name ${label}`, look: 'ghost icon', key: `name ${branch.id}`, onclick: rename }) : null,
      view.live && !branch.current
        ? button('Hide', { icon: 'hide', label: `Hide ${label}`, look: 'ghost icon', key: `hide ${branch.id}`, onclick: hide })
        : null
    );
  }

  /** The form in which a branch gets a name. */
  function naming(branch: FullBranch): HTMLElement {
    const field = h('input', {
      class: 'tc-in',
      'aria-label': `New name of ${oneLine(branch.name, 60)}`,
      maxlength: MOST_NAME,
      'data-k': 'naming',
      oninput: () => void (typed = field.value)
    });
    field.value = typed;
    const wrong = view.model.refusal?.command === 'name_branch' ? oneLine(view.model.refusal.reason, 200) : '';
    field.setAttribute('aria-invalid', String(wrong !== ''));
    const submit = (event: Event): void => {
      event.preventDefault();
      const said = field.value.trim();
      if (said === branch.name || said === '') set(view.ui.branchList);
      else acts.send({ type: 'name_branch', branch: branch.id, name: said });
    };
    const save = h('button', { type: 'submit', class: 'tc-btn', disabled: view.ui.commandSent }, 'Save');
    const form = h('form', { onsubmit: submit, novalidate: true, class: 'tc-naming' }, field, save);
    return h('li', { class: 'naming' }, form, wrong ? h('p', { class: 'tc-wrong', role: 'alert' }, wrong) : null);
  }

  function outOfView(all: readonly FullBranch[]): Child[] {
    if (all.length === 0) return [];
    const open = view.ui.branchList === 'hidden';
    const show = (branch: FullBranch): HTMLElement => {
      const back = (): void => acts.send({ type: 'hide_branch', branch: branch.id, hidden: false });
      const label = oneLine(branch.name, 60);
      return h(
        'li',
        {},
        h('span', { class: 'tc-gone' }, label, h('span', { class: 'muted small' }, branchSummary(branch))),
        view.live ? button('Show', { look: 'small', key: `show ${branch.id}`, title: `Show ${label}`, onclick: back }) : null
      );
    };
    return [
      h(
        'button',
        { type: 'button', class: 'tc-btn ghost small', 'aria-expanded': String(open), 'data-k': 'gone', onclick: () => set(open ? 'open' : 'hidden') },
        icon('down'),
        `${all.length} hidden`
      ),
      open ? h('ul', { 'aria-label': 'Hidden branches' }, ...all.map(show)) : null
    ];
  }

  function inside(): Child[] {
    const known = visibleBranches(view.model);
    const rows = known.map(branch => (branch.id === view.ui.renamedBranch && view.live ? naming(branch) : entry(branch)));
    return [h('ul', { 'aria-label': 'Branches in view' }, ...rows), ...outOfView(hiddenBranches(view.model))];
  }

  function stops(): HTMLElement[] {
    return [...list.querySelectorAll<HTMLElement>('button:not(:disabled), input')];
  }

  list.addEventListener('keydown', event => {
    const typing = event.target instanceof HTMLInputElement;
    const rows = [...list.querySelectorAll<HTMLElement>('.tc-goto:not(:disabled)')];
    const at = rows.findIndex(row => row.parentElement?.contains(document.activeElement));
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape' && typing) set(view.ui.branchList);
    else if (event.key === 'Escape') close();
    else if (step && !typing && rows.length) rows[(at + step + rows.length) % rows.length]?.focus({ preventScroll: true });
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  opener.addEventListener('click', () => set(view.ui.branchList === 'closed' ? 'open' : 'closed'));
  element.addEventListener('focusout', event => {
    const to = event.relatedTarget;
    if (to instanceof globalThis.Node && !element.contains(to) && view.ui.branchList !== 'closed') set('closed');
  });

  /** What had the keyboard has it again; a list that was opened gets it. */
  function focus(before: string | null, opened: boolean): void {
    const all = stops();
    const named = all.find(one => one.dataset.k === (view.ui.renamedBranch ? 'naming' : before));
    const first = all.find(one => one.getAttribute('aria-current')) ?? all[0];
    const next = named ?? (opened || before !== null ? first : undefined);
    next?.focus({ preventScroll: true });
    if (next instanceof HTMLInputElement && before !== 'naming') next.select();
  }

  let drawn: PanelState['branchList'] = 'closed';
  const draw = whenChanged(() => {
    const known = visibleBranches(view.model);
    const away = hiddenBranches(view.model).length;
    const open = view.ui.branchList !== 'closed';
    element.hidden = known.length === 0;
    name.textContent = oneLine(currentBranch(view.model)?.name ?? '', 40);
    name.classList.toggle('strong', known.length > 1);
    gone.textContent = away ? ` · ${away} hidden` : '';
    opener.setAttribute('aria-expanded', String(open));
    const before = list.contains(document.activeElement) ? (document.activeElement?.getAttribute('data-k') ?? '') : null;
    list.hidden = !open;
    list.replaceChildren(...(open ? inside() : []).filter(one => one instanceof globalThis.Node));
    if (open) focus(before, drawn === 'closed');
    drawn = view.ui.branchList;
  });
  return {
    element,
    paint(next) {
      // A name that was taken in is done with.
      const done = view && view.ui.renamedBranch && next.model.branches.get(view.ui.renamedBranch)?.name === typed.trim();
      view = next;
      const { model, ui, live } = next;
      draw(model.branches, model.refusal, live, ui.branchList, ui.renamedBranch, ui.commandSent);
      if (done && ui.renamedBranch) queueMicrotask(() => set(view.ui.branchList));
    }
  };
}
