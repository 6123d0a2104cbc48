/** Says what waits: once, in a live region where the person sees it, else in a notification. */
import { Notification } from '@jupyterlab/apputils';
import { h } from '../view/dom';
import { news } from '../view/head';
import type { Core } from './core';
import { seen, showLive } from './reveal';
import type { Live } from './sessions';
import { waiting } from './sight';

/** What was said of a session last, and the notification that says it. */
interface Said {
  readonly about: string;
  readonly note: string;
}

const NOTHING: Said = { about: '', note: '' };

export function announce(core: Core): void {
  const region = h('div', { class: 'jtc-voice', 'aria-live': 'polite' });
  document.body.append(region);
  const said = new WeakMap<Live, Said>();

  /** What the person has come to, or decided, needs no notification. */
  function hush(live: Live): void {
    const { about, note } = said.get(live) ?? NOTHING;
    if (note) Notification.dismiss(note);
    said.set(live, { about, note: '' });
  }

  function heard(live: Live): void {
    const before = said.get(live) ?? NOTHING;
    live.met.connect(hush);
    const { about, text } = live.state === 'alive' ? news(live.model) : { about: '', text: '' };
    if (about === before.about) return;
    hush(live);
    said.set(live, { about, note: '' });
    if (text) void say(live, about, text);
  }

  /** A page that is being drawn has to be there before it is known what is in sight. */
  async function say(live: Live, about: string, text: string): Promise<void> {
    const { notebook } = live.sessions;
    await Promise.all([core.app.restored, core.settings.ready, notebook.context.ready]);
    if (notebook.isVisible) await notebook.revealed;
    await new Promise(resolve => setTimeout(resolve));
    if (said.get(live)?.about !== about) return;
    if (seen(live)) region.textContent = text;
    else if (waiting(live) && core.settings.now.notifyWhenWaiting) said.set(live, { about, note: notify(live, text) });
  }

  function notify(live: Live, text: string): string {
    const name = live.sessions.notebook.title.label;
    const show = { label: core.trans.__('Show'), callback: () => void showLive(core, live) };
    return Notification.emit(`${name}: ${text}`, 'info', { autoClose: false, actions: [show] });
  }

  core.open.changed.connect((_, live) => heard(live));
}
