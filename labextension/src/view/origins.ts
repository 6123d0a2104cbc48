/** Where the value of an argument came from: a line at the argument, and the path of an untrusted one. */
import type { CallRow } from '../generated/contract';
import { type Child, h, strongText } from './dom';
import { button, icon } from './icons';
import { oneLine, t, textBlock } from './text';

/** The argument whose path is shown beside the card, and how another one is chosen. */
export interface Path {
  readonly of: string;
  readonly show: (parameter: string) => void;
}

const ICONS = { trusted: null, unclear: null, untrusted: 'warning' } as const;

/** The origin of an argument; of an untrusted one also what that means, and the button that shows its path. */
export function originOf(call: CallRow, parameter: string, path: Path | null): Child[] {
  const origin = call.origins.find(one => one.parameter === parameter);
  if (!origin) return [];
  const sign = ICONS[origin.trust];
  const line = h('span', `tc-from ${origin.trust}`, sign && icon(sign), oneLine(origin.says, 200));
  if (origin.trust !== 'untrusted' || !path) return [' ', line];
  const isShown = path.of === parameter;
  const toggle = button(isShown ? t('Hide the path') : t('Show the path'), { look: 'small', key: `path ${parameter}`, onclick: () => path.show(isShown ? '' : parameter) });
  toggle.setAttribute('aria-pressed', String(isShown));
  return [' ', line, ' ', toggle, h('p', 'tc-unchecked', origin.warning)];
}

/** How an untrusted value came to an argument, and the passage in which it stands. */
export function pathOf(call: CallRow, parameter: string, source: CallRow | undefined, close: () => void): Child[] {
  const origin = call.origins.find(one => one.parameter === parameter);
  if (!origin) return [];
  const [before = '', found = '', after = ''] = origin.passage;
  const name = source ? t('%1, call %2', oneLine(source.tool, 60), source.step) : oneLine(origin.says, 100);
  return [
    h('div', 'tc-row', strongText(t('Path of'), ' ', h('code', {}, parameter)), button('', { icon: 'close', label: t('Close the path'), look: 'ghost small icon', key: 'close path', onclick: close })),
    h('ol', { class: 'tc-path', label: t('Path of %1', parameter) }, ...[t('your prompt'), name, oneLine(call.tool, 60)].map((step, index) => h('li', index === 1 ? 'untrusted' : '', index === 1 ? icon('warning') : null, step))),
    found ? h('blockquote', 'tc-passage', textBlock(before, 400), h('mark', {}, textBlock(found, 400)), textBlock(after, 400)) : null
  ];
}
