/** The head: how the session stands, and what sets it going. */
import { h, once, reader, type Child } from './dom';
import { exports } from './export';
import { button, icon, type IconName } from './icons';
import { firstWaiting, type Acts, type Look } from './look';
import { rowsOf } from './layered';
import type { FullSession, Model } from './rows';
import { block, count, line, many } from './text';
import { trans } from './words';

const ICONS: Readonly<Record<FullSession['phase'], IconName>> = {
  ready: 'ready',
  thinking: 'thinking',
  waiting: 'wait',
  running: 'run',
  finished: 'done',
  stopped: 'stop',
  failed: 'failed'
};

const SAYS: Readonly<Record<FullSession['phase'], string>> = {
  ready: 'Ready',
  thinking: 'The model is thinking',
  waiting: 'Waiting for you',
  running: 'Running',
  finished: 'Finished',
  stopped: 'Stopped',
  failed: 'Failed'
};

const UNCHECKED = 'Saved in this notebook, not checked on this machine: it shows what the file says.';

const ENDS: readonly FullSession['phase'][] = ['finished', 'failed'];
const CAN_GO: readonly FullSession['phase'][] = ['ready', 'stopped', 'waiting', 'failed'];
const CAN_STOP: readonly FullSession['phase'][] = ['thinking', 'running', 'waiting'];

/** How it stands, in words: where the kernel says nothing of its own, those of the person's language. */
function saysOf({ says, phase }: FullSession): string {
  const plain = Object.hasOwn(SAYS, phase) ? SAYS[phase] : '';
  return (says && says !== plain) || !plain ? says : trans.__(plain);
}

/** How it stands; where it ended, also which calls went wrong on the way. */
function standing(model: Model): string {
  const says = saysOf(model.session);
  if (model.session.phase !== 'finished') return says;
  const calls = rowsOf(model.calls).filter(call => call.branch === '');
  const failed = calls.filter(call => call.status === 'failed').length;
  return failed ? `${says} · ${many(calls.length, 'call')}, ${trans.__('%1 failed', failed)}` : says;
}

/** Whether a step can be taken. */
export const canGo = (model: Model): boolean => CAN_GO.includes(model.session.phase);

/** What the requests took, as far as it is known: all, or looking back, those up to a turn. */
function spent({ model, past }: Look, turn: number): string {
  const { tokens, cost } = model.session;
  if (!past) return [tokens ? `${count(tokens)} tokens` : '', tokens ? cost : ''].filter(Boolean).join(' · ');
  const until = rowsOf(model.turns).reduce((sum, row) => sum + (row.turn <= turn ? row.input + row.output : 0), 0);
  return until ? `${count(until)} tokens` : '';
}

function meta(view: Look): Child[] {
  const { session } = view.model;
  const counts =
    session.remembered > 0 ? `${many(session.ran, 'call')} ran, ${count(session.remembered)} from memory` : '';
  const turn = view.past ? (view.calls.at(-1)?.turn ?? 0) : ((view.yours ?? view.guess)?.turn ?? session.turn);
  const parts: [string, string][] = [
    ['opt', line(session.model, 60)],
    ['', view.model.teaching.score],
    ['', counts || (turn ? `turn ${count(turn)}` : '')],
    ['opt', spent(view, turn)]
  ];
  return parts.filter(([, text]) => text).map(([look, text]) => h('span', { class: look }, text));
}

function foreign(): HTMLElement {
  const title = trans.__('What it says was approved or ran is history here: it is asked again.');
  return h('span', { class: 'tc-tag', title }, icon('info'), trans.__('not recorded on this machine'));
}

export interface Head {
  readonly element: HTMLElement;
  readonly bars: readonly HTMLElement[];
  paint(view: Look): void;
}

