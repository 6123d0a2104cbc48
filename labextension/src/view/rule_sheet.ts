/** The sheet `Approve, and don't ask again when…`, with the rules that the kernel offers for a waiting call, and the form `Edit rule`. */
import type { CallRow, Commands, RuleOffer, RuleRow, ToolRow } from '../generated/contract';
import { afterLayout, type Child, closeOnEscape, focusInPlace, h, prose, redraw, setChildren } from './dom';
import { jsonText } from './exact';
import { FieldRow } from './fields';
import { button } from './icons';
import { choices, definitionsOf, fieldsOf, own } from './schema';
import { literalText, oneLine, t, tableText, textBlock } from './text';
import { type PanelActions, shownCall, type ViewState } from './view_state';

export const SCOPES = { session: tableText('This session'), notebook: tableText('This notebook'), computer: tableText('This computer') } as const;
const DECISIONS = { run: tableText('run without asking'), ask: tableText('ask me'), refuse: tableText('reject') } as const;
const ENDS = { run: tableText('End of this run'), today: tableText('Today'), removed: tableText('I remove it') } as const;

/** What may be chosen in a field, by its text. */
type Choices = Readonly<Record<string, unknown>>;

const choicesOf = (texts: Readonly<Record<string, string>>): Choices =>
  Object.fromEntries(Object.entries(texts).map(([value, text]) => [t(text), value]));

const fieldRow = (
  name: string, kind: 'choice' | 'text', options: readonly string[], initial: string, beside: boolean, changed: () => void
): FieldRow =>
  new FieldRow(
    {
      name, kind, options, initial, beside, description: '', required: true, nullable: false, integer: false, typeName: '',
      standard: undefined
    },
    { objects: [], step: 0, hint: () => '', marks: false }, changed
  );

/** A field in which one of some values is chosen. */
class ChoiceField {
  private readonly _texts = Object.keys(this._choices);
  private readonly _row = fieldRow(this.name, 'choice', this._texts, this._textOf(this._now), this._beside, this._changed);
  /** Where there is one value there is nothing to choose. */
  readonly element = this._texts.length > 1
    ? this._row.element
    : h('div', 'tc-field', h('span', 'tc-label', this.name), h('span', {}, this._texts[0]));

  constructor(
    readonly name: string, private readonly _choices: Choices, private readonly _now: unknown, private readonly _changed: () => void,
    private readonly _beside = false
  ) {}

  get value(): unknown {
    return this._choices[this._texts.find(text => jsonText(text) === this._row.input.raw()) ?? ''];
  }

  set value(value: unknown) {
    this._row.input.set(jsonText(this._textOf(value)));
  }

  private _textOf(value: unknown): string {
    return this._texts.find(text => jsonText(this._choices[text]) === jsonText(value)) ?? '';
  }
}

/** The fields `Where` and `Until`: a rule of a run is of one session. */
class PlaceFields {
  private readonly _where = new ChoiceField(t('Where'), choicesOf(SCOPES), this._rule.scope, () => {
    if (this._where.value !== 'session' && this._until.value === 'run') this._until.value = 'today';
    this._changed();
  }, true);
  private readonly _until = new ChoiceField(t('Until'), choicesOf(ENDS), this._rule.until, () => {
    if (this._until.value === 'run') this._where.value = 'session';
    this._changed();
  }, true);
  readonly elements = [this._where.element, this._until.element];

  constructor(private readonly _rule: Pick<RuleRow, 'scope' | 'until'>, private readonly _changed: () => void) {}

  get values(): Required<Pick<Commands['add_rule'], 'scope' | 'until'>> {
    return { scope: this._where.value, until: this._until.value } as PlaceFields['values'];
  }
}

/** What a rule would have done with the calls so far. */
const pastOf = ({ past, wrong }: RuleOffer): Child[] => [oneLine(past, 200), wrong && ' ', wrong && h('b', {}, oneLine(wrong, 100))];

