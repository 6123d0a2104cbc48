/** The card: what is chosen, as facts; for a call that waits, the decision. */
import { h, once, picture, prose, type Child } from './dom';
import { actions, isDecision } from './decide';
import { glyph, icon, sign, thumb } from './icons';
import { ancestors, descendants, type Acts, type Look } from './look';
import type { FullCall, FullObject, FullPreview } from './rows';
import { branchName, currentBranch, savedAs, stateOf } from './scene';
import { choices, definitionsOf } from './schema';
import { block, clip, isObjectName, line, literal } from './text';

type Fact = readonly [string, Child | readonly Child[]];

function facts(all: readonly (Fact | null | false | '')[]): HTMLElement | null {
  const shown = all.filter((fact): fact is Fact => Array.isArray(fact));
  if (shown.length === 0) return null;
  return h('dl', { class: 'tc-facts' }, ...shown.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, ...(Array.isArray(value) ? value : [value]))]));
}

const muted = (text: string): HTMLElement => h('span', { class: 'muted small' }, text);

function fields(preview: FullPreview): HTMLElement | null {
  const shown = preview.fields.slice(0, 12).map(([name, value]) => h('span', {}, `${line(name, 40)} `, h('b', {}, line(value, 80))));
  return shown.length ? h('div', { class: 'tc-kv' }, ...shown) : null;
}

const drawing = (object: FullObject): SVGElement => (object.role === 'pending' ? sign('next') : glyph(object.preview));

/** An object in a line: its tile, its name, a word about it, its fields. */
function shownObject(object: FullObject, title: string, aside: string): HTMLElement {
  const head = h('div', {}, h('span', { class: 'strong' }, line(title, 120)), ' ', muted(line(aside, 160)));
  return h('div', { class: 'tc-obj' }, thumb(drawing(object)), h('div', {}, head, fields(object.preview)));
}

function table(preview: FullPreview): HTMLElement {
  const row = (cells: readonly string[], tag: 'th' | 'td'): HTMLElement => h('tr', {}, ...cells.slice(0, 12).map(cell => h(tag, {}, line(cell, 60))));
  const body = preview.cells.slice(0, 12).map(cells => row(cells, 'td'));
  return h('div', { class: 'tc-scroll' }, h('table', { class: 'tc-table' }, h('thead', {}, row(preview.columns, 'th')), h('tbody', {}, ...body)));
}

/** The object at its full size, where there is more than the tile holds. */
function large(object: FullObject): Child {
  const { preview } = object;
  const src = picture(preview.image);
  if (src && preview.glyph.length === 0) return h('img', { class: 'tc-picture', src, alt: `${object.name}, a picture` });
  if (preview.columns.length) return table(preview);
  return preview.text && preview.fields.length === 0 ? h('pre', { class: 'tc-text', tabindex: 0 }, block(preview.text, 2000)) : null;
}

/** The object that an argument's value names. */
function named(view: Look, call: FullCall, parameter: string, value: unknown): FullObject | null {
  if (!isObjectName(value)) return null;
  const ids = call.uses.filter(use => use.parameter === parameter).map(use => use.object);
  const used = ids.map(id => view.model.objects.get(id)).find(object => object?.name === value);
  return used ?? view.objects.find(object => object.name === value && object.branch === call.branch) ?? null;
}

function alternatives(view: Look, call: FullCall, parameter: string, value: unknown): string {
  const tool = view.model.tools.get(call.tool);
  if (!tool) return '';
  const others = choices(definitionsOf(tool.parameters)[parameter], tool.parameters).filter(one => one !== value && one !== null);
  return others.length && others.length < 4 ? `or ${others.map(one => literal(one, 40)).join(', ')}` : '';
}

function asked(call: FullCall, parameter: string): Child[] {
  if (!call.asked || JSON.stringify(call.asked[parameter]) === JSON.stringify(call.arguments[parameter])) return [];
  const before = call.asked[parameter];
  if (before === undefined) return call.filled.includes(parameter) || isObjectName(call.arguments[parameter]) ? [] : [' ', muted('the model left it out')];
  return [' ', muted('the model asked for'), ' ', h('code', { class: 'muted' }, h('s', {}, literal(before, 80)))];
}

