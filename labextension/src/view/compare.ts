/** Two branches, call by call: what is the same folds to a line, what differs stands side by side. */
import { h, once, type Child } from './dom';
import { button, glyph, icon, thumb } from './icons';
import type { Acts, Look } from './look';
import type { FullBranch, FullCall, FullObject } from './rows';
import { currentBranch } from './scene';
import { duration, isObjectName, line, literal, many } from './text';

export interface Pair {
  readonly step: number;
  readonly left: FullCall | null;
  readonly right: FullCall | null;
  readonly same: boolean;
}

const ran = (call: FullCall): string => JSON.stringify([call.tool, call.arguments, call.status]);

/** The calls of another branch beside those of the shown one; before it began, they are one and the same. */
export function pairs(others: readonly FullCall[], own: readonly FullCall[]): Pair[] {
  const first = Math.min(...others.map(call => call.step), Infinity);
  const left = new Map(others.map(call => [call.step, call]));
  const right = new Map(own.map(call => [call.step, call]));
  const steps = [...new Set([...left.keys(), ...right.keys()])].sort((a, b) => a - b);
  return steps.map(step => {
    const mine = right.get(step) ?? null;
    const other = step < first ? mine : (left.get(step) ?? null);
    const same =
      mine !== null &&
      other !== null &&
      (mine === other || (ran(mine) === ran(other) && (mine.memory || other.memory)));
    return { step, left: other, right: mine, same };
  });
}

function value(name: string, given: unknown, differs: boolean): Child[] {
  const text = isObjectName(given) ? line(given, 80) : literal(given, 80);
  return [isObjectName(given) ? '' : `${line(name, 40)}=`, differs ? h('mark', {}, text) : text];
}

function callText(call: FullCall, other: FullCall | null): HTMLElement {
  const entries = Object.entries(call.arguments);
  const parts = entries.flatMap(([name, given], index) => {
    const differs = other !== null && JSON.stringify(other.arguments[name]) !== JSON.stringify(given);
    return [index ? ', ' : '', ...value(name, given, differs)];
  });
  return h('div', { class: 'tc-call' }, `${line(call.tool, 80)}(`, ...parts, ')');
}

function objectLine(object: FullObject | undefined): Child {
  if (!object) return null;
  const caption = h('span', { class: 'muted small' }, line(object.preview.caption, 80));
  const mini = thumb(glyph(object.preview), true);
  mini.append(h('span', { class: 'strong' }, line(object.name, 80)), caption);
  return mini;
}

/** What the saved object differs in from the one on the other branch. */
function savedFields(view: Look, call: FullCall, other: FullCall | null): Child {
  const fields = (one: FullCall | null): readonly [string, string][] =>
    view.model.objects.get(one?.uses[0]?.object ?? '')?.preview.fields ?? [];
  const theirs = new Map(fields(other));
  const differing = fields(call).filter(([name, value]) => theirs.get(name) !== value);
  const shown = differing
    .slice(0, 4)
    .map(([name, value]) => h('span', {}, `${line(name, 40)} `, h('mark', {}, line(value, 80))));
  return shown.length ? h('div', { class: 'tc-kv' }, ...shown) : null;
}

function outcome(view: Look, call: FullCall, other: FullCall | null): Child {
  if (call.error) return h('div', { class: 'tc-call bad' }, line(call.error, 200));
  return (
    objectLine(view.model.objects.get(call.object)) ??
    savedFields(view, call, other) ??
    (call.result ? h('div', { class: 'tc-call muted' }, line(call.result, 160)) : null)
  );
}

function cell(view: Look, call: FullCall | null, other: FullCall | null, look: string): HTMLElement {
  if (!call) return h('div', { class: `${look} muted small` }, 'not called');
  return h('div', { class: `${look} diff` }, callText(call, other), outcome(view, call, other));
}

function range(run: readonly Pair[]): string {
  const [first, last] = [run[0]?.step ?? 0, run.at(-1)?.step ?? 0];
  return first === last ? String(first) : `${first}–${last}`;
}

function sameLine(run: readonly Pair[], show: () => void): Child[] {
  const memory = run.every(pair => pair.left !== pair.right);
  const tools = run.map(pair => pair.right?.tool ?? '');
  const names = tools.length > 6 ? many(tools.length, 'call') : line(tools.join(', '), 200);
  const text = `${names}: the same${memory ? ', answered from memory' : ' in both, not run again'}`;
  const more = run.length > 1 ? button('Show', { look: 'ghost right small', onclick: show }) : null;
  return [
    h('span', { class: 'n' }, range(run)),
    h('div', { class: 'same' }, icon(memory ? 'memory' : 'equal'), h('span', {}, text), more)
  ];
}