const squares = (offer: RuleOffer): HTMLElement => h('span', { class: 'tc-squares', silent: 'true' }, ...offer.squares.map(look => h('i', look)));

/** The sheet of one call. What the person chooses in it is sent with `Approve and add rule`. */
export class RuleSheet {
  readonly element = h('div', { class: 'tc-sheet', role: 'dialog', label: t("Approve, and don't ask again") });
  private _offers: readonly RuleOffer[] = [];
  private _chosen = 0;
  private readonly _place = new PlaceFields({ scope: 'session', until: 'run' }, () => undefined);
  private _seen = -1;
  private _sent = false;

  constructor(readonly call: CallRow, private readonly _acts: PanelActions) {
    closeOnEscape(this.element, () => this._close());
    this._acts.request({ type: 'offer_rules', call: call.call });
  }

  paint({ model, ui }: ViewState): void {
    const offers = model.offered?.call === this.call.call ? model.offered.offers : [];
    if (offers === this._offers && ui.commandSent === this._sent && this.element.firstChild) return;
    const isFirst = this._offers.length === 0 && offers.length > 0;
    this._offers = offers;
    this._sent = ui.commandSent;
    this._draw();
    if (!isFirst) return;
    focusInPlace(this.element.querySelector('input'));
    afterLayout(() => this.element.scrollIntoView({ block: 'nearest' }));
  }

  private _close(): void {
    this._acts.setState({ form: null });
  }

  private _set(patch: { chosen?: number; seen?: number }): void {
    this._chosen = patch.chosen ?? this._chosen;
    this._seen = patch.seen ?? this._seen;
    this._draw();
  }

  private _option(offer: RuleOffer, number: number): HTMLElement {
    const narrower = this._offers[number + 1]?.left_out ?? '';
    const isSeen = this._seen === number;
    const see = offer.seen.length
      ? button(isSeen ? t('Hide it') : t('See it'), {
          look: 'link', key: `see ${number}`, onclick: () => this._set({ seen: isSeen ? -1 : number })
        })
      : null;
    if (see) see.className = 'tc-link';
    return h(
      'div', 'tc-option',
      h(
        'label', {},
        h('input', {
          type: 'radio', name: 'offer', checked: this._chosen === number, key: `offer ${number}`,
          onchange: () => this._set({ chosen: number })
        }),
        h('span', {}, ...prose(textBlock(offer.condition, 300)))
      ),
      squares(offer),
      // That there is no past yet is said once.
      number && !offer.squares.length ? null : h('p', {}, ...pastOf(offer), see ? ' ' : null, see),
      isSeen
        ? h(
            'div', 'tc-seen', ...offer.seen.map(line => h('p', {}, textBlock(line, 300))),
            narrower
              ? button(t('Leave out %1', oneLine(narrower, 40)), {
                  look: 'small', key: 'leave out', onclick: () => this._set({ chosen: number + 1, seen: -1 })
                })
              : null
          )
        : null
    );
  }

  private _draw(): void {
    const shown = this._offers.flatMap((offer, number) => (offer.left_out && this._chosen !== number ? [] : [this._option(offer, number)]));
    const add = (): void => this._acts.send({
      type: 'add_rule', ...shownCall(this.call), number: this._chosen, ...this._place.values
    });
    const buttons: Child[] = [
      button(t('Approve and add rule'), { look: 'primary', key: 'confirm', disabled: this._sent || !this._offers.length, onclick: add }),
      button(t('Cancel'), { key: 'cancel', onclick: () => this._close() })
    ];
    const ends = t(
      'The rule also ends when the code of `%1` changes. It never decides about values that others wrote: those still ask you.',
      oneLine(this.call.tool, 80)
    );
    const children = [
      h('div', 'tc-options', h('p', 'strong', t("Approve %1, and don't ask again when…", oneLine(this.call.tool, 80))), ...shown),
      h('div', 'tc-choices', ...this._place.elements, h('p', 'small muted', ...prose(ends)), h('div', 'tc-row', ...buttons))
    ];
    redraw(this.element, () => setChildren(this.element, children), '.tc-option :checked');
  }
}

