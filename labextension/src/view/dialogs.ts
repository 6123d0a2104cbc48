/** The dialogs `Edit call` and `Write call`. */
import type { CallRow, Commands, ToolRow, Written } from '../generated/contract';
import { previewElement } from './change';
import { focusInPlace, h } from './dom';
import { complain, type Dialog, dialogBox, type FieldContext, FieldRow, filledArguments, firstInput, FormError, labelledField } from './fields';
import { columnsOf, missingColumn, requestPreview } from './full_preview';
import { button, icon, note } from './icons';
import { purpose } from './labels';
import { dependentCalls } from './lineage';
import { fieldsOf, initialRaw, own, rawOf } from './schema';
import { clip, literalText, oneLine, t, tn } from './text';
import { needsDecision, type PanelActions, shownCall, type ViewState } from './view_state';

/** What happens after an edited call that ran has run again. */
function followingText(view: ViewState, call: CallRow): string {
  // What the person rejected, or answered, stays so.
  const steps = dependentCalls(view, call).flatMap(({ status, step }) => (status === 'rejected' || status === 'answered' ? [] : step));
  if (steps.length === 0) return t('No other call uses its result.');
  const ends = steps.filter(step => !steps.includes(step + 1));
  const ranges = steps.filter(step => !steps.includes(step - 1)).map((start, at) => [...new Set([start, ends[at]])].join('-'));
  return tn('Then %1 call runs again (%2).', 'Then %1 calls run again (%2).', steps.length, oneLine(ranges.join(', '), 120));
}

/** The values of changed fields by name: of an argument that is left out its default, undefined where that is not known. */
const changedValues = (changed: readonly FieldRow[], filled: Readonly<Record<string, unknown>>): [string, unknown][] =>
  changed.map(({ field: { name, standard } }) => [name, Object.hasOwn(filled, name) ? filled[name] : standard ?? undefined]);

function consequenceText(view: ViewState, call: CallRow, rows: readonly FieldRow[], changed: readonly FieldRow[]): (Node | string)[] {
  const { arguments: values, errors } = filledArguments(rows);
  const invalid = Object.keys(errors).join(', ');
  if (invalid) return [t('To run, give a valid %1.', oneLine(invalid, 160))];
  const waits = needsDecision(call);
  if (changed.length === 0) return [waits ? t('Nothing is changed: the call runs as it is.') : t('Nothing is changed, so nothing runs again.')];
  const argumentsText = changedValues(changed, values).map(([name, value]) => `${name}=${value === undefined ? t('default') : literalText(value, 60)}`).join(', ');
  const object = view.model.objects.get(call.object);
  const callCode = h('code', {}, oneLine(`${call.tool}(${argumentsText})`, 240));
  const makes = object?.role === 'pending' ? t('Makes %1 from:', oneLine(object.name, 60)) : waits ? t('Runs:') : t('Runs on a new branch:');
  return [makes, ' ', callCode, `. ${waits ? t('The model is told that its call was edited.') : followingText(view, call)}`];
}

/** The hint of an edited field names the model's own argument. */
const editContext = (view: ViewState, call: CallRow): FieldContext => ({
  objects: view.objects,
  step: call.step,
  marks: true,
  hint(field, raw) {
    const asked = own(call.asked ?? call.arguments, field.name);
    if (raw === rawOf(field, asked)) return '';
    return asked === undefined ? t('the model left it out') : t('the model asked for %1', literalText(asked, 60));
  }
});

/** Offers the columns of the tables that a form names, or of all where it names none, and warns of those that they do not have. */
function offerColumns(view: ViewState, tool: ToolRow | undefined, rows: readonly FieldRow[], acts: PanelActions): void {
  const { arguments: filled } = filledArguments(rows);
  const tables = view.objects.filter(({ branch, preview }) => branch === '' && preview.columns.length);
  const named = tables.filter(table => Object.values(filled).includes(table.name));
  for (const table of named) requestPreview(view, table, acts);
  const columns = columnsOf(view, named.length ? named : tables);
  for (const row of rows) row.offer(columns, missingColumn(view, tool, row.field.name, filled[row.field.name], named));
}

/** Milliseconds without a key after which a preview is asked for. */
const TYPING_MS = 300;

/** Numbers the requests for previews; other pages of the session count from another time. */
let requests = Date.now();

