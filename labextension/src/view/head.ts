/** The head of the panel: status, model and tokens, the buttons Step, Run, Stop and Export. */
import type { BranchRow, SessionRow } from '../generated/contract';
import { Menu } from './menu';
import { similarCalls } from './batch';
import { type Child, h, joined, prose, screenReaderText, setChildren, whenChanged } from './dom';
import { button, icon, type IconName } from './icons';
import { rowsOf } from './incremental';
import { isBusy, type Model } from './model';
import { oneLine, plural, t, tableText, textBlock, tn } from './text';
import { atStep, firstWaiting, type PanelActions, type ViewState } from './view_state';

const PHASE_ICONS: Readonly<Record<SessionRow['phase'], IconName>> = {
  ready: 'ready', thinking: 'thinking', waiting: 'wait', running: 'run', finished: 'done', stopped: 'stop', failed: 'failed'
};

const ENDED_PHASES: readonly SessionRow['phase'][] = ['finished', 'failed'];
const STEPPABLE_PHASES: readonly SessionRow['phase'][] = ['ready', 'stopped', 'failed', 'finished'];
const STOPPABLE_PHASES: readonly SessionRow['phase'][] = ['thinking', 'running', 'waiting', 'ready'];

/** How many calls ran by rules. */
const byRulesText = ({ by_rules: ran }: SessionRow): readonly string[] => (ran ? [tn('%1 call ran by a rule', '%1 calls ran by rules', ran)] : []);

/** The status text, and after the end what failed. */
function statusText({ session }: Model, live = true): string {
  if (!live && STOPPABLE_PHASES.includes(session.phase)) return t('Not finished');
  const ran = session.by_rules;
  const byRules = byRulesText(session);
  const waits = session.pending.length;
  if (ran && waits && session.phase === 'waiting') return [...byRules, tn('%1 waits for you', '%1 wait for you', waits)].join(', ');
  return [session.says || session.phase, ...byRules, ...session.ending].join(' · ');
}

/** Whether there is a step: not while the session waits for a decision or a reply. */
export const canStep = (model: Model): boolean => STEPPABLE_PHASES.includes(model.session.phase);

/** The call that a step after the end shows: the one after or before the call that is shown. */
const callAfterStep = ({ shownStep, lastStep }: ViewState, by: 1 | -1): number => Math.min(lastStep, Math.max(0, shownStep + by));

/** Whether a step only shows the next call: after the end, and from an earlier call up to the newest one. */
const isWalked = ({ model, isPast }: ViewState): boolean => isPast || model.session.phase === 'finished';

/** Takes a step of the session, or shows the next call or the one before it. */
export function takeStep(view: ViewState, acts: PanelActions, by: 1 | -1): void {
  if (!canStep(view.model)) return;
  if (by === -1 || isWalked(view)) acts.setState(atStep(view, callAfterStep(view, by)));
  else if (view.live) acts.send({ type: 'step' });
}

/** What a press of a button that steps does. */
function stepTip(view: ViewState, by: 1 | -1): string {
  const call = callAfterStep(view, by);
  if (by === 1 && !isWalked(view)) return t('Takes the next step');
  return call ? t('Shows call %1. Nothing runs.', call) : t('Shows what was there before the first call. Nothing runs.');
}

/** How many calls ran on a branch, took a cached result, and ended on an older branch. */
export const countsText = ({ ran, remembered, inherited }: Pick<BranchRow, 'ran' | 'remembered' | 'inherited'>): string =>
  joined(', ', ran > 0 && t('%1 ran', ran), remembered > 0 && t('%1 cached', remembered), inherited > 0 && t('%1 from before', inherited));

/** Tokens and cost of the requests; at an earlier step, tokens up to its turn. */
function tokensText({ model, calls, isPast: past }: ViewState): string {
  const { tokens, cost } = model.session;
  if (!past) return joined(' · ', tokens && plural(tokens, 'token'), tokens && cost);
  const turn = calls.at(-1)?.turn ?? 0;
  const until = rowsOf(model.turns).reduce((sum, row) => sum + (row.turn <= turn ? row.input + row.output : 0), 0);
  return until ? plural(until, 'token') : '';
}

function metaItems(view: ViewState): Child[] {
  const { session } = view.model;
  const { shownStep, lastStep, step } = view;
  // Of a replay it is the number of the branch that it repeats.
  const count = Math.max(lastStep, session.recorded_calls);
  const together = similarCalls(view);
  const [first, last] = [together[0]?.step ?? shownStep, together.at(-1)?.step ?? shownStep];
  const of = shownStep === step ? t('call %1 of %2', shownStep, count) : t('selected: call %1 of %2', shownStep, count);
  const at = session.phase === 'finished' || shownStep < count ? of : t('call %1', shownStep);
  const atCall = first < last ? t('calls %1 to %2', first, last) : lastStep ? at : '';
  const parts: [string, string][] = [
    ['opt', oneLine(session.model, 60)],
    ['', view.model.teaching.score],
    ['opt', session.remembered + session.inherited > 0 ? countsText(session) : ''],
    ['opt', tokensText(view)],
    // The card of a turn names it.
    ['', view.personTurn || view.toGuess ? '' : atCall]
  ];
  return parts.filter(([, text]) => text).map(([look, text]) => h('span', look, text));
}

