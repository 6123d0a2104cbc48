/** The state of the view: the model at a step, with what the person chose. */
import type { CallRow, Command, ObjectRow, ShownCall, ToolRow, YourTurn } from '../generated/contract';
import type { ExportFormat } from './head';
import { cached, rowsOf } from './incremental';
import { drawnId, isBusy, type Model } from './model';
import { tableText } from './text';

export const TABS = [tableText('Graph'), tableText('Steps'), tableText('Messages'), tableText('Compare')] as const;
export type Tab = (typeof TABS)[number];

export interface Choice {
  readonly call: string;
  readonly object: string;
}

/** The person's choices in the panel; the kernel does not know them. */
export interface PanelState {
  readonly tab: Tab;
  readonly chosen: Choice | null;
  /** The earlier step that is shown; null for now. */
  readonly pastStep: number | null;
  /** A command was sent: no other one is sent until a notice arrives. */
  readonly commandSent: boolean;
  /** The last command, if it moved the session. */
  readonly moved: string;
  /** The call that the person edited last, or ran again; it is shown after the session ends. */
  readonly editedCall: string;
  /** The form that is open under a call, by the id of the call's row. */
  readonly form: { readonly kind: 'reject' | 'answer' | 'rule'; readonly call: string } | null;
  /** The last command added a rule. */
  readonly ruleAdded: boolean;
  /** The rules are shown in the place of the selected call. */
  readonly showsRules: boolean;
  /** The name of the rule that is edited there; empty for none. */
  readonly editedRule: string;
  /** The argument whose path is shown; null for none. */
  readonly path: { readonly call: string; readonly parameter: string } | null;
  readonly shownTurn: number | null;
  /** The compared branches; empty for the default ones. */
  readonly leftBranch: string;
  readonly rightBranch: string;
  /** Equal calls are shown too. */
  readonly showsEqualCalls: boolean;
  /** The state of the branch list; `hidden`: with the hidden branches. */
  readonly branchList: 'closed' | 'open' | 'hidden';
  /** The id of the branch that is being renamed. */
  readonly renamedBranch: string;
}

export const INITIAL_STATE: PanelState = {
  tab: 'Graph', chosen: null, pastStep: null, commandSent: false, moved: '', editedCall: '', form: null, ruleAdded: false, showsRules: false,
  editedRule: '', path: null, shownTurn: null, leftBranch: '', rightBranch: '', showsEqualCalls: false, branchList: 'closed', renamedBranch: ''
};

export interface ViewState {
  readonly model: Model;
  readonly ui: PanelState;
  /** Commands can be sent. */
  readonly live: boolean;
  /** A guess can be sent: to a kernel, or to a page that has the recording. */
  readonly takesGuesses: boolean;
  readonly isPast: boolean;
  readonly step: number;
  /** The number of the newest call; between two steps that of the last one that has ended. */
  readonly lastStep: number;
  /** The number of the call that the card shows, else of the step. */
  readonly shownStep: number;
  /** The calls of the shown branch up to the shown step, in order. */
  readonly calls: readonly CallRow[];
  /** The objects up to the shown step, of all branches; what is the same on several ones once. */
  readonly objects: readonly ObjectRow[];
  readonly chosen: Choice;
  /** The person has chosen nothing: the view follows the newest call. */
  readonly followsNewest: boolean;
  /** The call to decide now. */
  readonly waitingCall: CallRow | null;
  /** The turn to reply to, if the person plays the model. */
  readonly personTurn: YourTurn | null;
  /** The turn whose reply is to be guessed. */
  readonly toGuess: YourTurn | null;
  /** Rules decide and nothing waits: the last calls stand in the place of the card. */
  readonly isRunByRules: boolean;
}

/** What the parts of the panel can do. */
export interface PanelActions {
  setState(patch: Partial<PanelState>): void;
  /** Sends commands, and waits for the result of the last. */
  send(...commands: readonly Command[]): void;
  /** Sends a command without waiting for its result. */
  request(command: Command): void;
  /** Requests an export, which is saved as a file. */
  exportAs(to: ExportFormat): void;
  /** Chooses a call and scrolls until its card is visible. */
  showCard(call: CallRow): void;
  openEditDialog(call: CallRow): void;
  openCallDialog(tool: ToolRow, replyText: string): void;
}

/** The choices that show an earlier step; the last one is now. */
export const atStep = ({ lastStep }: Pick<ViewState, 'lastStep'>, step: number): Partial<PanelState> =>
  ({ pastStep: step < lastStep ? step : null, chosen: null, form: null });

const NO_CHOICE: Choice = { call: '', object: '' };