/** The dialog that edits a call; `close` removes it. */
export class EditDialog implements Dialog {
  private readonly _tool = this._view.model.tools.get(this._call.tool);
  private readonly _note = h('span');
  /** The form is that of a tool that takes the place of the call's own: its arguments alone, and all of them are sent. */
  private readonly _isOther = this._view.model.calls.get(this._call.id)?.tool !== this._call.tool;
  private readonly _fields = fieldsOf(this._tool?.parameters ?? {}, this._call.arguments).filter(
    ({ name }) => !this._isOther || this._tool?.order.includes(name)
  );
  private readonly _rows: FieldRow[] = this._fields.map(
    field => new FieldRow(field, editContext(this._view, this._call), () => this._showConsequence())
  );
  private readonly _changed = (): readonly FieldRow[] => this._rows.filter(one => this._isOther || one.isChanged);
  private readonly _reason = h('input', { class: 'tc-in', type: 'text', label: t('Reason') });
  private readonly _error = new FormError();
  private readonly _preview = h('div');
  /** The number of the last request for a preview, and the timer that sends it. */
  private _request = 0;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _isSent = false;
  private readonly _runButton = button(t('Run with these values'), { type: 'submit', look: 'primary' });
  private readonly _form = h(
    'form', { onsubmit: () => this._submit(), novalidate: true }, ...this._rows.map(one => one.element),
    labelledField(t('Reason'), t('optional, sent to the model'), this._reason),
    h('p', 'tc-note', icon('info'), this._note), this._preview, this._error.element,
    h(
      'div', 'tc-row', button(t('Reset'), { look: 'ghost first', onclick: () => this._reset() }),
      button(t('Cancel'), { look: 'right', onclick: () => this._close() }), this._runButton
    )
  );
  readonly element = dialogBox(t('Edit call'), this._call.tool, purpose(this._call, this._tool), this._form, () => this._close());

  constructor(private _view: ViewState, private readonly _call: CallRow, private readonly _acts: PanelActions, private readonly _close: () => void) {
    this._showConsequence();
    for (const one of this._rows) if (one.field.name in _call.wrong) one.showError(own(_call.wrong, one.field.name) ?? '');
  }

  refuse(text: string, errors: Readonly<Record<string, string>>): void {
    this._error.show(text);
    if (!complain(this._rows, errors)) this._runButton.focus();
  }

  setBusy(sent: boolean): void {
    this._isSent = sent;
    this._showConsequence();
  }

  paint(view: ViewState): void {
    this._view = view;
    offerColumns(view, this._tool, this._rows, this._acts);
    const preview = view.model.previewed.get(this._request);
    if (preview && !this._preview.firstChild && (preview.says || preview.error)) this._preview.append(previewElement(preview, []));
  }

  focus(): void {
    focusInPlace(firstInput(this._rows.filter(one => one.field.name in this._call.wrong)) ?? firstInput(this._rows) ?? this._reason);
  }

  private _showConsequence(): void {
    const changed = this._changed();
    const approves = needsDecision(this._call) && !changed.length;
    offerColumns(this._view, this._tool, this._rows, this._acts);
    const { errors } = filledArguments(this._rows);
    const wrong = changed.filter(one => own(errors, one.field.name));
    for (const one of wrong) one.showError(own(errors, one.field.name) ?? '');
    this._note.replaceChildren(...consequenceText(this._view, this._call, this._rows, changed));
    this._runButton.textContent = approves ? t('Approve as it is') : t('Run with these values');
    this._runButton.disabled = this._isSent || wrong.length > 0 || !(approves || this._isOther || changed.length);
    if (!this._isSent) this._tryLater();
  }

  /** Asks what the call would do, once the person has typed for a moment. */
  private _tryLater(): void {
    clearTimeout(this._timer);
    this._preview.replaceChildren();
    this._request = 0;
    const waits = needsDecision(this._call) && this._changed().length > 0;
    if (!waits || Object.keys(filledArguments(this._rows).errors).length) return;
    this._timer = setTimeout(() => {
      this._request = ++requests;
      this._acts.request({ type: 'try_edit', number: this._request, ...this._edit() });
    }, TYPING_MS);
  }

