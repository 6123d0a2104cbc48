/** One input for each kind of field. Each gives its element, its raw value, and a way to set it. */
import { h, type Child } from './dom';
import type { FullObject } from './rows';
import { candidates, rawOf, type Field } from './schema';
import { line, literal, seen } from './text';
import { trans } from './words';

export interface Input {
  readonly element: HTMLElement;
  /** What takes the label and the focus: the element itself, or a group. */
  readonly group: boolean;
  raw(): string;
  set(raw: string): void;
}

export interface Around {
  readonly id: string;
  readonly objects: readonly FullObject[];
  /** The number of the call: only older objects can be named. */
  readonly step: number;
  readonly described: string;
}

const FEW = 4;
const CHOOSE = 'choose one';

function simple(element: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement): Input {
  return { element, group: false, raw: () => element.value, set: raw => void (element.value = raw) };
}

function options(raws: readonly (readonly [string, string])[]): HTMLElement[] {
  return raws.map(([raw, text]) => {
    const option = h('option', {}, text);
    option.value = raw;
    return option;
  });
}

function caption(object: FullObject): string {
  return line(object.preview.caption ? `${object.name}: ${object.preview.caption}` : object.name, 80);
}

function objectSelect(field: Field, around: Around): Input {
  const found = candidates(field, around.objects, around.step);
  const current = rawOf(field, field.initial);
  const known = found.map(object => [object.name, caption(object)] as const);
  const left = field.initial === undefined ? trans.__('none: the newest is taken') : 'none';
  const none = !field.required ? [['', left] as const] : current ? [] : [['', CHOOSE] as const];
  const lost = current && !found.some(object => object.name === current) ? [[current, line(current, 80)] as const] : [];
  return simple(
    h(
      'select',
      { id: around.id, class: 'tc-in', 'aria-describedby': around.described },
      ...options([...lost, ...known, ...none])
    )
  );
}

function checks(field: Field, around: Around): Input {
  const chosen = Array.isArray(field.initial) ? field.initial.map(String) : [];
  const names = [...new Set([...chosen, ...candidates(field, around.objects, around.step).map(object => object.name)])];
  const boxes = names.map(name => ({ name, box: h('input', { type: 'checkbox' }) }));
  const labels = boxes.map(({ name, box }) => h('label', { class: 'tc-check' }, box, line(name, 80)));
  const none: Child = labels.length ? null : h('span', { class: 'muted small' }, trans.__('There is none yet.'));
  return {
    element: h('div', { class: 'tc-checks' }, ...labels, none),
    group: true,
    raw() {
      const picked = boxes.filter(({ box }) => box.checked).map(({ name }) => name);
      const order = [...chosen.filter(name => picked.includes(name)), ...picked.filter(name => !chosen.includes(name))];
      return field.initial === undefined && order.length === 0 ? '' : JSON.stringify(order);
    },
    set(raw) {
      const names = raw ? (JSON.parse(raw) as unknown[]) : [];
      for (const { name, box } of boxes) box.checked = names.includes(name);
    }
  };
}

const word = (value: unknown): string => (typeof value === 'string' ? line(value, 60) : literal(value, 60));

function segments(around: Around, raws: readonly (readonly [string, string])[]): Input {
  const radios = raws.map(([raw, text]) => {
    const radio = h('input', { type: 'radio', name: around.id });
    radio.value = raw;
    return { radio, label: h('label', {}, radio, text) };
  });
  return {
    element: h('div', { class: 'tc-seg' }, ...radios.map(({ label }) => label)),
    group: true,
    raw: () => radios.find(({ radio }) => radio.checked)?.radio.value ?? '',
    set: raw => radios.forEach(({ radio }) => void (radio.checked = radio.value === raw))
  };
}

function choice(field: Field, around: Around): Input {
  const values = field.nullable && !field.options.includes(null) ? [...field.options, null] : field.options;
  const known = values.map(value => [JSON.stringify(value), word(value)] as const);
  const current = rawOf(field, field.initial);
  const extra =
    field.initial === undefined
      ? [['', field.required ? CHOOSE : 'left out'] as const]
      : known.some(([raw]) => raw === current)
        ? []
        : [[current, line(current, 60)] as const];
  const all = [...known, ...extra];
  const long = all.reduce((sum, [, text]) => sum + text.length + 4, 0) > 52;
  if (all.length <= FEW && !long) return segments(around, field.required ? all.filter(([raw]) => raw !== '') : all);
  return simple(
    h('select', { id: around.id, class: 'tc-in mono', 'aria-describedby': around.described }, ...options(all))
  );
}

function flag(field: Field, around: Around): Input {
  const box = h('input', { id: around.id, type: 'checkbox', 'aria-describedby': around.described });
  const untouched = rawOf(field, field.initial);
  return {
    element: h('span', { class: 'tc-flag' }, box),
    group: false,
    raw: () => (untouched === '' && !box.checked && !field.required ? '' : String(box.checked)),
    set: raw => void (box.checked = raw === 'true')
  };
}

function text(field: Field, around: Around): Input {
  const value = rawOf(field, field.initial);
  const common = { id: around.id, 'aria-describedby': around.described, spellcheck: 'false' };
  if (value.length <= 60 && !value.includes('\n')) {
    const left = field.required ? '' : 'left out';
    const placeholder = field.initial === undefined ? left : field.initial === null ? 'none' : '';
    return simple(h('input', { ...common, type: 'text', placeholder, class: 'tc-in' }));
  }
  return simple(h('textarea', { ...common, class: 'tc-in', rows: Math.min(10, value.split('\n').length + 1) }));
}

function input(field: Field, around: Around): Input {
  const common = { id: around.id, 'aria-describedby': around.described };
  switch (field.kind) {
    case 'object':
      return objectSelect(field, around);
    case 'objects':
      return checks(field, around);
    case 'choice':
      return choice(field, around);
    case 'flag':
      return flag(field, around);
    case 'number':
      return simple(
        h('input', {
          ...common,
          type: 'number',
          step: field.integer ? 1 : 'any',
          placeholder: field.initial === undefined && !field.required ? 'left out' : '',
          class: 'tc-in mono'
        })
      );
    case 'text':
      return text(field, around);
    case 'texts':
    case 'json':
      return simple(
        h('textarea', {
          ...common,
          class: 'tc-in mono',
          rows: Math.min(8, rawOf(field, field.initial).split('\n').length + 1),
          placeholder: field.kind === 'texts' ? trans.__('one a line') : '',
          spellcheck: 'false'
        })
      );
  }
}

/** The input of a field, holding its value. */
export function inputFor(field: Field, around: Around): Input {
  const made = input(field, around);
  made.set(rawOf(field, field.initial));
  return made;
}

/** What hides in a text, made visible; nothing where nothing does. */
export const hidden = (raw: string): string => (seen(raw) === raw.replace(/\r\n/g, '\n') ? '' : line(raw, 120));