function rows(view: Look, all: readonly Pair[], acts: Acts): Child[] {
  const made: Child[] = [];
  let run: Pair[] = [];
  const flush = (): void => {
    if (run.length) made.push(...sameLine(run, () => acts.set({ showSame: true })));
    run = [];
  };
  for (const pair of all) {
    const kind = pair.left === pair.right;
    if (run[0] && (run[0].left === run[0].right) !== kind) flush();
    if (pair.same && !view.ui.showSame) run.push(pair);
    else {
      flush();
      made.push(
        h('span', { class: 'n' }, String(pair.step)),
        cell(view, pair.left, pair.right, pair.same ? 'alike' : ''),
        cell(view, pair.right, pair.left, pair.same ? 'b alike' : 'b')
      );
    }
  }
  flush();
  return made;
}

/** How much ran; on the branch compared with, what is shared had run there. */
function total(calls: readonly FullCall[], original: boolean): string {
  const reused = (call: FullCall): boolean => call.memory && !original;
  const anew = calls.filter(call => !reused(call) && (call.status === 'succeeded' || call.status === 'failed'));
  const memory = calls.filter(reused).length;
  const time = duration(anew.reduce((sum, call) => sum + call.ms, 0));
  return [`${many(anew.length, 'call')} ran${memory ? `, ${memory} from memory` : ''}`, time ? `${time} in tools` : '']
    .filter(Boolean)
    .join(' · ');
}

function header(branch: string, calls: readonly FullCall[], look: string): HTMLElement {
  const edited = calls.find(call => call.edited);
  return h(
    'div',
    { class: `hd ${look}`.trim() },
    line(branch, 60),
    h('span', { class: 'muted small' }, edited ? `edited at call ${edited.step}` : 'as the model asked')
  );
}

const NOTHING = 'Edit a call or fork from one, and both branches stand here side by side.';

function picker(others: readonly FullBranch[], chosen: FullBranch, acts: Acts): Child {
  if (others.length < 2) return null;
  const select = h('select', {
    class: 'tc-in',
    'aria-label': 'Compare with',
    onchange: () => acts.set({ other: select.value })
  });
  for (const branch of others) {
    const option = h('option', { selected: branch === chosen }, line(branch.name, 60));
    option.value = branch.id;
    select.append(option);
  }
  return h('div', { class: 'tc-row tc-with' }, h('span', { class: 'muted small' }, 'Compare with'), select);
}

export interface Compare {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

export function compare(acts: Acts): Compare {
  const element = h('div', { class: 'tc-compare' });
  let view: Look;

  const draw = once(() => {
    const calls = [...view.model.calls.values()];
    const belongs = (call: FullCall, branch: FullBranch): boolean =>
      call.branch === branch.id || call.branch === branch.name;
    const others = [...view.model.branches.values()].filter(
      branch => !branch.current && calls.some(call => belongs(call, branch))
    );
    const chosen = others.find(branch => branch.id === view.ui.other) ?? others[0];
    if (!chosen) {
      element.replaceChildren(
        h(
          'div',
          { class: 'tc-nothing' },
          h('p', { class: 'strong' }, 'One branch so far'),
          h('p', { class: 'muted' }, NOTHING)
        )
      );
      return;
    }
    const theirs = calls.filter(call => belongs(call, chosen) && (!view.past || call.step <= view.at));
    const all = pairs(theirs, view.calls);
    const left = all.flatMap(pair => pair.left ?? []);
    const grid = h(
      'div',
      { class: 'tc-cmp' },
      h('span', { class: 'hd' }),
      header(chosen.name, left, ''),
      header(currentBranch(view.model)?.name ?? 'this branch', view.calls, 'b')
    );
    for (const child of rows(view, all, acts)) if (child) grid.append(child);
    grid.append(
      h('span', { class: 'n' }),
      h('div', { class: 'small muted' }, total(left, true)),
      h('div', { class: 'b small muted' }, total(view.calls, false))
    );
    element.replaceChildren(
      ...[picker(others, chosen, acts), grid].filter((one): one is HTMLElement => one instanceof HTMLElement)
    );
  });

  return {
    element,
    paint(next) {
      view = next;
      const { model, ui } = next;
      if (ui.tab === 'Compare')
        draw(model.calls, model.objects, model.branches, ui.other, ui.showSame, next.at, next.past);
    }
  };
}
