/** Form fields for the arguments of a call: one input for each kind of field, with label, hint and error. */
import { type Child, h, listen, mutedText } from './dom';
import { button, icon } from './icons';
import { nameText } from './labels';
import type { FullObject } from './rows';
import { candidates, type Field, type Filled, initialRaw, isChoice, own, readAll } from './schema';
import { clip, literalText, oneLine, summaryOf, t, visibleText } from './text';

interface Input {
  readonly element: HTMLElement;
  /** Whether the element is a group of inputs. */
  readonly group: boolean;
  raw(): string;
  set(raw: string): void;
}

interface InputContext {
  readonly id: string;
  /** The id, and where the hint and the error are. */
  readonly common: Readonly<Record<string, string>>;
  /** The objects that fit and can be named. */
  named(fits: (object: FullObject) => boolean): FullObject[];
}

/** The text for an argument that is left out, with its default. */
export const leftOutText = (standard: unknown): string => t('left out') + (standard === undefined || standard === null ? '' : `: ${literalText(standard, 40)}`);

const MOST_SEGMENTS = 4;

function plainInput(element: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement): Input {
  return { element, group: false, raw: () => element.value, set: raw => void (element.value = raw) };
}

function options(raws: readonly (readonly [string, string])[]): HTMLElement[] {
  return raws.map(([raw, textInput]) => {
    const option = h('option', {}, textInput);
    option.value = raw;
    return option;
  });
}

function caption(object: FullObject): string {
  return [nameText(object), oneLine(object.preview.caption)].filter(Boolean).join(': ');
}

function objectSelect(field: Field, around: InputContext): Input {
  const objects = around.named(object => field.options.includes(object.kind));
  const current = initialRaw(field);
  const known = objects.map(object => [object.name, caption(object)] as const);
  const left = field.initial === undefined ? t('none (the newest is used)') : t('none');
  const none = !field.required ? [['', left] as const] : current ? [] : [['', t('choose one')] as const];
  const lost = current && !objects.some(object => object.name === current) ? [[current, oneLine(current, 80)] as const] : [];
  return plainInput(
    h('select', { ...around.common, class: 'tc-in' }, ...options([...lost, ...known, ...none]))
  );
}

