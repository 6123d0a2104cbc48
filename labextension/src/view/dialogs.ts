/** The dialogs `Edit call` and `Write call`. */
import { type Child, h } from './dom';
import {
  complain,
  type Dialog,
  dialogFrame,
  type FieldContext,
  fieldRow,
  type FieldRow,
  filledArguments,
  firstInput,
  FormError,
  nextId
} from './fields';
import { button, icon } from './icons';
import type { FullCall, FullTool, FullWrittenCall } from './rows';
import { fieldsOf, rawOf } from './schema';
import { clip, literalText, oneLine, trans } from './text';
import type { PanelActions, ViewState } from './view_state';

function consequenceText(view: ViewState, call: FullCall, rows: readonly FieldRow[]): Child[] {
  const values = filledArguments(rows).arguments;
  const touched = rows.filter(one => one.input.raw() !== rawOf(one.field, one.field.initial));
  const given = touched.map(one => `${oneLine(one.field.name, 40)}=${literalText(values[one.field.name], 60)}`).join(', ');
  const object = view.model.objects.get(call.object);
  const what = h('code', {}, `${oneLine(call.tool, 80)}(${clip(given, 160)})`);
  const told = trans.__('The model is told that its call was edited.');
  if (touched.length === 0) return [`${trans.__('No argument is changed yet.')} ${told}`];
  const makes = object?.role === 'pending' ? [`Makes ${oneLine(object.name, 60)} from `, what] : ['Runs ', what];
  const ran = call.status !== 'proposed' && call.status !== 'unknown';
  return [...makes, ran ? ' on a new branch, with the calls that depend on it. ' : '. ', told];
}

/** Where a field is not as the model asked for it, that is what its hint says. */
const editContext = (view: ViewState, call: FullCall): FieldContext => ({
  objects: view.objects,
  step: call.step,
  marks: true,
  hint(field, raw) {
    const asked = (call.asked ?? call.arguments)[field.name];
    if (raw === rawOf(field, asked)) return '';
    return asked === undefined ? trans.__('the model left it out') : trans.__('the model asked for %1', literalText(asked, 60));
  }
});

/** The dialog over the panel. `close` takes it away. */
export function editDialog(view: ViewState, call: FullCall, acts: PanelActions, close: () => void): Dialog {
  const tool = view.model.tools.get(call.tool);
  const note = h('span');
  const fields = fieldsOf(tool?.parameters ?? {}, call.arguments);
  const rows: FieldRow[] = fields.map(field => fieldRow(field, editContext(view, call), () => tell()));
  const tell = (): void =>
    note.replaceChildren(
      ...consequenceText(view, call, rows).filter(child => child !== null && child !== undefined && child !== false)
    );
  const reason = h('input', { id: nextId(), class: 'tc-in', type: 'text' });
  const wrong = new FormError();
  const run = h('button', { type: 'submit', class: 'tc-btn primary' }, trans.__('Run with these'));
  const reset = (): void => {
    for (const one of rows) {
      one.input.set(rawOf(one.field, one.field.initial));
      one.showErrors('');
      one.refresh();
    }
    tell();
  };

  function refuse(text: string, errors: Readonly<Record<string, string>>): void {
    wrong.show(text);
    if (!complain(rows, errors)) run.focus();
  }
  function submit(event: Event): void {
    event.preventDefault();
    const filled = filledArguments(rows);
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

  const why = h(
    'div',
    { class: 'tc-field' },
    h(
      'div',
      {},
      h('label', { class: 'tc-label', for: reason.id }, trans.__('Reason')),
      ' ',
      h('span', { class: 'hint' }, trans.__('optional, sent to the model'))
    ),
    reason
  );
  const foot = h(
    'div',
    { class: 'tc-row' },
    button(trans.__('Reset'), { look: 'ghost first', onclick: reset }),
    button(trans.__('Cancel'), { look: 'right', onclick: close }),
    run
  );
  const form = h(
    'form',
    { onsubmit: submit, novalidate: true },
    ...rows.map(one => one.element),
    why,
    h('p', { class: 'tc-note' }, icon('info'), note),
    wrong.element,
    foot
  );
  tell();
  return {
    element: dialogFrame(trans.__('Edit call'), call.tool, form, close),
    refuse,
    busy: sent => void (run.disabled = sent),
    focus: () => (firstInput(rows) ?? reason).focus({ preventScroll: true })
  };
}

/** A call as a model would write it. */
export function callText({ tool, arguments: given }: FullWrittenCall): string {
  const parts = Object.entries(given).map(([name, value]) => `${oneLine(name, 40)}=${literalText(value, 80)}`);
  return `${oneLine(tool, 80)}(${clip(parts.join(', '), 240)})`;
}

/** Every object that there is can be named, and nothing was asked for before. */
const writeContext = (view: ViewState): FieldContext => ({
  objects: view.objects,
  step: Infinity,
  marks: false,
  hint: () => ''
});

/** The dialog over the panel; the call joins those that were written before it. */
export function callDialog(view: ViewState, tool: FullTool, acts: PanelActions, close: () => void): Dialog {
  const before = view.personTurn?.calls ?? [];
  const note = h('code');
  const rows = fieldsOf(tool.parameters, {}).map(field => fieldRow(field, writeContext(view), () => tell()));
  const call = (): FullWrittenCall => ({ tool: tool.id, arguments: filledArguments(rows).arguments });
  const tell = (): void => void (note.textContent = callText(call()));
  const wrong = new FormError();
  const add = h('button', { type: 'submit', class: 'tc-btn primary' }, 'Add call');
  const anyway = button('Add anyway', { look: 'ghost first', onclick: () => send(true) });
  anyway.hidden = true;
  anyway.title = 'Adds the call with these arguments. It fails like any invalid call of a model.';

  function send(force: boolean): void {
    const { errors } = filledArguments(rows);
    if (Object.keys(errors).length) {
      wrong.show('');
      complain(rows, errors);
    } else acts.send({ type: 'draft', calls: [...before, call()], anyway: force });
  }
  function submit(event: Event): void {
    event.preventDefault();
    send(false);
  }

  const cancel = button('Cancel', { look: 'right', onclick: close });
  const said = clip(oneLine(tool.description.split('\n\n')[0]?.replace(/\s+/g, ' ') ?? '', 600), 280);
  const form = h(
    'form',
    { onsubmit: submit, novalidate: true },
    said ? h('p', { class: 'small muted' }, said) : null,
    ...rows.map(one => one.element),
    rows.length ? null : h('p', { class: 'tc-note' }, icon('info'), h('span', {}, 'This tool takes no arguments.')),
    h('p', { class: 'tc-note' }, icon('run'), note),
    wrong.element,
    h('div', { class: 'tc-row' }, anyway, cancel, add)
  );
  tell();
  return {
    element: dialogFrame('Write call', tool.id, form, close),
    refuse(reason, fields) {
      anyway.hidden = false;
      wrong.show(reason);
      if (!complain(rows, fields)) add.focus();
    },
    busy: sent => void (add.disabled = anyway.disabled = sent),
    focus: () => (firstInput(rows) ?? add).focus({ preventScroll: true })
  };
}
