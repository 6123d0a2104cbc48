/** Form fields for the arguments of a call: one input for each kind of field, with label, hint and error. */
import type { ObjectRow } from '../generated/contract';
import { type Child, closeOnEscape, h, joined, listen, mutedText, nextId, setChildren, whenChanged } from './dom';
import { isColumnParameter, MOST_SENT } from './full_preview';
import { button, icon } from './icons';
import { nameText } from './labels';
import { jsonText } from './exact';
import { candidates, type Field, type Filled, initialRaw, isChanged, isChoice, own, type Raw, read, readAll } from './schema';
import { clip, literalText, oneLine, seenAndHidden, summaryOf, t, textBlock, valueText } from './text';
import type { ViewState } from './view_state';

interface Input {
  readonly element: HTMLElement;
  /** Whether the element is a group of inputs. */
  readonly group: boolean;
  raw(): Raw;
  set(raw: Raw): void;
  /** Offers texts while one types, such as the columns of a table. */
  offer?(texts: readonly string[]): void;
}

interface InputContext {
  readonly id: string;
  /** The id, and where the hint and the error are. */
  readonly common: Readonly<Record<string, string>>;
  /** The objects that fit and can be named. */
  named(fits: (object: ObjectRow) => boolean): ObjectRow[];
}

/** What an input can hold, and its text on the screen. */
type Choice = readonly [raw: Raw, text: string];

const MOST_SEGMENTS = 4;

function plainInput(element: HTMLInputElement | HTMLTextAreaElement): Input {
  return { element, group: false, raw: () => element.value, set: raw => void (element.value = raw ?? '') };
}

/** An input for a text that may offer texts while one types. */
export function offering(input: HTMLInputElement): Required<Pick<Input, 'element' | 'offer'>> {
  const list = h('datalist', { id: nextId() });
  const offer = (texts: readonly string[]): void => {
    list.replaceChildren(...texts.map(value => h('option', { value })));
    // Without texts the input has no list: a screen reader would call it a combo box.
    if (texts.length) input.setAttribute('list', list.id);
    else input.removeAttribute('list');
  };
  return { element: h('div', 'tc-offers', input, list), offer };
}

/** The choices that write no value: to leave an argument out, and null. */
function withoutValue({ required, nullable, kind, standard, initial, options }: Field): Choice[] {
  const left = standard === undefined
    ? (kind === 'object' ? t('none (the newest is used)') : t('left out'))
    : t('default (%1)', literalText(standard, 40));
  const hasNull = nullable || initial === null || options.includes(null);
  return [...(required ? [] : [[undefined, left] as const]), ...(hasNull ? [[null, kind === 'object' ? t('none') : 'null'] as const] : [])];
}

const caption = (object: ObjectRow): string => joined(': ', nameText(object), oneLine(object.preview.caption));

/** One of some choices, as a menu or as radio buttons. */
function menu(around: InputContext, choices: readonly Choice[]): Input {
  const options = choices.map(([raw, text]) => {
    const option = h('option', {}, text);
    option.value = raw ?? '';
    return option;
  });
  const element = h('select', { ...around.common, class: 'tc-in mono' }, ...options);
  return {
    element, group: false, raw: () => choices[element.selectedIndex]?.[0],
    set: raw => void (element.selectedIndex = choices.length === 1 ? 0 : choices.findIndex(choice => choice[0] === raw))
  };
}

function segments(around: InputContext, choices: readonly Choice[], label: string | null = null): Input {
  const radios = choices.map(([raw]) => {
    const radio = h('input', { type: 'radio', name: around.id, key: `${around.id} ${raw}` });
    radio.value = raw ?? '';
    return radio;
  });
  const labels = radios.map((radio, index) => h('label', {}, radio, choices[index]?.[1]));
  return {
    element: groupOf('radiogroup', around, 'tc-seg', labels, label),
    group: true,
    raw: () => choices[radios.findIndex(radio => radio.checked)]?.[0],
    set: raw => radios.forEach((radio, index) => void (radio.checked = choices[index]?.[0] === raw))
  };
}