/** The head; a `saved` session was not published by a kernel of this page. `copyText` says where it can continue. */
export class PanelHead {
  // Announcements are made once, by `Announcer`.
  private readonly _status = h('div', { class: 'tc-status', role: 'status', 'aria-live': 'off', label: t('Session status') });
  private readonly _about = h('div', 'tc-meta');
  private readonly _first = button(t('First call'), { look: 'ghost', key: 'first', onclick: () => this._acts.setState(atStep(this._view, 1)) });
  private readonly _back = button(t('Step back'), { icon: 'step', look: 'ghost mirrored', onclick: () => takeStep(this._view, this._acts, -1) });
  private readonly _step = button(t('Step'), { icon: 'step', look: 'ghost', key: 'step', onclick: () => takeStep(this._view, this._acts, 1) });
  private readonly _run = button(t('Run'), { icon: 'run', look: 'ghost', onclick: () => this._acts.send({ type: 'run' }) });
  private readonly _stop = button(t('Stop'), { icon: 'stop', look: 'ghost', onclick: () => this._acts.send({ type: 'stop' }) });
  private readonly _goBack = button(t('Go back'), { icon: 'memory', look: 'ghost', onclick: () => this._acts.send({ type: 'stop' }) });
  private readonly _exportButton = exportMenu(this._acts.exportAs);
  // Step is last, so that it keeps its place when other buttons appear or go.
  private readonly _controls = h('div', 'tc-drive', h('span', 'tc-sep'), this._run, this._stop, this._goBack, this._exportButton, this._first, this._back, this._step);
  private readonly _rules = button(t('Rules'), {
    icon: 'rule', look: 'ghost small', onclick: () => this._acts.setState({ showsRules: !this._view.ui.showsRules })
  });
  readonly element = h('div', 'tc-head', this._status, this._about, this._rules, this._controls);
  private readonly _bar = h('div', { class: 'tc-bar', hidden: true });
  private readonly _savedBar = h('div', { class: 'tc-bar', hidden: true }, icon('info'), h('span', {}, this._copyText));
  private _view!: ViewState;
  private readonly _drawStatus = whenChanged(
    (name: IconName, text: string) => this._status.replaceChildren(icon(name), h('span', {}, oneLine(text, 200)))
  );
  private readonly _draw = whenChanged(() => {
    const { session } = this._view.model;
    this._updateStatus();
    setChildren(this._about, metaItems(this._view));
    this._rules.hidden = session.rules.length === 0;
    this._rules.setAttribute('aria-pressed', String(this._view.ui.showsRules));
    this._rules.lastChild?.replaceWith(t('Rules %1', session.rules.length));
    // After the end, Step walks through the calls, and Export replaces Run and Stop.
    const ended = session.phase === 'finished';
    const { live, isPast, shownStep, lastStep } = this._view;
    this._controls.hidden = !live && !(ended && lastStep);
    // While a step runs, the buttons stay where they are.
    if (!isBusy(this._view.model)) this._back.hidden = !canStep(this._view.model) || lastStep === 0;
    this._run.hidden = ended;
    this._goBack.hidden = isPast || !session.can_go_back;
    this._stop.hidden = ended || session.budget !== null || !this._goBack.hidden;
    this._exportButton.hidden = !ended || !live;
    this._run.disabled = isPast || this._view.ui.commandSent || this._view.toGuess !== null || !canStep(this._view.model);
    this._step.disabled = isWalked(this._view) ? shownStep === lastStep : this._run.disabled;
    this._first.hidden = !ended || lastStep < 2;
    this._first.disabled = this._view.step === 1;
    this._back.disabled = shownStep === 0 || !canStep(this._view.model);
    for (const [element, by] of [[this._step, 1], [this._back, -1]] as const) element.title = element.disabled ? '' : stepTip(this._view, by);
    this._stop.disabled = isPast || !STOPPABLE_PHASES.includes(session.phase);
    this._savedBar.hidden = this._view.live || !this._copyText || (!this._saved && ENDED_PHASES.includes(session.phase));
    this._updateBar();
  });
  readonly bars: readonly HTMLElement[] = [this._savedBar, this._bar];

  constructor(private readonly _acts: PanelActions, private readonly _saved: boolean, private readonly _copyText: string) {}

  paint(next: ViewState): void {
    this._view = next;
    this._draw(next.model.session, next.isPast, next.shownStep, next.live, next.ui.commandSent, next.calls.length, next.ui.showsRules, next.ui.moved);
  }

