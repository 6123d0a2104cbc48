/** The dialog `Edit call`: other arguments in a call's place. */
import { h, type Child } from './dom';
import { button, icon } from './icons';
import { hidden, inputFor, type Input } from './inputs';
import type { Acts, Look } from './look';
import type { FullCall } from './rows';
import { fieldsOf, rawOf, readAll, type Field } from './schema';
import { clip, line, literal } from './text';

let ids = 0;

interface Row {
  readonly field: Field;
  readonly input: Input;
  readonly element: HTMLElement;
  refresh(): void;
  complain(error: string): void;
}

function row(field: Field, call: FullCall, view: Look, changed: () => void): Row {
  const id = `tc-f${++ids}`;
  const input = inputFor(field, { id, objects: view.objects, step: call.step, described: `${id}-h ${id}-e` });
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
  const asked = call.asked ? call.asked[field.name] : call.arguments[field.name];
  const was = rawOf(field, field.initial);

  function refresh(): void {
    const raw = input.raw();
    if (raw === was) tag.remove();
    else place.append(tag);
    const other = raw !== rawOf(field, asked);
    const request = asked === undefined ? 'the model left it out' : `the model asked for ${literal(asked, 60)}`;
    const veiled = field.kind === 'text' ? hidden(raw) : '';
    hint.textContent = veiled
      ? `holds signs that are not seen: ${veiled}`
      : other
        ? request
        : clip(line(field.description, 400), 160);
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

const FOCUSABLE = 'button:not([disabled]),input:not([disabled]),select:not([disabled]),textarea:not([disabled])';

/** Tab goes round inside; the page behind is not reached. */
function trap(element: HTMLElement, event: KeyboardEvent): void {
  const stops = [...element.querySelectorAll<HTMLElement>(FOCUSABLE)];
  const [first, last] = [stops[0], stops.at(-1)];
  const leaving = event.shiftKey ? document.activeElement === first : document.activeElement === last;
  if (!leaving) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}

export interface Dialog {
  readonly element: HTMLElement;
  /** A refusal, shown at its fields; the values stay. */
  refuse(reason: string, fields: Readonly<Record<string, string>>): void;
  busy(sent: boolean): void;
  focus(): void;
}

function consequence(view: Look, call: FullCall, rows: readonly Row[]): Child[] {
  const values = readAll(
    rows.map(one => one.field),
    new Map(rows.map(one => [one.field.name, one.input.raw()]))
  ).arguments;
  const touched = rows.filter(one => one.input.raw() !== rawOf(one.field, one.field.initial));
  const given = touched.map(one => `${line(one.field.name, 40)}=${literal(values[one.field.name], 60)}`).join(', ');
  const object = view.model.objects.get(call.object);
  const what = h('code', {}, `${line(call.tool, 80)}(${clip(given, 160)})`);
  const told = 'The model is told that this ran in place of its own call.';
  if (touched.length === 0) return [`Nothing is changed yet. ${told}`];
  const makes = object?.role === 'pending' ? [`Makes ${line(object.name, 60)} from `, what] : ['Runs ', what];
  const ran = call.status !== 'proposed' && call.status !== 'unknown';
  return [...makes, ran ? ' on a new branch, and again what depends on it. ' : '. ', told];
}

/** The dialog over the panel. `close` takes it away. */
export function dialog(view: Look, call: FullCall, acts: Acts, close: () => void): Dialog {
  const tool = view.model.tools.get(call.tool);
  const note = h('span');
  const fields = fieldsOf(tool?.parameters ?? {}, call.arguments);
  const rows: Row[] = fields.map(field => row(field, call, view, () => tell()));
  const tell = (): void =>
    note.replaceChildren(
      ...consequence(view, call, rows).filter(child => child !== null && child !== undefined && child !== false)
    );
  const reason = h('input', { id: `tc-f${++ids}`, class: 'tc-in', type: 'text' });
  const wrong = h('p', { class: 'tc-error', role: 'alert', hidden: true });
  const run = h('button', { type: 'submit', class: 'tc-btn primary' }, 'Run with these');
  const reset = (): void => {
    for (const one of rows) {
      one.input.set(rawOf(one.field, one.field.initial));
      one.complain('');
      one.refresh();
    }
    tell();
  };

  function refuse(text: string, errors: Readonly<Record<string, string>>): void {
    for (const one of rows) one.complain(errors[one.field.name] ?? '');
    wrong.replaceChildren(icon('failed'), h('span', {}, line(text)));
    wrong.hidden = text === '';
    const first = rows.find(one => errors[one.field.name]);
    (first?.element.querySelector<HTMLElement>(FOCUSABLE) ?? run).focus();
  }
  function submit(event: Event): void {
    event.preventDefault();
    const filled = readAll(fields, new Map(rows.map(one => [one.field.name, one.input.raw()])));
    if (Object.keys(filled.errors).length) refuse('', filled.errors);
    else
      acts.send({
        type: 'edit',
        call: call.call,
        arguments: filled.arguments,
        reason: reason.value,
        bound: call.bound
      });
  }

  const title = `tc-f${++ids}`;
  const head = h(
    'div',
    { class: 'tc-row' },
    h('h3', { id: title }, 'Edit call'),
    h('code', { class: 'muted' }, line(call.tool, 60)),
    button('', { icon: 'close', label: 'Close', look: 'ghost icon right', onclick: close })
  );
  const why = h(
    'div',
    { class: 'tc-field' },
    h(
      'div',
      {},
      h('label', { class: 'tc-label', for: reason.id }, 'Reason'),
      ' ',
      h('span', { class: 'hint' }, 'optional, the model reads it')
    ),
    reason
  );
  const foot = h(
    'div',
    { class: 'tc-row' },
    button('Reset', { look: 'ghost first', onclick: reset }),
    button('Cancel', { look: 'right', onclick: close }),
    run
  );
  const form = h(
    'form',
    { onsubmit: submit, novalidate: true },
    ...rows.map(one => one.element),
    why,
    h('p', { class: 'tc-note' }, icon('info'), note),
    wrong,
    foot
  );
  const box = h(
    'div',
    { class: 'tc-dialog', role: 'dialog', 'aria-modal': 'true', 'aria-labelledby': title },
    head,
    form
  );
  box.addEventListener('keydown', event => {
    event.stopPropagation();
    if (event.key === 'Tab') trap(box, event);
    if (event.key !== 'Escape') return;
    event.preventDefault();
    close();
  });
  tell();
  return {
    element: h('div', { class: 'tc-veil' }, box),
    refuse,
    busy: sent => void (run.disabled = sent),
    focus: () => (rows[0]?.element.querySelector<HTMLElement>(FOCUSABLE) ?? reason).focus({ preventScroll: true })
  };
}
