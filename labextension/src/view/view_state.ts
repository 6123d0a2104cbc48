/** The state of the view: the model at a step, with what the person chose. */
import type { Command } from '../generated/contract';
import type { ExportFormat } from './head';
import { rowsOf } from './incremental';
import type { Model } from './model';
import type { FullCall, FullObject, FullPersonTurn, FullTool } from './rows';

export const TABS = ['Graph', 'Steps', 'Messages', 'Compare'] as const;
export type Tab = (typeof TABS)[number];

export interface Choice {
  readonly call: string;
  readonly object: string;
}

/** What the person set in the panel; the kernel knows nothing of it. */
export interface PanelState {
  readonly tab: Tab;
  readonly chosen: Choice | null;
  /** The step looked back at; null is now. */
  readonly pastStep: number | null;
  /** A command is under way: until something arrives, nothing else is sent. */
  readonly commandSent: boolean;
  /** The call that the person edited last: where it has run, it is looked at and not the end. */
  readonly editedCall: string;
  /** The form that is open under a call, by the id of the call's row. */
  readonly form: { readonly kind: 'reject' | 'answer'; readonly call: string } | null;
  readonly unfolded: ReadonlySet<string>;
  readonly shownTurn: number | null;
  /** The branches that are compared; empty for what is compared unasked. */
  readonly leftBranch: string;
  readonly rightBranch: string;
  /** What is the same in both is shown too. */
  readonly showsEqualCalls: boolean;
  /** The list of branches is open; `hidden`: those out of view too. */
  readonly branchList: 'closed' | 'open' | 'hidden';
  /** The branch that is given a name, by the id of its row. */
  readonly renamedBranch: string;
}

export const INITIAL_STATE: PanelState = {
  tab: 'Graph',
  chosen: null,
  pastStep: null,
  commandSent: false,
  editedCall: '',
  form: null,
  unfolded: new Set(),
  shownTurn: null,
  leftBranch: '',
  rightBranch: '',
  showsEqualCalls: false,
  branchList: 'closed',
  renamedBranch: ''
};

export interface ViewState {
  readonly model: Model;
  readonly ui: PanelState;
  /** Commands can be sent. */
  readonly live: boolean;
  readonly isPast: boolean;
  readonly step: number;
  readonly lastStep: number;
  /** The calls of the shown branch that are known, in order. */
  readonly calls: readonly FullCall[];
  /** The objects that are known, pale branches too. */
  readonly objects: readonly FullObject[];
  readonly chosen: Choice;
  /** The person has chosen nothing: the view goes with what is new. */
  readonly followsNewest: boolean;
  /** The call to decide now. */
  readonly waitingCall: FullCall | null;
  /** The turn of the model, where the person is the model and it is theirs. */
  readonly personTurn: FullPersonTurn | null;
  /** The turn whose reply is to be guessed. */
  readonly toGuess: FullPersonTurn | null;
}

/** What the parts can do. */
export interface PanelActions {
  setState(patch: Partial<PanelState>): void;
  send(command: Command): void;
  /** Asks to be told something; nothing waits for the answer. */
  request(command: Command): void;
  /** Asks for the session in a format, to be saved as a file. */
  exportAs(to: ExportFormat): void;
  openEditDialog(call: FullCall): void;
  openCallDialog(tool: FullTool): void;
}

const NO_CHOICE: Choice = { call: '', object: '' };

export const needsDecision = (call: FullCall): boolean => call.status === 'proposed' || call.status === 'unknown';

function isInOrder(calls: readonly FullCall[]): boolean {
  let before = 0;
  for (const { step } of calls) {
    if (step < before) return false;
    before = step;
  }
  return true;
}

function callsInOrder(model: Model): readonly FullCall[] {
  const all = rowsOf(model.calls);
  const own = all.some(call => call.branch !== '') ? all.filter(call => call.branch === '') : all;
  // They come in order: to sort what is sorted would be work at each step.
  return isInOrder(own) ? own : [...own].sort((a, b) => a.step - b.step);
}

/** The call that the person has to decide first. */
export function firstWaiting(model: Model): FullCall | null {
  for (const id of model.session.pending) {
    const call = model.calls.get(id);
    if (call && needsDecision(call)) return call;
  }
  return null;
}

export const choiceOf = (call: FullCall | null | undefined): Choice =>
  call ? { call: call.id, object: call.object } : NO_CHOICE;

function choiceIn(ui: PanelState, calls: readonly FullCall[], waiting: FullCall | null, view: Pick<ViewState, 'model' | 'personTurn' | 'toGuess'>): Choice {
  const { model, personTurn: yours, toGuess: guess } = view;
  const { chosen } = ui;
  const call = chosen ? model.calls.get(chosen.call) : undefined;
  if (chosen && call && (call.branch !== '' || calls.includes(call)))
    return { call: call.id, object: call.object || chosen.object };
  if (chosen && chosen.call === '' && model.objects.has(chosen.object)) return chosen;
  if (yours || guess) return NO_CHOICE;
  const edited = ui.editedCall ? calls.findLast(one => one.call === ui.editedCall && one.edited) : undefined;
  return choiceOf(waiting ?? (model.session.phase === 'finished' ? edited : undefined) ?? calls.at(-1));
}

/** The whole of what the parts draw. `able` says that the host can send. */
export function viewState(model: Model, ui: PanelState, able: boolean): ViewState {
  const all = callsInOrder(model);
  const last = all.at(-1)?.step ?? 0;
  const past = ui.pastStep !== null && ui.pastStep < last;
  const at = past && ui.pastStep !== null ? ui.pastStep : last;
  const calls = past ? all.filter(call => call.step <= at) : all;
  const known = rowsOf(model.objects);
  const objects = past
    ? known.filter(object => object.step <= at && object.role !== 'output' && object.role !== 'pending')
    : known;
  const waiting = past ? null : firstWaiting(model);
  const yours = past ? null : model.session.yours;
  const guess = past ? null : model.teaching.turn;
  const chosen = choiceIn(ui, calls, waiting, { model, personTurn: yours, toGuess: guess });
  const live = able && model.live;
  return { model, ui, live, isPast: past, step: at, lastStep: last, calls, objects, chosen, followsNewest: ui.chosen === null, waitingCall: waiting, personTurn: yours, toGuess: guess };
}
