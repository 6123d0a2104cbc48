/** Announces a waiting call: in a live region, in a notification, in the status bar. */
import { Notification } from '@jupyterlab/apputils';
import type { IStatusBar } from '@jupyterlab/statusbar';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { h } from '../view/dom';
import { announcement, RUNNING } from '../view/head';
import { isBusy } from '../view/model';
import { type ExtensionContext, NEXT_COMMAND } from './context';
import { type LiveSession, sleep } from './live_sessions';
import { isSessionVisible, showLive, waitingCount } from './visibility';

/** The last announcement of a session: its subject, the id of its notification, and when the notification before was dismissed. */
interface Announced {
  readonly about: string;
  readonly note: string;
  readonly gone: number;
}

const NOTHING_ANNOUNCED: Announced = { about: '', note: '', gone: -Infinity };
/** Milliseconds in which a next call may wait: the notification stays and is updated. */
const SETTLE_MS = 250;
/** Milliseconds that JupyterLab animates a dismissed notification: a new one would cover it. */
const DISMISS_MS = 1200;
/** Milliseconds for which a notification lies over the page. */
const SHOWN_MS = 10_000;

/** Announces the sessions of all open notebooks; each subject is announced once. */
export class Announcements {
  private readonly _region = h('div', { class: 'jtc-voice', 'aria-live': 'polite' });
  private readonly _announced = new WeakMap<LiveSession, Announced>();
  /** The notifications of the browser: one for a session, which is gone once its call is decided. */
  private readonly _shown = new WeakMap<LiveSession, { close(): void }>();

  constructor(private readonly _context: ExtensionContext) {
    document.body.append(this._region);
    _context.sessions.changed.connect((_, live) => this._update(live));
  }

  private _last(live: LiveSession): Announced {
    return this._announced.get(live) ?? NOTHING_ANNOUNCED;
  }

  private _isCurrent(live: LiveSession, about: string): boolean {
    return this._last(live).about === about;
  }

  private _update(live: LiveSession): void {
    const last = this._last(live);
    live.focused.connect(this._dismiss, this);
    const { about: subject, text } = live.state === 'alive' ? announcement(live.model) : { about: '', text: '' };
    // A call whose panel was deleted while it waits is announced again.
    const about = subject && !live.hasOutput ? `${subject} without output` : subject;
    if (about === last.about) return;
    this._announced.set(live, { ...last, about });
    void (text ? this._announce(live, about, text, last.about === RUNNING) : this._settle(live, about));
  }

  /** Removes the notification of a session: the person has seen or decided its call. */
  private _dismiss(live: LiveSession): void {
    this._shown.get(live)?.close();
    const last = this._last(live);
    if (!last.note) return;
    Notification.dismiss(last.note);
    this._announced.set(live, { ...last, note: '', gone: performance.now() });
  }

  /** Removes the notification if nothing waits after a moment. */
  private async _settle(live: LiveSession, about: string): Promise<void> {
    await sleep(SETTLE_MS);
    if (this._isCurrent(live, about)) this._dismiss(live);
  }

  /** Announces what waits; that a run has ended, which was under way, is told by the browser alone. */
  private async _announce(live: LiveSession, about: string, text: string, wasRunning: boolean): Promise<void> {
    const { app, settings } = this._context;
    const { notebook } = live.sessions;
    // Visibility is known only when the page and the notebook are drawn.
    await Promise.all([app.restored, settings.ready, notebook.context.ready]);
    if (notebook.isVisible) await notebook.revealed;
    await sleep(0);
    if (!this._isCurrent(live, about)) return;
    const isVisible = isSessionVisible(live);
    if (isVisible) this._region.textContent = text;
    if (!waitingCount(live)) this._dismiss(live);
    const isUnseen = document.hidden && (
      waitingCount(live) > 0 || wasRunning
    ) && settings.now.notifyInBrowser && window.Notification.permission === 'granted';
    if (isUnseen) this._shown.set(live, new window.Notification(`${notebook.title.label}: ${text}`, { tag: live.panel }));
    if (!isVisible && waitingCount(live) && settings.now.notifyWhenWaiting) await this._notify(live, about, text);
    else if (!isUnseen) this._dismiss(live);
  }

  /** Shows one notification for a session: updates the one that is shown, or adds one. */
  private async _notify(live: LiveSession, about: string, text: string): Promise<void> {
    const message = `${live.sessions.notebook.title.label}: ${text}`;
    const show = { label: this._context.trans.__('Show'), callback: () => void showLive(this._context, live) };
    // It would cover the buttons below it; the bell, the tab's title and the status bar still tell.
    const options = { autoClose: SHOWN_MS, actions: [show] };
    const { note, gone } = this._last(live);
    if (note && Notification.update({ id: note, message, ...options })) {
      // JupyterLab draws a new notification later, and loses updates that come before that.
      await sleep(DISMISS_MS);
      if (this._last(live).note === note && this._isCurrent(live, about)) Notification.update({ id: note, message, ...options });
      return;
    }
    await sleep(Math.max(0, gone + DISMISS_MS - performance.now()));
    if (this._isCurrent(live, about) && !isSessionVisible(live))
      this._announced.set(live, { about, note: Notification.emit(message, 'info', options), gone });
  }
}

/** Puts the number of decisions that wait before the title of the browser tab; JupyterLab writes that title again and again. */
export function addTitle({ sessions }: ExtensionContext): void {
  let count = 0;
  const draw = (): void => {
    const plain = count && document.title.startsWith(`(${count}) `) ? document.title.slice(`(${count}) `.length) : document.title;
    count = sessions.all().reduce((sum, live) => sum + waitingCount(live), 0);
    const title = count ? `(${count}) ${plain}` : plain;
    if (title !== document.title) document.title = title;
  };
  sessions.changed.connect(draw);
  new MutationObserver(draw).observe(document.head, { childList: true, characterData: true, subtree: true });
}

/** How many decisions wait in the notebook that is shown, and in others; empty for none. */
function waitingText(trans: TranslationBundle, shown: number, others: number): string {
  if (!others) return shown ? trans.__('Waiting for you: %1', shown) : '';
  return shown ? trans.__('Waiting for you: %1, in other notebooks: %2', shown, others) : trans.__('Waiting for you in other notebooks: %1', others);
}

export function addStatus(context: ExtensionContext, bar: IStatusBar): void {
  const { app, notebooks, sessions, settings, trans } = context;
  const go = (): void => void app.commands.execute(NEXT_COMMAND);
  const button = h('button', { type: 'button', class: 'jtc-status', title: trans.__('Show the first waiting call'), onclick: go });
  const item = new Widget();
  item.node.append(button);
  const changed = new Signal<Widget, void>(item);
  let text = '';
  const draw = (): void => {
    const all = settings.now.showInStatusBar ? sessions.all() : [];
    const running = all.find(live => live.sessions.notebook === notebooks.currentWidget && isBusy(live.model) && live.model.session.by_rules);
    const [shown, others] = [true, false].map(isShown =>
      all.filter(live => (live.sessions.notebook === notebooks.currentWidget) === isShown).reduce((sum, live) => sum + waitingCount(live), 0)
    ) as [number, number];
    const now = waitingText(trans, shown, others) || (running ? trans.__('%1 ran by rules', running.model.session.by_rules) : '');
    if (now === text) return;
    button.textContent = text = now;
    changed.emit();
  };
  sessions.changed.connect(draw);
  settings.changed.connect(draw);
  notebooks.currentChanged.connect(draw);
  bar.registerStatusItem('jupyter-toolcall:waiting', { item, align: 'left', rank: 10, isActive: () => text !== '', activeStateChanged: changed });
}
