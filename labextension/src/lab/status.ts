/** The item of the status bar: how many decisions wait, in all notebooks that are open. */
import type { IStatusBar } from '@jupyterlab/statusbar';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';
import { h } from '../view/dom';
import { NEXT, type Core } from './core';
import { waiting } from './sight';

export function addStatus(core: Core, bar: IStatusBar): void {
  const { app, open, settings, trans } = core;
  const go = (): void => void app.commands.execute(NEXT);
  const button = h('button', { type: 'button', class: 'jtc-status', title: trans.__('Go to the first call that waits'), onclick: go });
  const item = new Widget();
  item.node.append(button);
  const changed = new Signal<Widget, void>(item);
  let count = 0;
  const draw = (): void => {
    const all = settings.now.showInStatusBar ? open.all().reduce((sum, live) => sum + waiting(live), 0) : 0;
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
