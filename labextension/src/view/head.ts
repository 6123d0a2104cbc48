/** The head: how the session stands, and what sets it going. */
import { h, once, reader, type Child } from './dom';
import { button, icon, type IconName } from './icons';
import type { Acts, Look } from './look';
import type { FullSession } from './rows';
import { block, count, line, many } from './text';

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

const CAN_GO: readonly FullSession['phase'][] = ['ready', 'stopped', 'waiting', 'failed'];
const CAN_STOP: readonly FullSession['phase'][] = ['thinking', 'running', 'waiting'];

function meta(view: Look): Child[] {
  const { session } = view.model;
  const counts =
    session.remembered > 0 ? `${many(session.ran, 'call')} ran, ${count(session.remembered)} from memory` : '';
  const turn = view.past ? (view.calls.at(-1)?.turn ?? 0) : (view.yours?.turn ?? session.turn);
  const parts: [string, string][] = [
    ['opt', line(session.model, 60)],
    ['', counts || (turn ? `turn ${count(turn)}` : '')],
    ['opt', !counts && session.tokens && !view.past ? `${count(session.tokens)} tokens` : '']
  ];
  return parts.filter(([, text]) => text).map(([look, text]) => h('span', { class: look }, text));
}

function foreign(): HTMLElement {
  const title = 'What it says was approved or ran is history here: it is asked again.';
  return h('span', { class: 'tc-tag', title }, icon('info'), 'not recorded on this machine');
}

export interface Head {
  readonly element: HTMLElement;
  readonly bar: HTMLElement;
  paint(view: Look): void;
}

export function head(acts: Acts): Head {
  const status = h('div', { class: 'tc-status', role: 'status', 'aria-label': 'Session status' });
  const about = h('div', { class: 'tc-meta' });
  const step = button('Step', { icon: 'step', look: 'ghost', onclick: () => acts.send({ type: 'step' }) });
  const run = button('Run', { icon: 'run', look: 'ghost', onclick: () => acts.send({ type: 'run' }) });
  const stop = button('Stop', { icon: 'stop', look: 'ghost', onclick: () => acts.send({ type: 'stop' }) });
  const drive = h('div', { class: 'tc-drive' }, h('span', { class: 'tc-sep' }), step, run, stop);
  const element = h('div', { class: 'tc-head' }, status, about, drive);
  const bar = h('div', { class: 'tc-bar', hidden: true });
  let view: Look;
  let words = '';

  function says(): void {
    const { session } = view.model;
    const text = view.past ? `Looking back at step ${view.at}` : session.says || SAYS[session.phase] || '';
    const name = view.past ? 'clock' : view.yours ? 'person' : (ICONS[session.phase] ?? 'ready');
    const next = `${name} ${text}`;
    if (next === words) return;
    words = next;
    status.replaceChildren(icon(name), h('span', {}, line(text, 120)));
  }

  const draw = once(() => {
    const { session } = view.model;
    says();
    about.replaceChildren(
      ...[session.verified ? null : foreign(), ...meta(view)].filter(
        (one): one is HTMLElement => one instanceof HTMLElement
      )
    );
    drive.hidden = !view.live;
    step.disabled = run.disabled = view.past || view.ui.sent || !CAN_GO.includes(session.phase);
    stop.disabled = view.past || !CAN_STOP.includes(session.phase);
    const detail = view.past ? '' : session.detail;
    bar.hidden = detail === '';
    bar.className = session.phase === 'failed' ? 'tc-bar bad' : 'tc-bar';
    bar.replaceChildren(icon(session.phase === 'failed' ? 'failed' : 'info'), h('span', {}, block(detail, 2000)));
  });

  return {
    element,
    bar,
    paint(next) {
      view = next;
      draw(next.model.session, next.past, next.at, next.live, next.ui.sent, next.calls.length);
    }
  };
}

/** Says politely when a call, or the model's turn, begins to wait for the person. */
export function herald(): { readonly element: HTMLElement; paint(view: Look): void } {
  const element = reader('');
  element.setAttribute('aria-live', 'polite');
  let last = '';
  return {
    element,
    paint({ waiting, yours }) {
      const id = waiting?.id ?? (yours ? `turn ${yours.turn}` : '');
      if (id === last) return;
      last = id;
      const turn = yours ? 'You are the model: it is your turn to reply.' : '';
      element.textContent = waiting ? `${line(waiting.tool, 80)} waits for your decision.` : turn;
    }
  };
}
