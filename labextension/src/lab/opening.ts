/** Opens the side panel by itself, where the settings say so. */
import type { Core } from './core';
import type { Live } from './sessions';

export async function openBySettings({ app, open, settings, side }: Core): Promise<void> {
  const met = new WeakSet<Live>();
  // A session that begins, or is found again, opens it once: who closes it is left in peace.
  open.changed.connect((_, live) => {
    if (met.has(live) || live.state !== 'alive') return;
    met.add(live);
    if (settings.now.openSidePanel === 'session') app.shell.activateById(side.id);
  });
  await Promise.all([app.restored, settings.ready]);
  if (settings.now.openSidePanel === 'start') app.shell.activateById(side.id);
}
