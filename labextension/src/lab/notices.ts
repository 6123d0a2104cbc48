/** Says what waits: once, in a live region where the person sees it, else in a notification. */
import { Notification } from '@jupyterlab/apputils';
import { h } from '../view/dom';
import { news } from '../view/head';
import type { Core } from './core';
import { seen, showLive } from './reveal';
import type { Live } from './sessions';
import { waiting } from './sight';

/** What was said of a session last, the notification that says it, and when the one before was taken away. */
interface Said {
  readonly about: string;
  readonly note: string;
  readonly gone: number;
}

const NOTHING: Said = { about: '', note: '', gone: -Infinity };
/** Milliseconds in which the next call may wait already: the notification stays, and says that one. */
const REST = 250;
/** Milliseconds that JupyterLab takes to move a notification out: two of one session would cover each other. */
const LEAVES = 1200;

const pass = (wait: number): Promise<void> => new Promise(resolve => setTimeout(resolve, wait));

export function announce(core: Core): void {
  const region = h('div', { class: 'jtc-voice', 'aria-live': 'polite' });
  document.body.append(region);
  const said = new WeakMap<Live, Said>();

  /** What the person has come to, or decided, needs no notification. */
  function hush(live: Live): void {
    const before = said.get(live) ?? NOTHING;
    if (!before.note) return;
    Notification.dismiss(before.note);
    said.set(live, { ...before, note: '', gone: performance.now() });
  }

  function heard(live: Live): void {
    const before = said.get(live) ?? NOTHING;
    live.met.connect(hush);
    const { about, text } = live.state === 'alive' ? news(live.model) : { about: '', text: '' };
    if (about === before.about) return;
    said.set(live, { ...before, about });
    void (text ? say(live, about, text) : settle(live, about));
  }

  const stands = (live: Live, about: string): boolean => (said.get(live) ?? NOTHING).about === about;

  /** Nothing waits: where that is still so in a moment, what was said is taken away. */
  async function settle(live: Live, about: string): Promise<void> {
    await pass(REST);
    if (stands(live, about)) hush(live);
  }

  /** A page that is being drawn has to be there before it is known what is in sight. */
  async function say(live: Live, about: string, text: string): Promise<void> {
    const { notebook } = live.sessions;
    await Promise.all([core.app.restored, core.settings.ready, notebook.context.ready]);
    if (notebook.isVisible) await notebook.revealed;
    await pass(0);
    if (!stands(live, about)) return;
    const unseen = !seen(live);
    if (!unseen) region.textContent = text;
    if (unseen && waiting(live) && core.settings.now.notifyWhenWaiting) await notify(live, about, text);
    else hush(live);
  }

  /** One notification a session: the one that stands says what waits now, else a new one does. */
  async function notify(live: Live, about: string, text: string): Promise<void> {
    const message = `${live.sessions.notebook.title.label}: ${text}`;
    const show = { label: core.trans.__('Show'), callback: () => void showLive(core, live) };
    const options = { autoClose: false as const, actions: [show] };
    const { note, gone } = said.get(live) ?? NOTHING;
    if (note && Notification.update({ id: note, message, ...options })) return;
    await pass(Math.max(0, gone + LEAVES - performance.now()));
    if (stands(live, about) && !seen(live))
      said.set(live, { about, note: Notification.emit(message, 'info', options), gone });
  }

  core.open.changed.connect((_, live) => heard(live));
}