  /** Says what the session needs, and what the next step of a replay or a fork does. */
  private _updateBar(): void {
    const { model, ui, live, isPast } = this._view;
    const { phase, detail: says, pending, differs } = model.session;
    // While a step runs, what is below stays where it is.
    if (isBusy(model) && ui.moved) return;
    const advice = phase === 'stopped' && live && pending.length ? t('Approve continues the run.') : says;
    // A kernel that has ended gave advice for its own panel.
    const detail = isPast || (!live && phase === 'stopped') ? '' : advice;
    this._bar.hidden = detail === '';
    this._bar.className = phase === 'failed' ? 'tc-bar bad' : 'tc-bar';
    setChildren(this._bar, [
      icon(phase === 'failed' ? 'failed' : 'info'), h('span', {}, ...prose(textBlock(detail, 2000))),
      differs && h('button', { class: 'tc-link', onclick: () => this._acts.setState({ tab: 'Compare' }) }, t('Compare shows where.'))
    ]);
  }

  private _updateStatus(): void {
    const { model, isPast, step, personTurn, toGuess, takesGuesses } = this._view;
    const past = step ? t('Looking back at call %1', step) : t('Before the first call');
    const text = isPast ? past : statusText(model, takesGuesses);
    const now = personTurn || toGuess ? 'person' : model.session.ending.length ? 'info' : PHASE_ICONS[model.session.phase];
    this._drawStatus(isPast ? 'clock' : now, text);
  }
}

/** The subject while nothing is to announce: what follows it is news. */
export const RUNNING = 'running';

/** The announcement of the current state, and its subject; one subject is announced once. */
export function announcement(model: Model): { readonly about: string; readonly text: string } {
  const { session } = model;
  const call = firstWaiting(model);
  if (call) return {
    about: `${call.id} ${call.approval_digest}`,
    text: joined(
      ' ', t('%1 waits for you.', oneLine(call.tool, 80)), oneLine(call.why, 200).replaceAll('`', ''),
      ...byRulesText(session).map(says => `${says}.`)
    )
  };
  const { yours, budget } = session;
  if (budget) return { about: 'budget', text: `${oneLine(session.says)}. ${oneLine(budget.why, 200)}` };
  if (yours) return { about: `turn ${yours.turn}`, text: t('You are the model: it is your turn to reply.') };
  const { turn: guess } = model.teaching;
  if (guess) return { about: `guess ${guess.turn}`, text: t('Guess what the model does next.') };
  const ended = ENDED_PHASES.includes(session.phase);
  return { about: ended ? session.phase : isBusy(model) ? RUNNING : '', text: ended ? oneLine(statusText(model), 200) : '' };
}

/** The live region that announces a waiting call, the person's turn, and the end. */
export class Announcer {
  readonly element = screenReaderText('');
  private _lastSubject: string | null = null;

  constructor(private readonly _silent: boolean) {
    if (!this._silent) this.element.setAttribute('aria-live', 'polite');
  }

  paint({ model, takesGuesses }: ViewState): void {
    const { about, text } = takesGuesses && !this._silent ? announcement(model) : { about: '', text: '' };
    if (about === this._lastSubject) return;
    this._lastSubject = about;
    this.element.textContent = text;
  }
}

/** Export formats: menu text, file extension and MIME type. */
const EXPORT_FORMATS = {
  py: [tableText('Python script'), 'py', 'text/x-python'],
  ipynb: [tableText('Notebook'), 'ipynb', 'application/x-ipynb+json'],
  html: [tableText('Web page'), 'html', 'text/html'],
  svg: [tableText('Picture (SVG)'), 'svg', 'image/svg+xml'],
  dot: [tableText('Graph (DOT)'), 'dot', 'text/vnd.graphviz'],
  json: [tableText('Session (JSON)'), 'json', 'application/json'],
  messages: [tableText('Messages (JSON)'), 'messages.json', 'application/json']
} as const;

export type ExportFormat = keyof typeof EXPORT_FORMATS;

export const isExportFormat = (name: string): name is ExportFormat => Object.hasOwn(EXPORT_FORMATS, name);

/** A safe file name for a session. */
export const fileName = (session: string, to: ExportFormat): string =>
  `${session.replace(/[^\p{L}\p{N}_-]+/gu, '-').replace(/^-+|-+$/g, '').slice(0, 60) || 'session'}.${EXPORT_FORMATS[to][1]}`;

/** Saves a text as a file through the browser. */
export function download(name: string, to: ExportFormat, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: EXPORT_FORMATS[to][2] }));
  h('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** The button that opens the list of formats. */
const exportMenu = (take: (to: ExportFormat) => void): HTMLElement =>
  new Menu(t('Export'), button(t('Export'), { icon: 'out', look: 'ghost' }), () =>
    (Object.keys(EXPORT_FORMATS) as ExportFormat[]).map(to => ({ text: t(EXPORT_FORMATS[to][0]), act: () => take(to) }))
  ).element;
