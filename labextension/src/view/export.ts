/** The session as a file: the formats that a person takes home, and how a browser saves one. */
import { h } from './dom';
import { menu } from './graph/menu';
import { button } from './icons';
import { trans } from './words';

/** The formats, by the name that the kernel knows: their words, the ending of the file, its type. */
const FORMATS = {
  py: ['Python script', 'py', 'text/x-python'],
  ipynb: ['Notebook', 'ipynb', 'application/x-ipynb+json'],
  html: ['Web page', 'html', 'text/html'],
  svg: ['Picture (SVG)', 'svg', 'image/svg+xml'],
  dot: ['Graph (DOT)', 'dot', 'text/vnd.graphviz'],
  json: ['Session (JSON)', 'json', 'application/json'],
  messages: ['Messages (JSON)', 'messages.json', 'application/json']
} as const;

export type Format = keyof typeof FORMATS;

export const isFormat = (name: string): name is Format => Object.hasOwn(FORMATS, name);

/** The name of a session's file: of letters that every file system takes. */
export const fileName = (session: string, to: Format): string =>
  `${session.replace(/[^\p{L}\p{N}_-]+/gu, '-').replace(/^-+|-+$/g, '').slice(0, 60) || 'session'}.${FORMATS[to][1]}`;

/** Has the browser save a text as a file, as if it had been downloaded. */
export function download(name: string, to: Format, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: FORMATS[to][2] }));
  h('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** The button that opens the list of formats. */
export const exports = (take: (to: Format) => void): HTMLElement =>
  menu(trans.__('Export'), button(trans.__('Export'), { icon: 'out', look: 'ghost' }), () =>
    (Object.keys(FORMATS) as Format[]).map(to => ({ text: trans.__(FORMATS[to][0]), act: () => take(to) }))
  );
