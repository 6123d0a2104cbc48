/** The dialog `Write call`: a call of the person who plays the model. */
import { h } from './dom';
import { complain, complaint, filledIn, firstStop, frame, row, type Around, type Dialog } from './form';
import { button, icon } from './icons';
import type { Acts, Look } from './look';
import type { FullTool, FullWritten } from './rows';
import { fieldsOf } from './schema';
import { clip, line, literal } from './text';

/** A call as a model would write it. */
export function spelled({ tool, arguments: given }: FullWritten): string {
  const parts = Object.entries(given).map(([name, value]) => `${line(name, 40)}=${literal(value, 80)}`);
  return `${line(tool, 80)}(${clip(parts.join(', '), 240)})`;
}

/** Every object that there is can be named, and nothing was asked for before. */
const around = (view: Look): Around => ({
  objects: view.objects,
  step: Infinity,
  marks: false,
  hint: () => ''
});

/** The dialog over the panel; the call joins those that were written before it. */
export function write(view: Look, tool: FullTool, acts: Acts, close: () => void): Dialog {
  const before = view.yours?.calls ?? [];
  const note = h('code');
  const rows = fieldsOf(tool.parameters, {}).map(field => row(field, around(view), () => tell()));
  const call = (): FullWritten => ({ tool: tool.id, arguments: filledIn(rows).arguments });
  const tell = (): void => void (note.textContent = spelled(call()));
  const wrong = complaint();
  const add = h('button', { type: 'submit', class: 'tc-btn primary' }, 'Add call');
  const anyway = button('Add anyway', { look: 'ghost first', onclick: () => send(true) });
  anyway.hidden = true;
  anyway.title = 'It is sent as it stands, and fails as a model’s call would';

  function send(force: boolean): void {
    const { errors } = filledIn(rows);
    if (Object.keys(errors).length) {
      wrong.say('');
      complain(rows, errors);
    } else acts.send({ type: 'draft', calls: [...before, call()], anyway: force });
  }
  function submit(event: Event): void {
    event.preventDefault();
    send(false);
  }

  const cancel = button('Cancel', { look: 'right', onclick: close });
  const said = clip(line(tool.description.split('\n\n')[0]?.replace(/\s+/g, ' ') ?? '', 600), 280);
  const form = h(
    'form',
    { onsubmit: submit, novalidate: true },
    said ? h('p', { class: 'small muted' }, said) : null,
    ...rows.map(one => one.element),
    rows.length ? null : h('p', { class: 'tc-note' }, icon('info'), h('span', {}, 'It takes no arguments.')),
    h('p', { class: 'tc-note' }, icon('run'), note),
    wrong.element,
    h('div', { class: 'tc-row' }, anyway, cancel, add)
  );
  tell();
  return {
    element: frame('Write call', tool.id, form, close),
    refuse(reason, fields) {
      anyway.hidden = false;
      wrong.say(reason);
      if (!complain(rows, fields)) add.focus();
    },
    busy: sent => void (add.disabled = anyway.disabled = sent),
    focus: () => (firstStop(rows) ?? add).focus({ preventScroll: true })
  };
}