function argument(view: Look, call: FullCall, parameter: string, value: unknown, wide: boolean): Child[] {
  const object = named(view, call, parameter, value);
  const filled = call.filled.includes(parameter);
  if (object) {
    const aside = filled ? `filled in: the newest ${object.kind}` : stateOf(view, object);
    return wide ? [shownObject(object, object.name, aside), ...asked(call, parameter)] : [h('span', { class: 'strong' }, line(object.name)), ' ', muted(line(aside, 120)), ...asked(call, parameter)];
  }
  const or = isDecision(call) ? alternatives(view, call, parameter, value) : '';
  const text = typeof value === 'string' && value.length > 120 ? h('pre', { class: 'tc-text', tabindex: 0 }, block(value, 4000)) : h('code', { class: 'strong' }, literal(value));
  return [text, filled ? [' ', muted('filled in')] : [], or ? [' ', muted(or)] : [], asked(call, parameter)].flat();
}

function argumentsOf(view: Look, call: FullCall): HTMLElement | null {
  const wide = isDecision(call);
  const rows = Object.entries(call.arguments).flatMap(([parameter, value]) => [
    h('dt', { title: parameter }, clip(line(parameter, 80), 24)),
    h('dd', {}, ...argument(view, call, parameter, value, wide))
  ]);
  return rows.length ? h('dl', { class: 'tc-args' }, ...rows) : null;
}

function errorOf(call: FullCall): Child {
  return call.error ? h('div', { class: 'tc-error' }, icon('failed'), h('span', {}, block(call.error, 4000))) : null;
}

function printsOf(call: FullCall): Child {
  return call.prints ? h('div', { class: 'tc-prints' }, h('h4', {}, 'Printed'), h('pre', { class: 'tc-text', tabindex: 0 }, block(call.prints, 20_000))) : null;
}

const code = (text: string): HTMLElement => h('code', {}, line(text, 400));

const bound = (call: FullCall): Child[] => [h('span', { class: 'muted' }, code(`${call.bound.slice(0, 4)} ${call.bound.slice(4, 8)}`), ', exactly these arguments')];

function title(text: string, look: string, aside: string): HTMLElement {
  return h('div', { class: 'tc-title' }, h('h3', { class: look }, text), h('span', { class: 'small muted' }, aside));
}

const place = (call: FullCall): string => `call ${call.step}, turn ${call.turn}`;

const stale: Child[] = ['may be stale: what the model decided it on has changed since'];

function callFacts(view: Look, call: FullCall): HTMLElement | null {
  const made = view.model.objects.get(call.object);
  const open = isDecision(call);
  return facts([
    open && call.downstream && ['Downstream', prose(line(call.downstream))],
    open && call.why && ['Why it waits', prose(line(call.why))],
    open && call.bound && ['Bound to', bound(call)],
    !open && made ? ['Gives', h('span', { class: 'strong' }, line(made.name))] : null,
    !open && call.result ? ['Result', code(call.result)] : null,
    call.reason ? ['Reason', line(call.reason)] : null,
    call.memory ? ['From', 'memory: it did not run again'] : null,
    call.stale ? ['Note', stale] : null
  ]);
}

const STARTED = 'It had started and never finished: nobody knows whether it took effect. It does not run again unless you say so.';

function callCard(view: Look, call: FullCall): Child[] {
  const description = view.model.tools.get(call.tool)?.description ?? '';
  return [
    title(line(call.tool, 120), 'mono', place(call)),
    description ? h('p', {}, clip(line(description.split('\n\n')[0]?.replace(/\s+/g, ' ') ?? '', 600), 280)) : null,
    call.status === 'unknown' ? h('p', { class: 'tc-note' }, icon('unknown'), h('span', {}, STARTED)) : null,
    argumentsOf(view, call),
    errorOf(call),
    callFacts(view, call),
    printsOf(call)
  ];
}

const names = (objects: readonly FullObject[]): string => {
  const shown = objects.slice(0, 12).map(object => line(object.name, 60));
  return shown.join(', ') + (objects.length > 12 ? ` and ${objects.length - 12} more` : '');
};