/** A group of inputs; with a label of its own it is described by that of the field. */
const groupOf = (role: string, { id, common }: InputContext, look: string, children: readonly Child[], label: string | null = null): HTMLElement =>
  h(
    'div',
    {
      role, class: look, label, [label ? 'aria-describedby' : 'aria-labelledby']: `${id}-l`,
      ...(!label && { 'aria-describedby': common['aria-describedby'] })
    },
    ...children
  );

/** One of the values of a field; what it holds at first is among them. */
function choiceInput(field: Field, around: InputContext, values: readonly Choice[]): Input {
  const others = withoutValue(field);
  const current = initialRaw(field);
  const known = [...values, ...others];
  const lost = current === undefined || known.some(([raw]) => raw === current) ? [] : [[current, oneLine(current ?? '', 60)] as const];
  // An object that is the only one of its kind is chosen from the start.
  const none = current === undefined && field.required && !(field.kind === 'object' && known.length === 1)
    ? [[undefined, t('choose one')] as const]
    : [];
  const all = field.kind === 'object' ? [...lost, ...known] : [...others, ...values, ...lost];
  const long = all.reduce((sum, [, text]) => sum + text.length + 4, 0) > 44;
  return !field.beside && (field.kind === 'object' || all.length > MOST_SEGMENTS || long) ? menu(around, [...all, ...none]) : segments(around, all);
}

function valuesOf(field: Field, around: InputContext): Choice[] {
  const values = field.kind === 'flag' ? [true, false] : field.options.filter(value => value !== null);
  const choice = { ...field, options: values, typeName: field.kind === 'flag' ? 'bool' : field.typeName };
  return [
    ...values.map(value => [jsonText(value), valueText(value, 60)] as const),
    ...around.named(object => isChoice(choice, object)).map(object => [jsonText(object.name), caption(object)] as const)
  ];
}

/** Whether a field is a list of columns, of which there are some to choose from. */
const isColumnList = ({ kind, name, initial }: Field, around: InputContext): boolean =>
  kind === 'texts' && isColumnParameter(name) && typeof initial !== 'string' && around.named(object => object.preview.columns.length > 0).length > 0;

/** Some of several names: of values, of objects, or of the columns that are offered later. */
function checkboxes(field: Field, around: InputContext): Input {
  const chosen = Array.isArray(field.initial) ? field.initial.map(String) : [];
  const element = groupOf('group', around, 'tc-checks', []);
  const boxes = new Map<string, HTMLInputElement>();
  // Not all columns of a very wide table are here: the others are typed.
  const others = h('textarea', { class: 'tc-in mono', label: t('Other columns'), placeholder: t('one per line'), rows: 2, spellcheck: 'false' });
  const typed = (): string[] => others.value.split('\n').map(name => name.trim()).filter(Boolean);
  const picked = (): string[] => [...new Set([...[...boxes].flatMap(([name, box]) => (box.checked ? [name] : [])), ...typed()])];
  const offer = whenChanged((...offered: string[]) => {
    // What is ticked stays, though another table does not have it.
    for (const name of new Set([...chosen, ...picked(), ...offered])) boxes.set(name, boxes.get(name) ?? h('input', { type: 'checkbox' }));
    for (const [name, box] of boxes) if (!(box.checked || chosen.includes(name) || offered.includes(name))) boxes.delete(name);
    const labels = [...boxes].map(([name, box]) => h('label', 'tc-check', box, oneLine(name, 80)));
    setChildren(element, labels.length ? [...labels, offered.length >= MOST_SENT && others] : [mutedText(t('There are no objects yet.'))]);
  });
  if (field.kind === 'choices') offer(...field.options.map(String));
  else offer(...around.named(object => field.options.includes(object.kind)).map(one => one.name));
  return {
    element,
    group: true,
    raw() {
      const names = picked();
      // Of columns that nobody has chosen yet, no list is sent.
      if (field.kind === 'texts' && names.length === 0 && field.initial === undefined) return undefined;
      const raw = jsonText([...chosen.filter(name => names.includes(name)), ...names.filter(name => !chosen.includes(name))]);
      return raw === jsonText(field.initial) ? initialRaw(field) : raw;
    },
    set(raw) {
      const names = raw ? read(field, raw) : {};
      others.value = '';
      for (const [name, box] of boxes) box.checked = 'value' in names && Array.isArray(names.value) && names.value.includes(name);
    },
    ...(field.kind === 'texts' && { offer: texts => void offer(...texts) })
  };
}

