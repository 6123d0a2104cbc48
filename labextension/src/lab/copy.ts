/** A session onto the clipboard: as its kernel writes it, or as its output keeps it. */
import { Clipboard, Notification } from '@jupyterlab/apputils';
import type { Core, Place } from './core';
import type { Live } from './sessions';

export const COPY = 'jupyter-toolcall:copy';

/** What can be copied, as its menu names it. */
export const FORMATS = { py: 'Python', dot: 'DOT', svg: 'SVG', json: 'JSON' } as const;
export type Format = keyof typeof FORMATS;

export const isFormat = (value: unknown): value is Format => typeof value === 'string' && value in FORMATS;

function liveAt({ open }: Core, { notebook, found }: Place): Live | null {
  const live = found.live && open.of(notebook).live(found.live.panel);
  return live?.state === 'alive' ? live : null;
}

function kept({ found }: Place): string {
  const svg = found.saved?.['image/svg+xml'];
  return Array.isArray(svg) ? svg.join('') : typeof svg === 'string' ? svg : '';
}

/** Whether there is somebody, or something, that has it in this format. */
export const canCopy = (core: Core, place: Place, to: Format): boolean =>
  liveAt(core, place) !== null || (to === 'svg' && kept(place) !== '');

/** Resolves when it is on the clipboard, or when the person has been told why it is not. */
export async function copy(core: Core, place: Place, to: Format): Promise<void> {
  const { trans } = core;
  try {
    Clipboard.copyToSystem((await liveAt(core, place)?.exported(to)) ?? kept(place));
    Notification.success(trans.__('Copied the session as %1.', FORMATS[to]), { autoClose: 3000 });
  } catch (error) {
    Notification.error(error instanceof Error ? error.message : String(error));
  }
}