/** What a rule asks of an argument, in words. */
function conditionText(schema: unknown): string {
  if (schema === undefined) return t('any value');
  const { const: only, madeFrom, not } = schema as {
    readonly const?: unknown; readonly madeFrom?: unknown; readonly not?: { readonly const?: unknown }
  };
  if (madeFrom !== undefined) return t('is %1, or made from it', oneLine(String(madeFrom), 60));
  if (only !== undefined) return t('is %1', literalText(only, 60));
  return not?.const === undefined ? t('fits %1', oneLine(jsonText(schema), 60)) : t('is not %1', literalText(not.const, 60));
}

/** What a rule may ask of an argument: what it does, any value, and where the tool names all values, one of them or all but one. */
function conditions(rule: RuleRow, name: string, tool: ToolRow | undefined): Choices {
  const schema = tool && own(definitionsOf(tool.parameters), name);
  const [field] = tool ? fieldsOf({ properties: { [name]: schema } }, {}) : [];
  const values = field?.kind === 'flag' ? [true, false] : choices(schema, tool?.parameters ?? {});
  const free = field ? [undefined, ...values.map(value => ({ const: value })), ...values.map(value => ({ not: { const: value } }))] : [];
  return Object.fromEntries([own(rule.arguments, name), ...free].map(one => [conditionText(one), one]));
}

/** The form `Edit rule`: the rule's own name, decision, conditions, place and end; the kernel tells what it would have done. */
export class RuleForm {
  private readonly _past = h('p', 'small');
  private readonly _save = button(t('Save'), { type: 'submit', look: 'primary', key: 'save rule' });
  private readonly _try = (): void => this._acts.request(this._command());
  private readonly _tool = this._view.model.tools.get(this.rule.tool);
  private readonly _name = fieldRow(t('Name'), 'text', [], this.rule.name, false, this._try);
  private readonly _decision = new ChoiceField(t('Decision'), choicesOf(DECISIONS), this.rule.decision, this._try);
  private readonly _arguments = [...new Set([...(this._tool?.order ?? []), ...Object.keys(this.rule.arguments)])].map(
    name => new ChoiceField(name, conditions(this.rule, name, this._tool), own(this.rule.arguments, name), this._try)
  );
  private readonly _place = new PlaceFields(this.rule, this._try);
  readonly element = h(
    'form', { class: 'tc-form tc-ruleform', onsubmit: () => this._submit(), novalidate: true }, this._name.element,
    h('div', 'tc-field', h('span', 'tc-label', t('Tool')), h('code', {}, oneLine(this.rule.tool, 80))),
    ...[this._decision, ...this._arguments].map(({ element }) => element), ...this._place.elements, this._past,
    h('div', 'tc-row', this._save, button(t('Cancel'), { key: 'cancel', onclick: () => this._acts.setState({ editedRule: '' }) }))
  );

  constructor(readonly rule: RuleRow, private readonly _number: number, private readonly _view: ViewState, private readonly _acts: PanelActions) {
    this._try();
  }

  paint({ model, ui }: ViewState): void {
    this._save.disabled = ui.commandSent;
    const offer = model.offered?.call === this.rule.name ? model.offered.offers[0] : undefined;
    if (offer) setChildren(this._past, pastOf(offer));
  }

  private _submit(): void {
    this._acts.send({ ...this._command(), save: true });
    this._acts.setState({ editedRule: '' });
  }

  private _command(): { readonly type: 'edit_rule' } & Commands['edit_rule'] {
    const asked = Object.fromEntries(this._arguments.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
    const name = this._name.input.raw()?.trim() || this.rule.name;
    return {
      type: 'edit_rule', number: this._number, name: this.rule.name,
      edit: { name, decision: this._decision.value as RuleRow['decision'], arguments: asked, ...this._place.values }
    };
  }
}
