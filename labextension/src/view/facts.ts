/** Objects, values and arguments as a card shows them. */
import type { CallRow, ObjectRow, Preview } from '../generated/contract';
import { isDecision } from './decisions';
import { type Child, h, mutedText, scrollingText, strongText } from './dom';
import { jsonLines, jsonText } from './exact';
import { emptyCells, missingColumn } from './full_preview';
import { button, glyph, icon, sign, thumb } from './icons';
import { argumentNames, namesObject, nameText, objectState } from './labels';
import { choices, definitionsOf, own } from './schema';
import { originOf } from './origins';
import { literalText, oneLine, plural, seenAndHidden, summaryOf, t, textBlock } from './text';
import type { PanelActions, ViewState } from './view_state';

export type Fact = readonly [string, Child | readonly Child[]];

export function factList(all: readonly (Fact | null | false | '')[]): HTMLElement | null {
  const shown = all.filter((fact): fact is Fact => Array.isArray(fact));
  if (shown.length === 0) return null;
  return h('dl', 'tc-facts', ...shown.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, ...(Array.isArray(value) ? value : [value]))]));
}

/** The first paragraph of a description, with the whole text as tooltip. */
export function toolDescription(description: string): HTMLElement | null {
  const first = summaryOf(description);
  return first ? h('span', { title: textBlock(description.trim(), 2000) }, first) : null;
}

function fields(preview: Preview): HTMLElement | null {
  const shown = preview.fields
    .slice(0, 12)
    .map(([name, value]) => h('span', {}, `${oneLine(name, 40)} `, h('b', {}, oneLine(value, 80))));
  return shown.length ? h('div', 'tc-kv', ...shown) : null;
}

const objectTile = ({ role, preview }: ObjectRow): HTMLElement => thumb(role === 'pending' ? sign('next') : glyph(preview));

/** An object in one line: tile, name, note, fields. */
export function objectLine(object: ObjectRow, title: string, aside: string): HTMLElement {
  const head = h('div', {}, strongText(oneLine(title, 120)), ' ', mutedText(oneLine(aside, 160)));
  // A table or a picture is shown below, and needs no tile.
  if (object.preview.columns.length || object.preview.image) return head;
  return h('div', 'tc-obj', objectTile(object), h('div', {}, head, fields(object.preview)));
}

/** The object that a value of a call names. */
export function namedObject(view: ViewState, call: CallRow, path: string, value: unknown): ObjectRow | null {
  if (!namesObject(call, path, value)) return null;
  const used = call.uses.filter(use => use.parameter === path).map(use => view.model.objects.get(use.object));
  return used.find(object => object?.name === value) ?? null;
}

/** A text with its hidden characters as codes. */
const signs = (text: string): Child[] => seenAndHidden(text).map((part, index) => (index % 2 ? h('span', 'tc-sign', part) : part));

/** The parts of a value: names of objects without quotes, all else as JSON. */
function parts(view: ViewState, call: CallRow, path: string, value: unknown, indent: string): Child[] {
  const object = namedObject(view, call, path, value);
  if (object) return [strongText(nameText(object))];
  const inside = `${path}.`;
  if (
    !call.uses.some(use => use.parameter.startsWith(inside)) || typeof value !== 'object' || value === null
  ) return signs(indent ? jsonLines(value, indent) : jsonText(value));
  const isList = Array.isArray(value);
  const deeper = indent && `${indent}  `;
  const items = Object.entries(value).flatMap(([key, part], index) => [
    `${index ? ',' : ''}${deeper || (index ? ' ' : '')}`,
    ...(isList ? [] : signs(`${JSON.stringify(key)}: `)),
    ...parts(view, call, inside + key, part, deeper)
  ]);
  return [isList ? '[' : '{', ...items, indent, isList ? ']' : '}'];
}