function textInput(field: Field, around: InputContext): Input {
  const value = initialRaw(field) ?? '';
  const look = field.kind === 'text' ? 'tc-in' : 'tc-in mono';
  const common = { ...around.common, class: look, spellcheck: 'false' };
  if ((field.kind === 'text' || field.kind === 'number') && value.length <= 60 && !value.includes('\n')) {
    const element = h('input', { ...common, type: 'text' });
    const input = plainInput(element);
    if (field.kind !== 'text') return input;
    const offers = offering(element);
    const offer = (texts: readonly string[]): void => {
      const isFor = value === '' || texts.includes(value) || isColumnParameter(field.name);
      offers.offer(isFor ? texts : []);
    };
    return { ...input, element: offers.element, offer };
  }
  const placeholder = field.kind === 'texts' ? t('one per line') : '';
  return plainInput(h('textarea', { ...common, placeholder, rows: Math.min(20, value.split('\n').length + 1) }));
}

/** The mark of an input for any value among the choices that write none. */
const ANY = 'value';

/** An input for any value, shown behind the choices that write none once "value" is chosen. */
function freeInput(field: Field, around: InputContext): Input {
  const isList = field.kind === 'objects' || field.kind === 'choices' || isColumnList(field, around);
  const inner = isList ? checkboxes(field, around) : textInput(field, around);
  const others = withoutValue(field);
  // An empty field of a required argument that has no value yet is not an empty text.
  if (others.length === 0) return { ...inner, raw: () => inner.raw() || (field.initial === undefined ? undefined : '') };
  const choice = segments(around, [...others, [ANY, t('value')]], t('Default or value'));
  const show = (): void => void (inner.element.hidden = choice.raw() !== ANY);
  listen(choice.element, 'input', () => {
    if (choice.raw() !== ANY) inner.set('');
    show();
  });
  return {
    ...inner,
    element: h('div', 'tc-free', choice.element, inner.element),
    raw: () => (choice.raw() === ANY ? inner.raw() : choice.raw()),
    set(raw) {
      choice.set(typeof raw === 'string' ? ANY : raw);
      inner.set(raw);
      show();
    }
  };
}

function inputOfKind(field: Field, around: InputContext): Input {
  switch (field.kind) {
    case 'object':
      return choiceInput(
        field, around, around.named(object => field.options.includes(object.kind)).map(object => [object.name, caption(object)] as const)
      );
    case 'choice':
    case 'flag':
      return choiceInput(field, around, valuesOf(field, around));
    default:
      return freeInput(field, around);
  }
}

/** An input in its label, with a hint; its accessible name is its own `aria-label`. */
export function labelledField(label: string, hint: string, input: HTMLElement): HTMLElement {
  return h('label', 'tc-field', h('span', '', h('span', 'tc-label', label), ' ', h('span', 'hint', hint)), input);
}

export interface FieldContext {
  readonly objects: readonly ObjectRow[];
  /** The number of the call: only older objects can be named. */
  readonly step: number;
  /** A hint that replaces the description; empty for none. */
  hint(field: Field, raw: Raw): string;
  /** Whether changed fields are marked. */
  readonly marks: boolean;
}

/** A field with its label, hint and error. */
export class FieldRow {
  private readonly _id = nextId();
  private readonly _described = `${this._id}-h ${this._id}-e`;
  readonly input = inputOfKind(this.field, {
    id: this._id,
    common: { id: this._id, 'aria-describedby': this._described },
    named: fits => candidates(fits, this._context.objects, this._context.step)
  });
  private readonly _about = h('span', 'hint', clip(oneLine(this.field.description, 400), 160));
  private readonly _hint = h('span', 'hint');
  private readonly _error = h('span', { class: 'tc-wrong', id: `${this._id}-e` });
  private readonly _changedTag = h('span', 'tc-tag', icon('edited'), t('changed'));
  private readonly _name = oneLine(this.field.name, 80);
  private _warning = '';
  private readonly _label = h(
    this.input.group ? 'span' : 'label', { class: 'tc-label', id: `${this._id}-l`, for: this.input.group ? null : this._id }, this._name
  );
  private readonly _hints = h('span', { class: 'tc-hints', id: `${this._id}-h` }, this._about, this._hint);
  readonly element = h(
    'div', 'tc-field', h('div', 'tc-over', this._label, this._hints, this._context.marks && this._changedTag), this.input.element, this._error
  );