function wentInto(view: Look, object: FullObject): Child[] | null {
  const after = descendants(view, object.id);
  const outputs = [object, ...after].map(one => savedAs(view, one)).filter(Boolean);
  const parts: Child[] = after.length ? [names(after)] : [];
  for (const output of outputs) parts.push(parts.length ? ', output ' : 'output ', code(output));
  return parts.length ? parts : null;
}

/** The object of the same name on another branch, where it came out otherwise. */
function elsewhere(view: Look, object: FullObject, compare: () => void): Fact | null {
  const twin = view.objects.find(one => one.name === object.name && one.branch !== '' && one.branch !== object.branch);
  if (!twin || object.branch !== '') return null;
  const link = h('button', { type: 'button', class: 'tc-link', onclick: compare }, 'Compare');
  const caption = twin.preview.caption ? `is ${twin.preview.caption}` : 'stands there too';
  return [`In ${clip(line(branchName(view.model, twin.branch), 40), 10)}`, [`${line(twin.name)} ${line(caption)}. `, link]];
}

function origin(call: FullCall | undefined): string {
  if (!call) return 'from the notebook';
  return call.status === 'answered' ? `given by you for ${call.tool}, call ${call.step}` : `made by ${call.tool}, call ${call.step}`;
}

function objectFacts(view: Look, object: FullObject, call: FullCall | undefined, acts: Acts): HTMLElement | null {
  const before = ancestors(view.model, object.id);
  const after = wentInto(view, object);
  return facts([
    view.past && ['Objects', names(view.objects.filter(one => one.branch === '' && one.role !== 'pending'))],
    before.length > 0 && ['Came from', names(before)],
    after && ['Went into', after],
    object.equals ? ['Equal to', `${line(object.equals)}: the same content`] : null,
    elsewhere(view, object, () => acts.set({ tab: 'Compare' })),
    object.description ? ['About', line(object.description)] : null,
    call?.reason ? ['Reason', line(call.reason)] : null,
    object.note ? ['Note', line(object.note)] : null,
    call?.stale ? ['Note', stale] : null
  ]);
}

function objectCard(view: Look, object: FullObject, call: FullCall | undefined, acts: Acts): Child[] {
  const current = view.model.branches.size > 1 ? `branch ${currentBranch(view.model)?.name ?? ''}` : '';
  const aside = object.branch ? `branch ${branchName(view.model, object.branch)}` : current || (call ? place(call) : object.kind);
  const head = object.preview.caption || object.kind;
  return [
    title(view.past ? `Known at step ${view.at}` : line(object.name, 120), '', view.past ? `after turn ${view.calls.at(-1)?.turn ?? 0}` : line(aside, 60)),
    shownObject(object, view.past ? object.name : head, origin(call)),
    large(object),
    call ? argumentsOf(view, call) : null,
    call ? errorOf(call) : null,
    objectFacts(view, object, call, acts),
    call ? printsOf(call) : null
  ];
}

export interface Card {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

/** The card and its buttons. */
export function card(acts: Acts): Card {
  const body = h('div', { class: 'tc-cardbody' });
  const decide = actions(acts);
  const element = h('section', { class: 'tc-card', 'aria-label': 'Details', tabindex: -1 }, body, decide.element);
  let view: Look;

  function inside(): Child[] {
    const call = view.model.calls.get(view.chosen.call);
    const object = view.model.objects.get(view.chosen.object);
    const made = object && object.role !== 'output' && object.role !== 'pending' && !(call && isDecision(call));
    if (object && made) return objectCard(view, object, call, acts);
    if (call) return callCard(view, call);
    if (object) return [title(line(`${object.name}: ${object.kind}`, 120), '', 'output'), h('p', {}, line(object.description)), muted('Still to save.')];
    return [h('p', { class: 'muted' }, 'The calls of the session, and what they make, are shown here.')];
  }

  const draw = once(() => {
    body.replaceChildren();
    for (const child of inside()) if (child) body.append(child);
  });

  return {
    element,
    paint(next) {
      view = next;
      const { model, chosen } = next;
      const focus = element.contains(document.activeElement);
      draw(model.calls.get(chosen.call), model.objects, model.tools, model.branches, chosen.call, chosen.object, next.at, next.past);
      decide.paint(next);
      // A button that went must not take the keyboard with it.
      if (focus && !element.contains(document.activeElement)) element.focus({ preventScroll: true });
    }
  };
}
