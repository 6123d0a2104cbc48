/** The dialog `Edit call`: other arguments in a call's place. */
import { h, type Child } from './dom';
import { complain, complaint, filledIn, firstStop, frame, nextId, row, type Around, type Dialog, type Row } from './form';
import { button, icon } from './icons';
import type { Acts, Look } from './look';
import type { FullCall } from './rows';
import { fieldsOf, rawOf } from './schema';
import { clip, line, literal } from './text';
import { trans } from './words';

function consequence(view: Look, call: FullCall, rows: readonly Row[]): Child[] {
  const values = filledIn(rows).arguments;
  const touched = rows.filter(one => one.input.raw() !== rawOf(one.field, one.field.initial));
  const given = touched.map(one => `${line(one.field.name, 40)}=${literal(values[one.field.name], 60)}`).join(', ');
  const object = view.model.objects.get(call.object);
  const what = h('code', {}, `${line(call.tool, 80)}(${clip(given, 160)})`);
  const told = trans.__('The model is told that this ran in place of its own call.');
  if (touched.length === 0) return [`${trans.__('Nothing is changed yet.')} ${told}`];
  const makes = object?.role === 'pending' ? [`Makes ${line(object.name, 60)} from `, what] : ['Runs ', what];
  const ran = call.status !== 'proposed' && call.status !== 'unknown';
  return [...makes, ran ? ' on a new branch, and again what depends on it. ' : '. ', told];
}

/** Where a field is not as the model asked for it, that is what its hint says. */
const around = (view: Look, call: FullCall): Around => ({
  objects: view.objects,
  step: call.step,
  marks: true,
  hint(field, raw) {
    const asked = (call.asked ?? call.arguments)[field.name];
    if (raw === rawOf(field, asked)) return '';
    return asked === undefined ? trans.__('the model left it out') : trans.__('the model asked for %1', literal(asked, 60));
  }
});

/** The dialog over the panel. `close` takes it away. */
export function dialog(view: Look, call: FullCall, acts: Acts, close: () => void): Dialog {
  const tool = view.model.tools.get(call.tool);
  const note = h('span');
  const fields = fieldsOf(tool?.parameters ?? {}, call.arguments);
  const rows: Row[] = fields.map(field => row(field, around(view, call), () => tell()));
  const tell = (): void =>
    note.replaceChildren(
      ...consequence(view, call, rows).filter(child => child !== null && child !== undefined && child !== false)
    );
  const reason = h('input', { id: nextId(), class: 'tc-in', type: 'text' });
  const wrong = complaint();
  const run = h('button', { type: 'submit', class: 'tc-btn primary' }, trans.__('Run with these'));
  const reset = (): void => {
    for (const one of rows) {
      one.input.set(rawOf(one.field, one.field.initial));
      one.complain('');
      one.refresh();
    }
    tell();
  };

  function refuse(text: string, errors: Readonly<Record<string, string>>): void {
    wrong.say(text);
    if (!complain(rows, errors)) run.focus();
  }
  function submit(event: Event): void {
    event.preventDefault();
    const filled = filledIn(rows);
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
      h('span', { class: 'hint' }, trans.__('optional, the model reads it'))
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
    element: frame(trans.__('Edit call'), call.tool, form, close),
    refuse,
    busy: sent => void (run.disabled = sent),
    focus: () => (firstStop(rows) ?? reason).focus({ preventScroll: true })
  };
}
