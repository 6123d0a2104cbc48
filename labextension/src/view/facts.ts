/** Objects, values and arguments as a card shows them. */
import { isDecision } from './decide';
import { h, type Child } from './dom';
import { tileOf } from './graph/tile';
import { sign, thumb } from './icons';
import type { Look } from './look';
import type { FullCall, FullObject, FullPreview } from './rows';
import { stateOf } from './scene';
import { choices, definitionsOf, own } from './schema';
import { block, clip, gist, isObjectName, line, literal } from './text';
import { trans } from './words';

export type Fact = readonly [string, Child | readonly Child[]];

export function facts(all: readonly (Fact | null | false | '')[]): HTMLElement | null {
  const shown = all.filter((fact): fact is Fact => Array.isArray(fact));
  if (shown.length === 0) return null;
  return h(
    'dl',
    { class: 'tc-facts' },
    ...shown.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, ...(Array.isArray(value) ? value : [value]))])
  );
}

/** What a description says first; the whole of it is in the title, where it says more. */
export function described(description: string): HTMLElement | null {
  const first = gist(description);
  return first ? h('span', { title: first === description.trim() ? '' : block(description.trim(), 2000) }, first) : null;
}

export const muted = (text: string): HTMLElement => h('span', { class: 'muted small' }, text);

function fields(preview: FullPreview): HTMLElement | null {
  const shown = preview.fields
    .slice(0, 12)
    .map(([name, value]) => h('span', {}, `${line(name, 40)} `, h('b', {}, line(value, 80))));
  return shown.length ? h('div', { class: 'tc-kv' }, ...shown) : null;
}

/** An object's tile as it stands in the graph. */
const drawing = ({ role, preview }: FullObject): HTMLElement =>
  role === 'pending' ? thumb(sign('next')) : tileOf(preview);

/** An object in a line: its tile, its name, a word about it, its fields. */
export function shownObject(object: FullObject, title: string, aside: string): HTMLElement {
  const head = h('div', {}, h('span', { class: 'strong' }, line(title, 120)), ' ', muted(line(aside, 160)));
  return h('div', { class: 'tc-obj' }, drawing(object), h('div', {}, head, fields(object.preview)));
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
  const others = choices(own(definitionsOf(tool.parameters), parameter), tool.parameters).filter(
    one => one !== value && one !== null
  );
  return others.length && others.length < 4 ? `or ${others.map(one => literal(one, 40)).join(', ')}` : '';
}

function asked(call: FullCall, parameter: string): Child[] {
  if (!call.asked || JSON.stringify(call.asked[parameter]) === JSON.stringify(call.arguments[parameter])) return [];
  const before = call.asked[parameter];
  if (before === undefined)
    return call.filled.includes(parameter) || isObjectName(call.arguments[parameter])
      ? []
      : [' ', muted(trans.__('the model left it out'))];
  return [' ', muted(trans.__('the model asked for')), ' ', h('code', { class: 'muted' }, h('s', {}, literal(before, 80)))];
}

function argument(view: Look, call: FullCall, parameter: string, value: unknown, wide: boolean): Child[] {
  const object = named(view, call, parameter, value);
  const filled = call.filled.includes(parameter);
  if (object) {
    const aside = filled ? trans.__('filled in') : stateOf(view, object);
    const why = filled && object.kind ? trans.__('filled in: the newest %1', object.kind) : aside;
    return wide
      ? [shownObject(object, object.name, why), ...asked(call, parameter)]
      : [h('span', { class: 'strong' }, line(object.name)), ' ', muted(line(aside, 120)), ...asked(call, parameter)];
  }
  const or = isDecision(call) ? alternatives(view, call, parameter, value) : '';
  const text =
    typeof value === 'string' && value.length > 120
      ? h('pre', { class: 'tc-text', tabindex: 0 }, block(value, 4000))
      : h('code', { class: 'strong' }, literal(value));
  return [text, filled ? [' ', muted(trans.__('filled in'))] : [], or ? [' ', muted(or)] : [], asked(call, parameter)].flat();
}

/** What the model asked for, and does not run. */
function removed(call: FullCall): HTMLElement[] {
  const gone = Object.entries(call.asked ?? {}).filter(([parameter]) => !(parameter in call.arguments));
  return gone.flatMap(([parameter, value]) => [
    h('dt', { class: 'muted', title: parameter }, h('s', {}, clip(line(parameter, 80), 24))),
    h('dd', {}, h('code', { class: 'muted' }, h('s', {}, literal(value, 80))), ' ', muted(trans.__('taken out')))
  ]);
}

export function argumentsOf(view: Look, call: FullCall): HTMLElement | null {
  const wide = isDecision(call);
  const rows = Object.entries(call.arguments).flatMap(([parameter, value]) => [
    h('dt', { title: parameter }, clip(line(parameter, 80), 24)),
    h('dd', {}, ...argument(view, call, parameter, value, wide))
  ]);
  rows.push(...removed(call));
  return rows.length ? h('dl', { class: 'tc-args' }, ...rows) : null;
}