/** The head; `unchecked` says that nobody vouches for what is shown. */
export function head(acts: Acts, unchecked: boolean): Head {
  // What is worth saying is said once, by the herald.
  const status = h('div', { class: 'tc-status', role: 'status', 'aria-live': 'off', 'aria-label': trans.__('Session status') });
  const about = h('div', { class: 'tc-meta' });
  const step = button(trans.__('Step'), { icon: 'step', look: 'ghost', onclick: () => acts.send({ type: 'step' }) });
  const run = button(trans.__('Run'), { icon: 'run', look: 'ghost', onclick: () => acts.send({ type: 'run' }) });
  const stop = button(trans.__('Stop'), { icon: 'stop', look: 'ghost', onclick: () => acts.send({ type: 'stop' }) });
  const out = exports(acts.take);
  const drive = h('div', { class: 'tc-drive' }, h('span', { class: 'tc-sep' }), step, run, stop, out);
  const element = h('div', { class: 'tc-head' }, status, about, drive);
  const bar = h('div', { class: 'tc-bar', hidden: true });
  const origin = h('div', { class: 'tc-bar', hidden: !unchecked }, icon('info'), h('span', {}, trans.__(UNCHECKED)));
  let view: Look;
  let words = '';

  function says(): void {
    const { session } = view.model;
    const text = view.past ? trans.__('Looking back at step %1', view.at) : standing(view.model);
    const name = view.past ? 'clock' : view.yours || view.guess ? 'person' : (ICONS[session.phase] ?? 'ready');
    const next = `${name} ${text}`;
    if (next === words) return;
    words = next;
    status.replaceChildren(icon(name), h('span', {}, line(text, 120)));
  }

  const draw = once(() => {
    const { session } = view.model;
    says();
    about.replaceChildren(
      ...[session.verified || unchecked ? null : foreign(), ...meta(view)].filter(
        (one): one is HTMLElement => one instanceof HTMLElement
      )
    );
    drive.hidden = !view.live;
    // At the end there is nothing to drive, and the session can be taken home.
    const ended = session.phase === 'finished' && !view.past;
    step.hidden = run.hidden = stop.hidden = ended;
    out.hidden = !ended;
    step.disabled = run.disabled = view.past || view.ui.sent || view.guess !== null || !canGo(view.model);
    stop.disabled = view.past || !CAN_STOP.includes(session.phase);
    const detail = view.past ? '' : session.detail;
    bar.hidden = detail === '';
    bar.className = session.phase === 'failed' ? 'tc-bar bad' : 'tc-bar';
    bar.replaceChildren(icon(session.phase === 'failed' ? 'failed' : 'info'), h('span', {}, block(detail, 2000)));
  });

  return {
    element,
    bars: [origin, bar],
    paint(next) {
      view = next;
      draw(next.model.session, next.past, next.at, next.live, next.ui.sent, next.calls.length);
    }
  };
}

/** What there is to say of how it stands, and what it is about: the same is not said twice. */
export function news(model: Model): { readonly about: string; readonly text: string } {
  const { session } = model;
  const call = firstWaiting(model);
  if (call) return { about: `${call.id} ${call.bound}`, text: trans.__('%1 waits for your decision.', line(call.tool, 80)) };
  const { yours } = session;
  if (yours) return { about: `turn ${yours.turn}`, text: trans.__('You are the model: it is your turn to reply.') };
  const { turn: guess } = model.teaching;
  if (guess) return { about: `guess ${guess.turn}`, text: trans.__('Guess what the model does next.') };
  const ended = ENDS.includes(session.phase);
  return { about: ended ? session.phase : '', text: ended ? line(standing(model), 120) : '' };
}

/** Says politely what is new to the person: a call that waits, their turn, the end. */
export function herald(silent: boolean): { readonly element: HTMLElement; paint(view: Look): void } {
  const element = reader('');
  if (!silent) element.setAttribute('aria-live', 'polite');
  let last: string | null = null;
  return {
    element,
    paint({ model, live }) {
      const { about, text } = live && !silent ? news(model) : { about: '', text: '' };
      if (about === last) return;
      last = about;
      element.textContent = text;
    }
  };
}
