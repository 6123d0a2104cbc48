/** The parts of a dialog with one field per argument; `dialog` edits a call with them, `write` makes one. */
import { h } from './dom';
import { button, icon } from './icons';
import { hidden, inputFor, type Input } from './inputs';
import type { FullObject } from './rows';
import { own, rawOf, readAll, type Field, type Filled } from './schema';
import { clip, line } from './text';
import { trans } from './words';

let ids = 0;

export const nextId = (): string => `tc-f${++ids}`;

export interface Row {
  readonly field: Field;
  readonly input: Input;
  readonly element: HTMLElement;
  refresh(): void;
  complain(error: string): void;
}

export interface Around {
  readonly objects: readonly FullObject[];
  /** The number of the call: only older objects can be named. */
  readonly step: number;
  /** What to say of a field in place of its description, where there is something to say. */
  hint(field: Field, raw: string): string;
  /** Fields that are not as they were say so. */
  readonly marks: boolean;
}

/** A field with its label, its hint, and what is wrong with it. */
export function row(field: Field, around: Around, changed: () => void): Row {
  const id = nextId();
  const { objects, step } = around;
  const input = inputFor(field, { id, objects, step, described: `${id}-h ${id}-e` });
  const hint = h('span', { class: 'hint', id: `${id}-h` });
  const error = h('span', { class: 'tc-wrong', id: `${id}-e` });
  const tag = h('span', { class: 'tc-tag' }, icon('edited'), 'changed');
  const name = line(field.name, 80);
  const label = input.group
    ? h('span', { class: 'tc-label', id: `${id}-l` }, name)
    : h('label', { class: 'tc-label', for: id }, name);
  if (input.group) {
    input.element.setAttribute('role', field.kind === 'choice' ? 'radiogroup' : 'group');
    input.element.setAttribute('aria-labelledby', `${id}-l`);
    input.element.setAttribute('aria-describedby', `${id}-h ${id}-e`);
  }
  const place = h('div', { class: 'tc-row tc-line' }, input.element);
  const element = h('div', { class: 'tc-field' }, h('div', {}, label, ' ', hint), place, error);
  const was = rawOf(field, field.initial);

  function refresh(): void {
    const raw = input.raw();
    if (!around.marks || raw === was) tag.remove();
    else place.append(tag);
    const veiled = field.kind === 'text' ? hidden(raw) : '';
    hint.textContent = veiled
      ? trans.__('holds signs that are not seen: %1', veiled)
      : around.hint(field, raw) || clip(line(field.description, 400), 160);
  }
  function complain(text: string): void {
    error.textContent = text ? line(text, 300) : '';
    const target = input.group ? input.element : (element.querySelector(`#${id}`) ?? input.element);
    if (text) target.setAttribute('aria-invalid', 'true');
    else target.removeAttribute('aria-invalid');
  }
  input.element.addEventListener('input', () => {
    complain('');
    refresh();
    changed();
  });
  refresh();
  return { field, input, element, refresh, complain };
}

/** What the fields hold, and what is wrong with which. */
export const filledIn = (rows: readonly Row[]): Filled =>
  readAll(
    rows.map(one => one.field),
    new Map(rows.map(one => [one.field.name, one.input.raw()]))
  );

const FOCUSABLE =
  'button:not([disabled]):not([hidden]),input:not([disabled]),select:not([disabled]),textarea:not([disabled])';

export const firstStop = (rows: readonly Row[]): HTMLElement | null =>
  rows[0]?.element.querySelector<HTMLElement>(FOCUSABLE) ?? null;

/** Says what is wrong at its fields, and goes to the first; says whether there is such a field. */
export function complain(rows: readonly Row[], errors: Readonly<Record<string, string>>): boolean {
  for (const one of rows) one.complain(own(errors, one.field.name) ?? '');
  const first = rows.find(one => own(errors, one.field.name));
  first?.element.querySelector<HTMLElement>(FOCUSABLE)?.focus();
  return first !== undefined;
}

/** What is wrong with the whole. */
export function complaint(): { readonly element: HTMLElement; say(text: string): void } {
  const element = h('p', { class: 'tc-error', role: 'alert', hidden: true });
  return {
    element,
    say(text) {
      element.replaceChildren(icon('failed'), h('span', {}, line(text)));
      element.hidden = text === '';
    }
  };
}

export interface Dialog {
  readonly element: HTMLElement;
  /** A refusal, shown at its fields; the values stay. */
  refuse(reason: string, fields: Readonly<Record<string, string>>): void;
  busy(sent: boolean): void;
  focus(): void;
}

/** Tab goes round inside; the page behind is not reached. */
function trap(element: HTMLElement, event: KeyboardEvent): void {
  const stops = [...element.querySelectorAll<HTMLElement>(FOCUSABLE)];
  const [first, last] = [stops[0], stops.at(-1)];
  const leaving = event.shiftKey ? document.activeElement === first : document.activeElement === last;
  if (!leaving) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}

/** The dialog around a form: its title, what it is about, and the ways out. */
export function frame(title: string, about: string, form: HTMLElement, close: () => void): HTMLElement {
  const id = nextId();
  const head = h(
    'div',
    { class: 'tc-row' },
    h('h3', { id }, title),
    h('code', { class: 'muted' }, line(about, 60)),
    button('', { icon: 'close', label: trans.__('Close'), look: 'ghost icon right', onclick: close })
  );
  const attributes = { class: 'tc-dialog', role: 'dialog', 'aria-modal': 'true', 'aria-labelledby': id };
  const box = h('div', attributes, head, form);
  box.addEventListener('keydown', event => {
    event.stopPropagation();
    if (event.key === 'Tab') trap(box, event);
    if (event.key !== 'Escape') return;
    event.preventDefault();
    close();
  });
  return h('div', { class: 'tc-veil' }, box);
}