export const needsDecision = ({ status }: CallRow): boolean => ['proposed', 'input required', 'unknown'].includes(status);

const isInOrder = (calls: readonly CallRow[]): boolean => calls.every(({ step }, index) => step >= (calls[index - 1]?.step ?? 0));

/** The calls of the shown branch, in order. */
const callsInOrder = cached((calls: Model['calls']): readonly CallRow[] => {
  const all = rowsOf(calls);
  const own = all.some(call => call.branch !== '') ? all.filter(call => call.branch === '') : all;
  // They usually arrive in order, and need no sorting.
  return isInOrder(own) ? own : [...own].sort((a, b) => a.step - b.step);
});

/** The objects of a table, each once: without those that are drawn as another one. */
const eachOnce = cached((objects: Model['objects']): readonly ObjectRow[] => {
  const all = rowsOf(objects);
  return all.some(object => object.same) ? all.filter(({ id, same }) => !same || drawnId({ objects }, id) === id) : all;
});

/** The objects up to a step that are drawn. */
function drawnObjects({ objects, branches }: Model, step: number): readonly ObjectRow[] {
  const once = branches.size > 1 ? eachOnce(objects) : rowsOf(objects);
  return step === Infinity ? once : once.filter(object => object.step <= step && object.role !== 'output' && object.role !== 'pending');
}

/** The call that the person has to decide first. */
export function firstWaiting(model: Model): CallRow | null {
  for (const id of model.session.pending) {
    const call = model.calls.get(id);
    if (call && needsDecision(call)) return call;
  }
  return null;
}

/** A call with the digest of exactly what was shown: a decision carries both. */
export const shownCall = ({ call, approval_digest }: CallRow): ShownCall => ({ call, approval_digest });

export const choiceOf = (call: CallRow | null | undefined): Choice =>
  call ? { call: call.id, object: call.object } : NO_CHOICE;

function choiceIn(
  ui: PanelState, calls: readonly CallRow[], waiting: CallRow | null, view: Pick<ViewState, 'model' | 'isPast' | 'personTurn' | 'toGuess'>
): Choice {
  const { model, isPast, personTurn, toGuess } = view;
  const { chosen } = ui;
  const call = chosen ? model.calls.get(chosen.call) : undefined;
  // A call without an object was chosen as such; one of several objects of a call is not another one.
  if (chosen && call && (call.branch !== '' || calls.includes(call)))
    return { call: call.id, object: chosen.object && model.objects.get(chosen.object)?.call !== call.id ? call.object : chosen.object };
  if (chosen && chosen.call === '' && model.objects.has(chosen.object)) return chosen;
  if (personTurn || toGuess) return NO_CHOICE;
  const edited = ui.editedCall ? calls.findLast(one => one.call === ui.editedCall) : undefined;
  // Between two steps it is what the last one did, and before the first one what that will do.
  const next = calls.findIndex(({ id }) => id === model.session.next_call);
  const last = next < 0 ? calls.at(-1) : calls[Math.max(0, next - 1)];
  return choiceOf(waiting ?? (model.session.phase === 'finished' && !isPast ? edited : undefined) ?? last);
}

/** The state that all parts draw; `able`: the host can send commands, or with `guesses` only these; `decides`: the card stands above the tabs. */
export function viewState(model: Model, ui: PanelState, able: boolean, guesses = false, decides = false): ViewState {
  const all = callsInOrder(model.calls);
  const next = model.calls.get(model.session.next_call);
  const lastStep = next ? next.step - 1 : (all.at(-1)?.step ?? 0);
  const isPast = ui.pastStep !== null && ui.pastStep < lastStep;
  const step = isPast && ui.pastStep !== null ? ui.pastStep : lastStep;
  const calls = isPast ? all.filter(call => call.step <= step) : all;
  const objects = drawnObjects(model, isPast ? step : Infinity);
  const waitingCall = isPast ? null : firstWaiting(model);
  const personTurn = isPast ? null : model.session.yours;
  const toGuess = isPast ? null : model.teaching.turn;
  const chosen = choiceIn(ui, calls, waitingCall, { model, isPast, personTurn, toGuess });
  const shown = model.calls.get(chosen.call);
  const shownStep = shown?.branch === '' ? shown.step : step;
  const live = able && model.live;
  const isRunByRules = decides && live && !isPast && !ui.chosen && isBusy(model) && calls.slice(-2).some(call => call.by_rule !== '');
  return {
    model, ui, live, takesGuesses: live || (guesses && toGuess !== null), isPast, step, lastStep, shownStep, calls, objects, chosen,
    followsNewest: ui.chosen === null, waitingCall, personTurn, toGuess, isRunByRules
  };
}