  constructor(readonly field: Field, private readonly _context: FieldContext, private readonly _changed: () => void) {
    this.input.set(initialRaw(this.field));
    listen(this.input.element, 'input', () => {
      this.showError('');
      this.refresh();
      this._changed();
    });
    this.refresh();
  }

  /** Whether it holds another value than at first. */
  get isChanged(): boolean {
    return isChanged(this.field, this.input.raw());
  }

  /** Offers texts, and warns as of an error, which stops nothing; an empty text for no warning. */
  offer(texts: readonly string[], warning: string): void {
    this.input.offer?.(texts);
    if (warning || this._warning) this.showError(warning);
    this._warning = warning;
  }

  refresh(): void {
    const raw = this.input.raw();
    // What is hidden keeps its place: nothing moves as one types.
    this._changedTag.style.visibility = this.isChanged ? '' : 'hidden';
    const veiled = this.field.kind === 'text' && raw && seenAndHidden(raw).length > 1 ? literalText(raw, 120) : '';
    this._hint.textContent = veiled ? t('contains invisible characters: %1', veiled) : this._context.hint(this.field, raw);
    this._hint.title = this._hint.textContent;
    this._about.style.visibility = this._hint.textContent ? 'hidden' : '';
  }

  /** The input to write into, else the chosen one. */
  get first(): HTMLElement | null {
    return this._written ?? this.element.querySelector<HTMLElement>(':checked') ?? this.element.querySelector<HTMLElement>(FOCUSABLE);
  }

  private get _written(): HTMLElement | null {
    return this.element.querySelector<HTMLElement>(`:not([hidden]) > #${this._id}:not([hidden])`);
  }

  showError(text: string): void {
    this._error.textContent = text ? oneLine(text, 300) : '';
    const target = this._written ?? this.input.element;
    if (text) target.setAttribute('aria-invalid', 'true');
    else target.removeAttribute('aria-invalid');
  }
}

/** The arguments in the fields, and their errors. */
export const filledArguments = (rows: readonly FieldRow[]): Filled =>
  readAll(rows.map(one => one.field), new Map(rows.map(one => [one.field.name, one.input.raw()])));

const FOCUSABLE = ':is(button:not([hidden]),input,select,textarea):not([disabled])';

export const firstInput = (rows: readonly FieldRow[]): HTMLElement | null => rows[0]?.first ?? null;

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
    this.element.replaceChildren(icon('failed'), h('span', {}, textBlock(text, 400)));
    this.element.hidden = text === '';
  }
}

export interface Dialog {
  readonly element: HTMLElement;
  /** Shows a refusal at its fields; the values stay. */
  refuse(reason: string, fields: Readonly<Record<string, string>>): void;
  setBusy(sent: boolean): void;
  focus(): void;
  /** Shows what the model tells now. */
  paint?(view: ViewState): void;
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

/** The box of a dialog: title, subject, its description, the form, and Close. */
export function dialogBox(title: string, about: string, description: string, form: HTMLElement, close: () => void): HTMLElement {
  const id = nextId();
  const head = h(
    'div', 'tc-row', h('h3', { id }, title), h('code', 'muted', oneLine(about, 60)),
    button('', { icon: 'close', label: t('Close'), look: 'ghost icon right', onclick: close })
  );
  const attributes = { class: 'tc-dialog', role: 'dialog', 'aria-modal': 'true', 'aria-labelledby': id };
  const box = h('div', attributes, head, h('p', 'small muted', summaryOf(description)), form);
  closeOnEscape(box, close);
  listen(box, 'keydown', event => {
    event.stopPropagation();
    if (event.key === 'Tab') keepFocusInside(box, event);
  });
  return box;
}
