/** Announces a waiting call: in a live region, in a notification, in the status bar. */
import { Notification } from '@jupyterlab/apputils';
import type { IStatusBar } from '@jupyterlab/statusbar';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { h } from '../view/dom';
import { announcement } from '../view/head';
import { type ExtensionContext, NEXT_COMMAND } from './context';
import type { LiveSession } from './live_sessions';
import { isSessionVisible, showLive, waitingCount } from './visibility';

/** What was said of a session last, the notification that says it, and when the one before was taken away. */
interface Announced {
  readonly about: string;
  readonly note: string;
  readonly gone: number;
}

const NOTHING_ANNOUNCED: Announced = { about: '', note: '', gone: -Infinity };
/** Milliseconds in which the next call may wait already: the notification stays, and says that one. */
const SETTLE_MS = 250;
/** Milliseconds that JupyterLab takes to move a notification out: two of one session would cover each other. */
const DISMISS_MS = 1200;

const sleep = (wait: number): Promise<void> => new Promise(resolve => setTimeout(resolve, wait));

export function announce(core: ExtensionContext): void {
  const region = h('div', { class: 'jtc-voice', 'aria-live': 'polite' });
  document.body.append(region);
  const said = new WeakMap<LiveSession, Announced>();

  /** What the person has come to, or decided, needs no notification. */
  function hush(live: LiveSession): void {
    const before = said.get(live) ?? NOTHING_ANNOUNCED;
    if (!before.note) return;
    Notification.dismiss(before.note);
    said.set(live, { ...before, note: '', gone: performance.now() });
  }

  function heard(live: LiveSession): void {
    const before = said.get(live) ?? NOTHING_ANNOUNCED;
    live.focused.connect(hush);
    const { about, text } = live.state === 'alive' ? announcement(live.model) : { about: '', text: '' };
    if (about === before.about) return;
    said.set(live, { ...before, about });
    void (text ? say(live, about, text) : settle(live, about));
  }

  const stands = (live: LiveSession, about: string): boolean => (said.get(live) ?? NOTHING_ANNOUNCED).about === about;

  /** Nothing waits: where that is still so in a moment, what was said is taken away. */
  async function settle(live: LiveSession, about: string): Promise<void> {
    await sleep(SETTLE_MS);
    if (stands(live, about)) hush(live);
  }

  /** A page that is being drawn has to be there before it is known what is in sight. */
  async function say(live: LiveSession, about: string, text: string): Promise<void> {
    const { notebook } = live.sessions;
    await Promise.all([core.app.restored, core.settings.ready, notebook.context.ready]);
    if (notebook.isVisible) await notebook.revealed;
    await sleep(0);
    if (!stands(live, about)) return;
    const unseen = !isSessionVisible(live);
    if (!unseen) region.textContent = text;
    if (unseen && waitingCount(live) && core.settings.now.notifyWhenWaiting) await notify(live, about, text);
    else hush(live);
  }

  /** One notification a session: the one that stands says what waits now, else a new one does. */
  async function notify(live: LiveSession, about: string, text: string): Promise<void> {
    const message = `${live.sessions.notebook.title.label}: ${text}`;
    const show = { label: core.trans.__('Show'), callback: () => void showLive(core, live) };
    const options = { autoClose: false as const, actions: [show] };
    const { note, gone } = said.get(live) ?? NOTHING_ANNOUNCED;
    if (note && Notification.update({ id: note, message, ...options })) return;
    await sleep(Math.max(0, gone + DISMISS_MS - performance.now()));
    if (stands(live, about) && !isSessionVisible(live))
      said.set(live, { about, note: Notification.emit(message, 'info', options), gone });
  }

  core.open.changed.connect((_, live) => heard(live));
}

export function addStatus(core: ExtensionContext, bar: IStatusBar): void {
  const { app, open, settings, trans } = core;
  const go = (): void => void app.commands.execute(NEXT_COMMAND);
  const button = h('button', { type: 'button', class: 'jtc-status', title: trans.__('Show the first waiting call'), onclick: go });
  const item = new Widget();
  item.node.append(button);
  const changed = new Signal<Widget, void>(item);
  let count = 0;
  const draw = (): void => {
    const all = settings.now.showInStatusBar ? open.all().reduce((sum, live) => sum + waitingCount(live), 0) : 0;
    if (all === count) return;
    count = all;
    button.textContent = trans.__('Waiting for you: %1', count);
    changed.emit();
  };
  open.changed.connect(draw);
  settings.changed.connect(draw);
  bar.registerStatusItem('jupyter-toolcall:waiting', {
    item,
    align: 'left',
    rank: 10,
    isActive: () => count > 0,
    activeStateChanged: changed
  });
}
