/** The sheet `Approve, and don't ask again when…`: the rules that the kernel offers for a waiting call. */
import type { CallRow, Commands, RuleOffer } from '../generated/contract';
import { type Child, focusInPlace, h, listen, nextId, prose, redraw, setChildren } from './dom';
import { button } from './icons';
import { oneLine, t, tableText } from './text';
import type { PanelActions, ViewState } from './view_state';

const SCOPES = { session: tableText('This session'), notebook: tableText('This notebook'), computer: tableText('This computer') } as const;
const ENDS = { run: tableText('End of this run'), today: tableText('Today'), removed: tableText('I remove it') } as const;

/** One of a few choices, side by side. */
function segments<T extends string>(label: string, choices: Readonly<Record<T, string>>, now: T, choose: (choice: T) => void): HTMLElement {
  const name = nextId();
  const parts = (Object.keys(choices) as T[]).map(choice =>
    h('label', {}, h('input', { type: 'radio', name, checked: choice === now, key: `${label} ${choice}`, onchange: () => choose(choice) }), t(choices[choice]))
  );
  return h('fieldset', 'tc-segments', h('legend', {}, label), h('div', {}, ...parts));
}

const squares = (offer: RuleOffer): HTMLElement => h('span', { class: 'tc-squares', silent: 'true' }, ...offer.squares.map(look => h('i', look)));

/** The sheet of one call. What the person chooses in it is sent with `Approve and add rule`. */
export class RuleSheet {
  readonly element = h('div', { class: 'tc-sheet', role: 'dialog', label: t("Approve, and don't ask again") });
  private _offers: readonly RuleOffer[] = [];
  private _chosen = 0;
  private _scope: NonNullable<Commands['add_rule']['scope']> = 'session';
  private _until: NonNullable<Commands['add_rule']['until']> = 'run';
  private _seen = -1;
  private _sent = false;

  constructor(
    readonly call: CallRow,
    private readonly _acts: PanelActions
  ) {
    listen(this.element, 'keydown', event => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      this._close();
    });
    this._acts.request({ type: 'offer_rules', call: call.call });
  }

  paint({ model, ui }: ViewState): void {
    const offers = model.offered?.call === this.call.call ? model.offered.offers : [];
    if (offers === this._offers && ui.commandSent === this._sent && this.element.firstChild) return;
    const isFirst = this._offers.length === 0 && offers.length > 0;
    this._offers = offers;
    this._sent = ui.commandSent;
    this._draw();
    if (isFirst) focusInPlace(this.element.querySelector('input'));
  }

  private _close(): void {
    this._acts.setState({ form: null });
  }

  private _set(patch: { chosen?: number; scope?: RuleSheet['_scope']; until?: RuleSheet['_until']; seen?: number }): void {
    this._chosen = patch.chosen ?? this._chosen;
    this._seen = patch.seen ?? this._seen;
    this._scope = patch.scope ?? (patch.until === 'run' ? 'session' : this._scope);
    // A rule of a run is of one session.
    this._until = patch.until ?? (this._scope !== 'session' && this._until === 'run' ? 'today' : this._until);
    this._draw();
  }

  private _option(offer: RuleOffer, number: number): HTMLElement {
    const narrower = this._offers[number + 1]?.left_out ?? '';
    const isSeen = this._seen === number;
    const see = offer.seen.length ? button(isSeen ? t('Hide it') : t('See it'), { look: 'link', key: `see ${number}`, onclick: () => this._set({ seen: isSeen ? -1 : number }) }) : null;
    if (see) see.className = 'tc-link';
    return h(
      'div',
      'tc-option',
      h('label', {}, h('input', { type: 'radio', name: 'offer', checked: this._chosen === number, key: `offer ${number}`, onchange: () => this._set({ chosen: number }) }), h('span', {}, ...prose(oneLine(offer.condition, 300)))),
      squares(offer),
      h('p', {}, oneLine(offer.past, 200), offer.wrong ? ' ' : null, offer.wrong ? h('b', {}, oneLine(offer.wrong, 100)) : null, see ? ' ' : null, see),
      isSeen ? h('div', 'tc-seen', ...offer.seen.map(line => h('p', {}, oneLine(line, 300))), narrower ? button(t('Leave out %1', oneLine(narrower, 40)), { look: 'small', key: 'leave out', onclick: () => this._set({ chosen: number + 1, seen: -1 }) }) : null) : null
    );
  }

  private _draw(): void {
    const shown = this._offers.flatMap((offer, number) => (offer.left_out && this._chosen !== number ? [] : [this._option(offer, number)]));
    const add = (): void => this._acts.send({ type: 'add_rule', call: this.call.call, bound: this.call.bound, number: this._chosen, scope: this._scope, until: this._until });
    const buttons: Child[] = [
      button(t('Approve and add rule'), { look: 'primary', key: 'confirm', disabled: this._sent || !this._offers.length, onclick: add }),
      button(t('Cancel'), { key: 'cancel', onclick: () => this._close() })
    ];
    const ends = t('The rule also ends when the code of `%1` changes. It never decides about values that others wrote: those still ask you.', oneLine(this.call.tool, 80));
    const children = [
      h('div', 'tc-options', h('p', 'strong', t("Approve %1, and don't ask again when…", oneLine(this.call.tool, 80))), ...shown),
      h('div', 'tc-choices', segments(t('Where'), SCOPES, this._scope, scope => this._set({ scope })), segments(t('Until'), ENDS, this._until, until => this._set({ until })), h('p', 'small muted', ...prose(ends)), h('div', 'tc-row', ...buttons))
    ];
    redraw(this.element, () => setChildren(this.element, children), '.tc-option :checked');
  }
}
