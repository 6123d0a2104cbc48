/** Where the value of an argument came from: a line at the argument, and its path. */
import type { CallRow, OriginRow } from '../generated/contract';
import { type Child, h, strongText } from './dom';
import { button, icon } from './icons';
import { reachable } from './lineage';
import { oneLine, t, textBlock } from './text';
import type { PanelActions, ViewState } from './view_state';

const originIn = (call: CallRow | undefined, parameter: string): OriginRow | undefined => call?.origins.find(one => one.parameter === parameter);

/** A line of words in which `call 4` is a button. */
function originLine(says: string, step: number | undefined, show: () => void): Child[] {
  const name = t('call %1', step ?? '');
  const [before, ...after] = step === undefined ? [says] : says.split(new RegExp(`${name}(?!\\d)`));
  if (!after.length) return [says];
  return [before, h('button', { class: 'tc-link', onclick: show }, name), after.join(name)];
}

/** The origin of an argument; of an untrusted one also what that means, and the button that shows its path. */
export function originOf({ model, ui }: ViewState, call: CallRow, parameter: string, acts: PanelActions | null): Child[] {
  const origin = originIn(call, parameter);
  if (!origin) return [];
  const isShown = ui.path?.call === call.id && ui.path.parameter === parameter;
  const show = (): void => acts?.setState({ path: isShown ? null : { call: call.id, parameter } });
  const says = oneLine(origin.says, 200);
  const line = h('span', `tc-from ${origin.trust}`, origin.trust === 'untrusted' && icon('warning'), h('span', {}, ...(acts ? originLine(says, model.calls.get(origin.call)?.step, show) : [says])));
  if (origin.trust !== 'untrusted' || !acts) return [' ', line];
  const toggle = button(isShown ? t('Hide the path') : t('Show the path'), { look: 'small', key: `path ${parameter}`, onclick: show });
  toggle.setAttribute('aria-pressed', String(isShown));
  return [' ', line, ' ', toggle, h('p', 'tc-unchecked', origin.warning)];
}

/** The calls through which the value of an argument came, the last one first. */
function callsOf({ model }: ViewState, { call }: OriginRow): CallRow[] {
  const makers = (id: string): string[] => model.calls.get(id)?.uses.flatMap(use => model.objects.get(use.object)?.call || []) ?? [];
  return [call, ...reachable(call, makers)].flatMap(id => model.calls.get(id) ?? []);
}

/** The rows of calls and objects on the path that is shown; null where none is. */
export function rowsOnPath(view: ViewState): ReadonlySet<string> | null {
  const { model, ui, chosen } = view;
  const call = model.calls.get(ui.path?.call === chosen.call ? chosen.call : '');
  const origin = originIn(call, ui.path?.parameter ?? '');
  if (!call || !origin) return null;
  const uses = call.uses.filter(use => use.parameter === origin.parameter);
  const before = callsOf(view, origin).flatMap(({ id, object, uses }) => [id, object, ...uses.map(use => use.object)]);
  return new Set([call.id, call.object, ...before, ...uses.map(use => use.object)]);
}

/** How the value of the argument whose path is shown came to a call, and the passage in which it stands. */
export function pathOf(view: ViewState, call: CallRow, close: () => void): Child[] {
  const origin = rowsOnPath(view) && originIn(call, view.ui.path?.parameter ?? '');
  if (!origin) return [];
  const [before = '', found = '', after = ''] = origin.passage;
  const calls = callsOf(view, origin).sort((a, b) => a.step - b.step);
  const inputs = new Set(calls.flatMap(({ uses }) => uses.flatMap(use => (use.input ? (view.model.objects.get(use.object)?.name ?? []) : []))));
  const steps = [[...inputs].join(', ') || t('your prompt'), ...calls.map(({ tool, step }) => t('%1, call %2', oneLine(tool, 60), step)), ...(calls.length ? [] : [oneLine(origin.says, 100)]), oneLine(call.tool, 60)];
  const untrusted = origin.trust === 'untrusted' ? steps.length - 2 : -1;
  return [
    h('div', 'tc-row', strongText(t('Path of'), ' ', h('code', {}, origin.parameter)), button('', { icon: 'close', label: t('Close the path'), look: 'ghost small icon', key: 'close path', onclick: close })),
    h('ol', { class: 'tc-path', label: t('Path of %1', origin.parameter) }, ...steps.map((step, index) => h('li', index === untrusted ? 'untrusted' : '', index === untrusted ? icon('warning') : null, step))),
    found ? h('blockquote', 'tc-passage', textBlock(before, 400), h('mark', {}, textBlock(found, 400)), textBlock(after, 400)) : null,
    origin.elsewhere && h('p', 'small muted', oneLine(origin.elsewhere, 200))
  ];
}
