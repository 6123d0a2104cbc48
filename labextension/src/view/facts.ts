/** Objects, values and arguments as a card shows them. */
import { isDecision } from './decisions';
import { type Child, h, mutedText, scrollingText, strongText } from './dom';
import { tileOf } from './graph/elements';
import { leftOutText } from './fields';
import { sign, thumb } from './icons';
import { nameText, objectState } from './labels';
import type { FullCall, FullObject, FullPreview } from './rows';
import { choices, definitionsOf, own } from './schema';
import { clip, isObjectName, literalText, oneLine, summaryOf, t, textBlock } from './text';
import type { ViewState } from './view_state';

export type Fact = readonly [string, Child | readonly Child[]];

export function factList(all: readonly (Fact | null | false | '')[]): HTMLElement | null {
  const shown = all.filter((fact): fact is Fact => Array.isArray(fact));
  if (shown.length === 0) return null;
  return h(
    'dl',
    'tc-facts',
    ...shown.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, ...(Array.isArray(value) ? value : [value]))])
  );
}

/** The first paragraph of a description, with the whole text as tooltip. */
export function toolDescription(description: string): HTMLElement | null {
  const first = summaryOf(description);
  return first ? h('span', { title: first === description.trim() ? '' : textBlock(description.trim(), 2000) }, first) : null;
}

function fields(preview: FullPreview): HTMLElement | null {
  const shown = preview.fields
    .slice(0, 12)
    .map(([name, value]) => h('span', {}, `${oneLine(name, 40)} `, h('b', {}, oneLine(value, 80))));
  return shown.length ? h('div', 'tc-kv', ...shown) : null;
}

/** An object's tile as in the graph. */
const objectTile = ({ role, preview }: FullObject): HTMLElement =>
  role === 'pending' ? thumb(sign('next')) : tileOf(preview);

/** An object in one line: tile, name, note, fields. */
export function objectLine(object: FullObject, title: string, aside: string): HTMLElement {
  const head = h('div', {}, strongText(oneLine(title, 120)), ' ', mutedText(oneLine(aside, 160)));
  return h('div', 'tc-obj', objectTile(object), h('div', {}, head, fields(object.preview)));
}

/** The object that an argument's value names. */
export function namedObject(view: ViewState, call: FullCall, parameter: string, value: unknown): FullObject | null {
  if (!isObjectName(value)) return null;
  const ids = call.uses.filter(use => use.parameter === parameter).map(use => use.object);
  const used = ids.map(id => view.model.objects.get(id)).find(object => object?.name === value);
  return used ?? [...view.model.objects.values()].find(object => object.name === value && object.branch === call.branch) ?? null;
}

function alternatives(view: ViewState, call: FullCall, parameter: string, value: unknown): string {
  const tool = view.model.tools.get(call.tool);
  if (!tool) return '';
  const others = choices(own(definitionsOf(tool.parameters), parameter), tool.parameters).filter(
    one => one !== value && one !== null
  );
  return others.length && others.length < 4 ? t('or %1', others.map(one => literalText(one, 40)).join(', ')) : '';
}

function originalArgument(call: FullCall, parameter: string): Child[] {
  if (!call.asked || JSON.stringify(call.asked[parameter]) === JSON.stringify(call.arguments[parameter])) return [];
  const before = call.asked[parameter];
  if (before === undefined)
    return call.filled.includes(parameter) || isObjectName(call.arguments[parameter])
      ? []
      : [' ', mutedText(t('the model left it out'))];
  return [' ', mutedText(t('the model asked for')), ' ', h('code', 'muted', h('s', {}, literalText(before, 80)))];
}

/** Shows an object beside the arguments. */
export type Show = (object: FullObject) => void;

/** An object that a waiting call would get: its name, what it is, its first fields. */
function waitingObject(object: FullObject, aside: string, show: Show): Child[] {
  const { missing } = object.preview;
  return [
    h('button', { class: 'tc-name strong', key: `about ${object.id}`, onclick: () => show(object), onfocus: () => show(object) }, nameText(object)),
    ' ',
    mutedText(oneLine(missing ? t('%1, empty: %2', aside, missing) : aside, 120)),
    ' ',
    fields(object.preview)
  ];
}

function argumentValue(view: ViewState, call: FullCall, parameter: string, value: unknown, show: Show | null): Child[] {
  const object = namedObject(view, call, parameter, value);
  const filled = call.filled.includes(parameter);
  if (object) {
    const aside = filled ? t('filled in') : objectState(view, object);
    const why = filled && object.kind ? t('filled in: the newest %1', object.kind) : aside;
    return show
      ? [...waitingObject(object, why, show), ...originalArgument(call, parameter)]
      : [strongText(nameText(object)), ' ', mutedText(oneLine(aside, 120)), ...originalArgument(call, parameter)];
  }
  const or = isDecision(call) ? alternatives(view, call, parameter, value) : '';
  const text =
    typeof value === 'string' && /.{121}|\n./s.test(value)
      ? scrollingText(textBlock(value, 4000))
      : h('code', 'strong', literalText(value));
  return [text, filled ? [' ', mutedText(t('filled in'))] : [], or ? [' ', mutedText(or)] : [], originalArgument(call, parameter)].flat();
}

const argumentName = (parameter: string): string => clip(oneLine(parameter, 80), 24);

/** The arguments that the person removed. */
function removedArguments(call: FullCall): HTMLElement[] {
  const gone = Object.entries(call.asked ?? {}).filter(([parameter]) => !(parameter in call.arguments));
  return gone.flatMap(([parameter, value]) => [
    h('dt', { class: 'muted', title: parameter }, h('s', {}, argumentName(parameter))),
    h('dd', {}, h('code', 'muted', h('s', {}, literalText(value, 80))), ' ', mutedText(t('removed')))
  ]);
}

/** The arguments that were left out and have a default. */
function defaultArguments(view: ViewState, call: FullCall): HTMLElement[] {
  const definitions = definitionsOf(view.model.tools.get(call.tool)?.parameters ?? {});
  return Object.entries(definitions).flatMap(([parameter, { default: standard }]) =>
    parameter in call.arguments || standard === undefined || standard === null ? [] : [h('dt', 'muted', argumentName(parameter)), h('dd', 'muted', leftOutText(standard))]
  );
}

/** The arguments of a call; `show` shows the object of one that is pointed at. */
export function argumentsOf(view: ViewState, call: FullCall, show: Show | null = null): HTMLElement | null {
  const order = view.model.tools.get(call.tool)?.order ?? [];
  // A notebook file sorts the keys.
  const names = [...new Set([...order, ...Object.keys(call.arguments)])].filter(name => Object.hasOwn(call.arguments, name));
  const rows = names.flatMap(parameter => {
    const value = call.arguments[parameter];
    const object = show && namedObject(view, call, parameter, value);
    const onmouseenter = object ? () => show(object) : undefined;
    return [
      h('dt', { title: parameter }, argumentName(parameter)),
      h('dd', { onmouseenter }, ...argumentValue(view, call, parameter, value, show))
    ];
  });
  rows.push(...removedArguments(call), ...defaultArguments(view, call));
  return rows.length ? h('dl', 'tc-args', ...rows) : null;
}
