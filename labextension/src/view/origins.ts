/** Where the value of an argument came from: a line at the argument, and its path. */
import type { CallRow, ObjectRow, OriginRow, Use } from '../generated/contract';
import { type Child, h, mutedText, strongText } from './dom';
import { button, icon } from './icons';
import { mainUse, reachable } from './lineage';
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
  const line = h(
    'span', `tc-from ${origin.trust}`, origin.trust === 'untrusted' && icon('warning'),
    h('span', {}, ...(acts ? originLine(says, model.calls.get(origin.call)?.step, show) : [says]))
  );
  if (origin.trust !== 'untrusted' || !acts) return [' ', line];
  const toggle = button(isShown ? t('Hide the path') : t('Show the path'), { look: 'small', key: `path ${parameter}`, onclick: show });
  toggle.setAttribute('aria-pressed', String(isShown));
  return [' ', line, ' ', toggle, h('p', 'tc-unchecked', origin.warning)];
}

/** The rows of calls and objects on the path that is shown; null where none is. */
export function rowsOnPath({ model, ui, chosen }: ViewState): ReadonlySet<string> | null {
  const call = model.calls.get(ui.path?.call === chosen.call ? chosen.call : '');
  const origin = originIn(call, ui.path?.parameter ?? '');
  if (!call || !origin) return null;
  const makers = (id: string): string[] => model.calls.get(id)?.uses.flatMap(use => model.objects.get(use.object)?.call || []) ?? [];
  const calls = [origin.call, ...reachable(origin.call, makers)].flatMap(id => model.calls.get(id) ?? []);
  const uses = call.uses.filter(use => use.parameter === origin.parameter);
  return new Set(
    [call, ...calls].flatMap(({ id, object }) => [id, object]).concat([...uses, ...calls.flatMap(one => one.uses)].map(use => use.object))
  );
}

/** The paths that are drawn at most, and the nodes of the one that is shown, and of the others: the first node, and the last ones. */
const [MOST_PATHS, MOST_NODES, MOST_PALE] = [3, 6, 3];

/**
 * The path of a value from top to bottom, objects as boxes and calls as pills; null for one that came through none. Of
 * several objects that a call takes, the path of one is drawn.
 */
function pathElement({ model, ui }: ViewState, { uses }: CallRow, origin: OriginRow): HTMLElement | null {
  const objectOf = (use: Use | undefined): ObjectRow | undefined => model.objects.get(use?.object ?? '');
  const nameOf = (object: ObjectRow | undefined): string => oneLine(object?.name ?? '', 40);
  const maker = (id: string): string[] => [objectOf(mainUse(model.calls.get(id)))?.call ?? ''];
  const calls = [origin.call, ...reachable(origin.call, maker)].flatMap(id => model.calls.get(id) ?? []).reverse();
  const first = nameOf(objectOf(calls[0] ? mainUse(calls[0]) : uses.find(use => use.parameter === origin.parameter)));
  const isUntrusted = origin.trust === 'untrusted';
  if (!calls.length && !first && !isUntrusted) return null;
  const pill = (call: CallRow): HTMLElement => {
    const others = call.uses.filter(use => use !== mainUse(call)).map(use => nameOf(objectOf(use)));
    return h('li', 'pill', h('code', {}, `${call.step} ${oneLine(call.tool, 40)}`), others.length > 0 && mutedText(t('with %1', others.join(', '))));
  };
  const nodes: HTMLElement[] = [h('li', 'box', first || (calls.length ? t('your prompt') : oneLine(origin.says, 60)))];
  for (const call of calls) {
    const name = nameOf(model.objects.get(call.object));
    nodes.push(pill(call), ...(name ? [h('li', 'box', name)] : []));
  }
  const left = nodes.length - (ui.path?.parameter === origin.parameter ? MOST_NODES : MOST_PALE);
  if (left > 0) nodes.splice(1, left + 1, h('li', 'muted', t('%1 more', left + 1)));
  if (isUntrusted) nodes.at(-1)?.append(icon('warning'), h('small', {}, t('not trusted')));
  return h('ol', { class: origin.trust, label: t('Path of %1', origin.parameter) }, ...nodes, h('li', 'to', origin.parameter));
}

/** How the value of the argument whose path is shown came to a call, and pale the paths of the others; then the passage in which it stands. */
export function pathOf(view: ViewState, call: CallRow, close: () => void): Child[] {
  const origin = rowsOnPath(view) && originIn(call, view.ui.path?.parameter ?? '');
  if (!origin) return [];
  const [before = '', found = '', after = ''] = origin.passage;
  const others = call.origins.filter(other => other !== origin);
  const paths = [origin, ...others].flatMap(one => pathElement(view, call, one) ?? []).slice(0, MOST_PATHS);
  return [
    h(
      'div', 'tc-row', strongText(t('Path of'), ' ', h('code', {}, origin.parameter)),
      button('', { icon: 'close', label: t('Close the path'), look: 'ghost small icon', key: 'close path', onclick: close })
    ),
    h('div', 'tc-path', h('div', {}, ...paths), h('div', 'end', icon('wait'), h('code', {}, `${call.step} ${oneLine(call.tool, 60)}`))),
    found ? h('blockquote', 'tc-passage', textBlock(before, 400), h('mark', {}, textBlock(found, 400)), textBlock(after, 400)) : null,
    origin.elsewhere && h('p', 'small muted', oneLine(origin.elsewhere, 200))
  ];
}