function checkboxes(field: Field, around: InputContext): Input {
  const chosen = Array.isArray(field.initial) ? field.initial.map(String) : [];
  const names = [...new Set([...chosen, ...around.named(object => field.options.includes(object.kind)).map(object => object.name)])];
  const boxes = names.map(name => ({ name, box: h('input', { type: 'checkbox' }) }));
  const labels = boxes.map(({ name, box }) => h('label', 'tc-check', box, oneLine(name, 80)));
  const none: Child = labels.length ? null : mutedText(t('There are no objects yet.'));
  return {
    element: h('div', 'tc-checks', ...labels, none),
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

const optionText = (value: unknown): string => (typeof value === 'string' ? oneLine(value, 60) : literalText(value, 60));

function segments(around: InputContext, raws: readonly (readonly [string, string])[]): Input {
  const radios = raws.map(([raw, text]) => {
    const radio = h('input', { type: 'radio', name: around.id });
    radio.value = raw;
    return { radio, label: h('label', {}, radio, text) };
  });
  return {
    element: h('div', 'tc-seg', ...radios.map(({ label }) => label)),
    group: true,
    raw: () => radios.find(({ radio }) => radio.checked)?.radio.value ?? '',
    set: raw => radios.forEach(({ radio }) => void (radio.checked = radio.value === raw))
  };
}

function choiceInput(field: Field, around: InputContext): Input {
  const values = field.nullable && !field.options.includes(null) ? [...field.options, null] : field.options;
  const named = around.named(object => isChoice(field, object));
  const known = [
    ...values.map(value => [JSON.stringify(value), optionText(value)] as const),
    ...named.map(object => [JSON.stringify(object.name), caption(object)] as const)
  ];
  const current = initialRaw(field);
  const extra =
    field.initial === undefined
      ? [['', field.required ? t('choose one') : leftOutText(field.standard)] as const]
      : known.some(([raw]) => raw === current)
        ? []
        : [[current, oneLine(current, 60)] as const];
  const all = [...known, ...extra];
  const long = all.reduce((sum, [, text]) => sum + text.length + 4, 0) > 38;
  if (all.length <= MOST_SEGMENTS && !long) return segments(around, field.required ? all.filter(([raw]) => raw !== '') : all);
  return plainInput(
    h('select', { ...around.common, class: 'tc-in mono' }, ...options(all))
  );
}

function flagInput(field: Field, around: InputContext): Input {
  const box = h('input', { ...around.common, type: 'checkbox' });
  const untouched = initialRaw(field);
  return {
    element: h('span', 'tc-flag', box),
    group: false,
    raw: () => (untouched === '' && !box.checked && !field.required ? '' : String(box.checked)),
    set: raw => void (box.checked = raw === 'true')
  };
}

function text(field: Field, around: InputContext): Input {
  const value = initialRaw(field);
  const common = { ...around.common, spellcheck: 'false' };
  if (value.length <= 60 && !value.includes('\n')) {
    const left = field.required ? '' : leftOutText(field.standard);
    const placeholder = field.initial === undefined ? left : field.initial === null ? t('none') : '';
    return plainInput(h('input', { ...common, type: 'text', placeholder, class: field.kind === 'text' ? 'tc-in' : 'tc-in mono' }));
  }
  return plainInput(h('textarea', { ...common, class: 'tc-in', rows: Math.min(10, value.split('\n').length + 1) }));
}

function inputOfKind(field: Field, around: InputContext): Input {
  switch (field.kind) {
    case 'object':
      return objectSelect(field, around);
    case 'objects':
      return checkboxes(field, around);
    case 'choice':
      return choiceInput(field, around);
    case 'flag':
      return around.named(object => object.kind === 'bool').length
        ? choiceInput({ ...field, options: [true, false], typeName: 'bool' }, around)
        : flagInput(field, around);
    case 'number':
    case 'text':
      return text(field, around);
    case 'texts':
    case 'json':
      return plainInput(
        h('textarea', {
          ...around.common,
          class: 'tc-in mono',
          rows: Math.min(8, initialRaw(field).split('\n').length + 1),
          placeholder: field.kind === 'texts' ? t('one per line') : '',
          spellcheck: 'false'
        })
      );
  }
}

/** The input of a field, holding its value. */
function inputFor(field: Field, around: InputContext): Input {
  const input = inputOfKind(field, around);
  input.set(initialRaw(field));
  return input;
}

/** The text with its invisible characters escaped; empty if it has none. */
const invisibleCharacters = (raw: string): string => (visibleText(raw) === raw.replace(/\r\n/g, '\n') ? '' : oneLine(raw, 120));

/** An input in its label, with a hint; its accessible name is its own `aria-label`. */
export function labelledField(label: string, hint: string, input: HTMLElement): HTMLElement {
  return h(
    'label',
    'tc-field',
    h('span', '', h('span', 'tc-label', label), ' ', h('span', 'hint', hint)),
    input
  );
}

let ids = 0;

export const nextId = (): string => `tc-f${++ids}`;

export interface FieldContext {
  readonly objects: readonly FullObject[];
  /** The number of the call: only older objects can be named. */
  readonly step: number;
  /** A hint that replaces the description; empty for none. */
  hint(field: Field, raw: string): string;
  /** Whether changed fields are marked. */
  readonly marks: boolean;
}

/** A field with its label, hint and error. */
export class FieldRow {
  private readonly _id = nextId();
  private readonly _described = `${this._id}-h ${this._id}-e`;
  readonly input = inputFor(this.field, {
    id: this._id,
    common: { id: this._id, 'aria-describedby': this._described },
    named: fits => candidates(fits, this._context.objects, this._context.step)
  });
  private readonly _hint = h('span', { class: 'hint', id: `${this._id}-h` });
  private readonly _error = h('span', { class: 'tc-wrong', id: `${this._id}-e` });
  private readonly _changedTag = h('span', 'tc-tag', icon('edited'), t('changed'));
  private readonly _name = oneLine(this.field.name, 80);
  private readonly _label = this.input.group
    ? h('span', { class: 'tc-label', id: `${this._id}-l` }, this._name)
    : h('label', { class: 'tc-label', for: this._id }, this._name);
  private readonly _line = h('div', 'tc-row tc-line', this.input.element);
  readonly element = h('div', 'tc-field', h('div', {}, this._label, ' ', this._hint), this._line, this._error);

  constructor(readonly field: Field, private readonly _context: FieldContext, private readonly _changed: () => void) {
    if (this.input.group) {
      const role = this.field.kind === 'objects' ? 'group' : 'radiogroup';
      const group = { role, 'aria-labelledby': `${this._id}-l`, 'aria-describedby': this._described };
      for (const [name, value] of Object.entries(group)) this.input.element.setAttribute(name, value);
    }
    listen(this.input.element, 'input', () => {
      this.showError('');
      this.refresh();
      this._changed();
    });
    this.refresh();
  }

  refresh(): void {
    const raw = this.input.raw();
    if (!this._context.marks || raw === initialRaw(this.field)) this._changedTag.remove();
    else this._line.append(this._changedTag);
    const veiled = this.field.kind === 'text' ? invisibleCharacters(raw) : '';
    this._hint.textContent = veiled
      ? t('contains invisible characters: %1', veiled)
      : this._context.hint(this.field, raw) || clip(oneLine(this.field.description, 400), 160);
  }

  showError(text: string): void {
    this._error.textContent = text ? oneLine(text, 300) : '';
    const target = this.input.group ? this.input.element : (this.element.querySelector(`#${this._id}`) ?? this.input.element);
    if (text) target.setAttribute('aria-invalid', 'true');
    else target.removeAttribute('aria-invalid');
  }
}

/** The arguments in the fields, and their errors. */
export const filledArguments = (rows: readonly FieldRow[]): Filled =>
  readAll(
    rows.map(one => one.field),
    new Map(rows.map(one => [one.field.name, one.input.raw()]))
  );

const FOCUSABLE = ':is(button:not([hidden]),input,select,textarea):not([disabled])';

export const firstInput = (rows: readonly FieldRow[]): HTMLElement | null =>
  rows[0]?.element.querySelector<HTMLElement>(FOCUSABLE) ?? null;

/** Shows the errors at their fields and focuses the first; returns whether there is one. */
export function complain(rows: readonly FieldRow[], errors: Readonly<Record<string, string>>): boolean {
  for (const one of rows) one.showError(own(errors, one.field.name) ?? '');
  const wrong = rows.filter(one => own(errors, one.field.name));
  firstInput(wrong)?.focus();
  return wrong.length > 0;
}

/** The error of a whole form. */
export class FormError {
  readonly element = h('p', { class: 'tc-error', role: 'alert', hidden: true });

  show(text: string): void {
    this.element.replaceChildren(icon('failed'), h('span', {}, oneLine(text)));
    this.element.hidden = text === '';
  }
}

export interface Dialog {
  readonly element: HTMLElement;
  /** Shows a refusal at its fields; the values stay. */
  refuse(reason: string, fields: Readonly<Record<string, string>>): void;
  setBusy(sent: boolean): void;
  focus(): void;
}

/** Keeps Tab inside the dialog. */
function keepFocusInside(element: HTMLElement, event: KeyboardEvent): void {
  const stops = [...element.querySelectorAll<HTMLElement>(FOCUSABLE)];
  const [first, last] = [stops[0], stops.at(-1)];
  const leaving = event.shiftKey ? document.activeElement === first : document.activeElement === last;
  if (!leaving) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}

/** The frame of a dialog: title, subject, its description, and Close. */
export function dialogFrame(title: string, about: string, description: string, form: HTMLElement, close: () => void): HTMLElement {
  const id = nextId();
  const head = h(
    'div',
    'tc-row',
    h('h3', { id }, title),
    h('code', 'muted', oneLine(about, 60)),
    button('', { icon: 'close', label: t('Close'), look: 'ghost icon right', onclick: close })
  );
  const attributes = { class: 'tc-dialog', role: 'dialog', 'aria-modal': 'true', 'aria-labelledby': id };
  const box = h('div', attributes, head, h('p', 'small muted', summaryOf(description)), form);
  listen(box, 'keydown', event => {
    event.stopPropagation();
    if (event.key === 'Tab') keepFocusInside(box, event);
    if (event.key !== 'Escape') return;
    event.preventDefault();
    close();
  });
  return h('div', 'tc-veil', box);
}