  /** The call with the arguments that are changed. */
  private _edit(): Pick<Commands['edit'], 'call' | 'approval_digest' | 'arguments' | 'left_out'> {
    const { arguments: filled } = filledArguments(this._rows);
    const changed = changedValues(this._changed(), filled);
    return {
      ...shownCall(this._call),
      ...(this._isOther && { tool: this._call.tool }),
      arguments: Object.fromEntries(changed.filter(([, value]) => value !== undefined)),
      left_out: changed.flatMap(([name, value]) => (value === undefined ? name : []))
    };
  }

  private _reset(): void {
    for (const one of this._rows) {
      one.input.set(initialRaw(one.field));
      one.showError('');
      one.refresh();
    }
    this._showConsequence();
  }

  private _submit(): void {
    const filled = filledArguments(this._rows);
    if (Object.keys(filled.errors).length) this.refuse('', filled.errors);
    else this._acts.send({ type: 'edit', ...this._edit(), reason: this._reason.value });
  }
}

/** A call as text: `tool(name=value, …)`. */
export function callText({ tool, arguments: given }: Written): string {
  const parts = Object.entries(given).map(([name, value]) => `${oneLine(name, 40)}=${literalText(value, 80)}`);
  return `${oneLine(tool, 80)}(${clip(parts.join(', '), 240)})`;
}

/** All objects can be chosen; there are no earlier arguments. */
export const writeContext = (view: ViewState): FieldContext => ({
  objects: view.objects,
  step: Infinity,
  marks: false,
  hint: () => ''
});

/** The dialog in which a person writes a call as the model. */
export class CallDialog implements Dialog {
  private readonly _earlierCalls = this._view.personTurn?.calls ?? [];
  private readonly _note = h('code');
  private readonly _rows = fieldsOf(this._tool.parameters, {}).map(
    field => new FieldRow(field, writeContext(this._view), () => this._showConsequence())
  );
  private readonly _error = new FormError();
  private readonly _addButton = button(t('Add call'), { onclick: () => this._sendCall(false) });
  private readonly _sendButton = button(t('Send'), { type: 'submit', look: 'primary' });
  private readonly _addAnywayButton = button(t('Add with the mistake'), { look: 'ghost first', onclick: () => this._sendCall(true) });
  private readonly _form = h(
    'form', { onsubmit: () => this._sendCall(false, true), novalidate: true }, ...this._rows.map(one => one.element),
    this._rows.length ? null : note(t('This tool takes no arguments.')), h('p', 'tc-note', icon('run'), this._note), this._error.element,
    h('div', 'tc-row', this._addAnywayButton, button(t('Cancel'), { look: 'right', onclick: this._close }), this._addButton, this._sendButton)
  );
  readonly element = dialogBox(t('Write call'), this._tool.id, this._tool.description, this._form, () => this._close());

  constructor(
    private _view: ViewState, private readonly _tool: ToolRow, private readonly _replyText: string,
    private readonly _acts: PanelActions, private readonly _close: () => void
  ) {
    this._addAnywayButton.hidden = true;
    this._addAnywayButton.title = t('It fails like any invalid call of a model.');
    this._showConsequence();
  }

  refuse(reason: string, fields: Readonly<Record<string, string>>): void {
    this._addAnywayButton.hidden = false;
    // An error at its field is not said a second time.
    const isAtField = complain(this._rows, fields);
    this._error.show(isAtField ? '' : reason);
    if (!isAtField) this._sendButton.focus();
  }

  setBusy(sent: boolean): void {
    this._addButton.disabled = this._addAnywayButton.disabled = this._sendButton.disabled = sent;
  }

  focus(): void {
    focusInPlace(firstInput(this._rows) ?? this._sendButton);
  }

  private _call(): Written {
    return { tool: this._tool.id, arguments: filledArguments(this._rows).arguments };
  }

  paint(view: ViewState): void {
    this._view = view;
    offerColumns(view, this._tool, this._rows, this._acts);
  }

  private _showConsequence(): void {
    this._note.textContent = callText(this._call());
    offerColumns(this._view, this._tool, this._rows, this._acts);
  }

  private _sendCall(anyway: boolean, send = false): void {
    const { errors } = filledArguments(this._rows);
    if (Object.keys(errors).length) {
      this._error.show('');
      complain(this._rows, errors);
    } else this._acts.send({ type: 'draft', calls: [...this._earlierCalls, this._call()], anyway, ...(send && { send, text: this._replyText }) });
  }
}