/** A text of more than a line, and JSON that is not. */
const [LONG, LONG_JSON] = [/.{121}|\n/s, /^[[{].{72}/s];

/** Characters of a text from which on its size stands below it, and entries of a mapping that are rows. */
const [SIZED, ROWS] = [600, 12];

/** The texts that are shown at their full height. */
const whole = new Set<string>();

/** A long text in quotes, which scrolls; with its size, and where it is cut a button that shows all of it. */
function longText(key: string, value: string): HTMLElement {
  const text = scrollingText('"', ...signs(value), '"');
  if (value.length < SIZED) return text;
  const size = `${plural(value.trim().split('\n').length, 'line')}, ${plural([...value].length, 'character')}`;
  const show = (): void => {
    element.classList.toggle('whole', whole.has(key));
    toggle.textContent = whole.has(key) ? t('Show less') : t('Show all');
    element.classList.toggle('fits', text.scrollHeight > 0 && text.scrollHeight <= text.clientHeight && !whole.has(key));
  };
  const toggle = button('', { look: 'small', key: `whole ${key}`, onclick: () => {
    if (!whole.delete(key)) whole.add(key);
    show();
  } });
  const element = h('div', 'tc-long', text, h('div', 'tc-row small muted', size, toggle));
  show();
  new ResizeObserver(show).observe(text);
  return element;
}

/** A value of a call, all of it: texts in quotes, objects by their names, a small mapping in rows. A long one scrolls. */
function wholeValue(view: ViewState, call: CallRow, path: string, value: unknown): HTMLElement {
  if (typeof value === 'string' && LONG.test(value)) return longText(`${call.id} ${path}`, value);
  const entries = jsonText(value).startsWith('{') ? Object.entries(value as object) : [];
  if (entries.length && entries.length <= ROWS) return h(
    'dl', 'tc-map', ...entries.flatMap(([key, item]) => [h('dt', {}, ...signs(key)), h('dd', {}, wholeValue(view, call, `${path}.${key}`, item))])
  );
  return LONG_JSON.test(jsonText(value))
    ? scrollingText(...parts(view, call, path, value, '\n'))
    : h('code', 'strong', ...parts(view, call, path, value, ''));
}

function alternatives(view: ViewState, call: CallRow, parameter: string, value: unknown): string {
  const tool = view.model.tools.get(call.tool);
  if (!tool) return '';
  const others = choices(own(definitionsOf(tool.parameters), parameter), tool.parameters).filter(one => one !== value && one !== null);
  return others.length && others.length < 4 ? t('or %1', others.map(one => literalText(one, 40)).join(', ')) : '';
}

function originalArgument(view: ViewState, call: CallRow, parameter: string): Child[] {
  const now = call.arguments[parameter];
  if (!call.asked || jsonText(call.asked[parameter]) === jsonText(now)) return [];
  const before = call.asked[parameter];
  if (before === undefined)
    return call.filled.includes(parameter) || namesObject(call, parameter, now) ? [] : [' ', mutedText(t('the model left it out'))];
  return [' ', mutedText(t('the model asked for')), ' ', h('s', 'muted', wholeValue(view, call, parameter, before))];
}

/** Shows an object beside the arguments. */
export type Show = (object: ObjectRow) => void;

/** An object that a waiting call would get: its name, and what it is; its fields stand beside. */
function waitingObject(view: ViewState, call: CallRow, object: ObjectRow, aside: string, show: Show): Child[] {
  const empty = emptyCells(call, object.preview, view.model.tools.get(call.tool));
  return [
    h('button', { class: 'tc-name strong', key: `about ${object.id}`, onclick: () => show(object), onfocus: () => show(object) }, nameText(object)),
    ' ',
    mutedText(oneLine(empty ? t('%1, empty: %2', aside, empty) : aside, 160))
  ];
}

function argumentValue(view: ViewState, call: CallRow, parameter: string, value: unknown, show: Show | null): Child[] {
  const object = namedObject(view, call, parameter, value);
  const filled = call.filled.includes(parameter);
  if (object) {
    const aside = filled ? t('filled in') : objectState(view, object);
    const why = filled && object.kind ? t('filled in: the newest %1', object.kind) : aside;
    return show
      ? [...waitingObject(view, call, object, why, show), ...originalArgument(view, call, parameter)]
      : [strongText(nameText(object)), ' ', mutedText(oneLine(aside, 120)), ...originalArgument(view, call, parameter)];
  }
  const or = isDecision(call) ? alternatives(view, call, parameter, value) : '';
  const tables = isDecision(call) ? call.uses.flatMap(use => view.model.objects.get(use.object) ?? []).filter(one => one.preview.columns.length) : [];
  const missing = missingColumn(view, view.model.tools.get(call.tool), parameter, value, tables);
  const text = wholeValue(view, call, parameter, value);
  return [
    text, filled ? [' ', mutedText(t('filled in'))] : [], or ? [' ', mutedText(or)] : [], originalArgument(view, call, parameter),
    missing ? [' ', h('span', 'tc-lacks', icon('warning'), missing)] : []
  ].flat();
}

const argumentName = (parameter: string, look = ''): HTMLElement => h('dt', look, ...signs(parameter));

/** The arguments that the person removed. */
function removedArguments(view: ViewState, call: CallRow): HTMLElement[] {
  const gone = Object.entries(call.asked ?? {}).filter(([parameter]) => !(parameter in call.arguments));
  return gone.flatMap(([parameter, value]) => [
    argumentName(parameter, 'muted'),
    h('dd', 'muted', h('s', {}, wholeValue(view, call, parameter, value)), ' ', mutedText(t('removed')))
  ]);
}

/** The arguments that were left out and have a default. */
function defaultArguments(view: ViewState, call: CallRow): HTMLElement[] {
  const definitions = definitionsOf(view.model.tools.get(call.tool)?.parameters ?? {});
  return Object.entries(definitions).flatMap(([parameter, { default: standard }]) =>
    parameter in call.arguments || standard === undefined || standard === null
      ? []
      : [argumentName(parameter, 'muted'), h('dd', 'muted', t('default: %1', ''), wholeValue(view, call, '', standard))]
  );
}

/** Names and values of arguments. */
const MANY = 14;

/** The arguments of a call; `show` shows the object of one that is pointed at, `acts` the path of a value. */
export function argumentsOf(view: ViewState, call: CallRow, show: Show | null = null, acts: PanelActions | null = null): HTMLElement | null {
  const rows = argumentNames(call, view.model.tools.get(call.tool)).flatMap(parameter => {
    const value = call.arguments[parameter];
    const object = show && namedObject(view, call, parameter, value);
    const onmouseenter = object ? () => show(object) : undefined;
    const shown = argumentValue(view, call, parameter, value, show);
    // What an object is may say already where it came from.
    const named = namedObject(view, call, parameter, value);
    const says = call.origins.find(one => one.parameter === parameter)?.says;
    const origin = named && objectState(view, named) === says ? [] : originOf(view, call, parameter, acts);
    return [argumentName(parameter), h('dd', { onmouseenter }, ...shown, ...origin)];
  });
  rows.push(...removedArguments(view, call), ...defaultArguments(view, call));
  // Many short ones stand in two columns where there is room.
  const isWide = rows.length > MANY && !rows.some(row => row.querySelector('pre'));
  return rows.length ? h('dl', isWide ? 'tc-args many' : 'tc-args', ...rows) : null;
}
