/** The card: what is chosen, as facts; for a call that waits, the decision. */
import { actions, isDecision } from './decide';
import { h, once, prose, type Child } from './dom';
import { argumentsOf, described, facts, muted, shownObject, type Fact } from './facts';
import { icon } from './icons';
import { large } from './large';
import { ancestors, descendants, type Acts, type Look } from './look';
import type { FullCall, FullObject } from './rows';
import { guess } from './guess';
import { guessed, score } from './guessed';
import { reply } from './reply';
import { branchName, currentBranch, savedAs } from './scene';
import { block, clip, line } from './text';
import { trans } from './words';

function errorOf(call: FullCall): Child {
  return call.error ? h('div', { class: 'tc-error' }, icon('failed'), h('span', {}, block(call.error, 4000))) : null;
}

function printsOf(call: FullCall): Child {
  return call.prints
    ? h(
        'div',
        { class: 'tc-prints' },
        h('h4', {}, 'Printed'),
        h('pre', { class: 'tc-text', tabindex: 0 }, block(call.prints, 20_000))
      )
    : null;
}

const code = (text: string): HTMLElement => h('code', {}, line(text, 400));

const BOUND =
  'The beginning of a fingerprint of exactly this call. If anything in it changed, your decision would be refused, and you would be asked again.';

const bound = (call: FullCall): Child[] => [
  h(
    'span',
    { class: 'muted', title: trans.__(BOUND) },
    code(`${call.bound.slice(0, 4)} ${call.bound.slice(4, 8)}`),
    trans.__(': what you decide holds for exactly these arguments')
  )
];

function title(text: string, look: string, aside: string): HTMLElement {
  return h('div', { class: 'tc-title' }, h('h3', { class: look }, text), h('span', { class: 'small muted' }, aside));
}

const place = (call: FullCall): string => `call ${call.step}, turn ${call.turn}`;

/** The model that the person plays. */
const PERSON = 'person';

const stale: Child[] = ['may be stale: what the model decided it on has changed since'];

/** What a person has to know of an object and of the run that made it, each in a line of its own. */
function notesOf(call: FullCall | undefined, note = ''): Fact | null {
  const told = [note, ...(call?.notes ?? [])].filter(each => each !== '').map(each => line(each, 600));
  const said = call?.stale ? [...told, ...stale] : told;
  return said.length ? [said.length > 1 ? 'Notes' : 'Note', said.map(note => h('div', {}, note))] : null;
}

const outdated = (why: string): Fact | null => (why ? ['Outdated', line(why, 400)] : null);

function callFacts(view: Look, call: FullCall): HTMLElement | null {
  const made = view.model.objects.get(call.object);
  const open = isDecision(call);
  return facts([
    open && view.model.session.model === PERSON && ['Asked by', 'you, as the model; now you decide as the person'],
    open && call.recorded && ['Recorded result', code(call.recorded)],
    open && call.downstream && ['Downstream', prose(line(call.downstream))],
    open && call.why && ['Why it waits', prose(line(call.why))],
    open && call.bound && ['Bound to', bound(call)],
    !open && made ? ['Gives', h('span', { class: 'strong' }, line(made.name))] : null,
    !open && call.result ? ['Result', code(call.result)] : null,
    call.reason ? ['Reason', line(call.reason)] : null,
    call.memory ? ['From', 'memory: it did not run again'] : null,
    outdated(call.outdated),
    notesOf(call)
  ]);
}

const STARTED =
  'It had started and never finished: nobody knows whether it took effect. It does not run again unless you say so.';

function callCard(view: Look, call: FullCall): Child[] {
  const description = view.model.tools.get(call.tool)?.description ?? '';
  return [
    title(line(call.tool, 120), 'mono', place(call)),
    description ? h('p', {}, described(description)) : null,
    call.status === 'unknown' ? h('p', { class: 'tc-note' }, icon('unknown'), h('span', {}, STARTED)) : null,
    argumentsOf(view, call),
    errorOf(call),
    callFacts(view, call),
    printsOf(call)
  ];
}

const names = (objects: readonly FullObject[]): string => {
  const shown = objects.slice(0, 12).map(object => line(object.name, 60));
  return shown.join(', ') + (objects.length > 12 ? ` and ${objects.length - 12} more` : '');
};

function wentInto(view: Look, object: FullObject): Child[] | null {
  const after = descendants(view, object.id);
  const outputs = [object, ...after].map(one => savedAs(view, one)).filter(Boolean);
  const parts: Child[] = after.length ? [names(after)] : [];
  for (const output of outputs) parts.push(parts.length ? ', output ' : 'output ', code(output));
  return parts.length ? parts : null;
}

/** The object of the same name on another branch, where it came out otherwise. */
function elsewhere(view: Look, object: FullObject, compare: () => void): Fact | null {
  if (object.branch !== '' || view.model.branches.size < 2) return null;
  const twin = view.objects.find(one => one.name === object.name && one.branch !== '');
  if (!twin) return null;
  const link = h('button', { type: 'button', class: 'tc-link', onclick: compare }, 'Compare');
  const caption = twin.preview.caption ? `is ${twin.preview.caption}` : 'stands there too';
  return [
    `In ${clip(line(branchName(view.model, twin.branch), 40), 10)}`,
    [`${line(twin.name)} ${line(caption)}. `, link]
  ];
}

function origin(call: FullCall | undefined): string {
  if (!call) return 'from the notebook';
  return call.status === 'answered'
    ? `given by you for ${call.tool}, call ${call.step}`
    : `made by ${call.tool}, call ${call.step}`;
}

function objectFacts(view: Look, object: FullObject, call: FullCall | undefined, acts: Acts): HTMLElement | null {
  const before = ancestors(view.model, object.id);
  const after = wentInto(view, object);
  return facts([
    view.past && ['Objects', names(view.objects.filter(one => one.branch === '' && one.role !== 'pending'))],
    before.length > 0 && ['Came from', names(before)],
    after && ['Went into', after],
    object.equals ? ['Equal to', `${line(object.equals)}: the same content`] : null,
    elsewhere(view, object, () => acts.set({ tab: 'Compare' })),
    object.description ? ['About', line(object.description)] : null,
    call?.reason ? ['Reason', line(call.reason)] : null,
    outdated(object.outdated || (call?.outdated ?? '')),
    notesOf(call, object.note)
  ]);
}

function objectCard(view: Look, object: FullObject, call: FullCall | undefined, acts: Acts, on: Element): Child[] {
  const current = view.model.branches.size > 1 ? `branch ${currentBranch(view.model)?.name ?? ''}` : '';
  const aside = object.branch
    ? `branch ${branchName(view.model, object.branch)}`
    : current || (call ? place(call) : object.kind);
  const head = object.preview.caption || object.kind;
  return [
    title(
      view.past ? `Known at step ${view.at}` : line(object.name, 120),
      '',
      view.past ? `after turn ${view.calls.at(-1)?.turn ?? 0}` : line(aside, 60)
    ),
    shownObject(object, view.past ? object.name : head, origin(call)),
    ...large(view, object, acts, on),
    call ? argumentsOf(view, call) : null,
    call ? errorOf(call) : null,
    objectFacts(view, object, call, acts),
    call ? printsOf(call) : null
  ];
}

export interface Card {
  readonly element: HTMLElement;
  paint(view: Look): void;
}

/** The card and its buttons. */
export function card(acts: Acts): Card {
  const body = h('div', { class: 'tc-cardbody' });
  const decide = actions(acts);
  const mine = reply(acts);
  const before = guessed();
  const next = guess(acts);
  const total = score(true);
  const inner = [before.element, total.element, body, mine.element, next.element, decide.element];
  const element = h('section', { class: 'tc-card', 'aria-label': 'Details', tabindex: -1 }, ...inner);
  let view: Look;

  function inside(): Child[] {
    if ((view.yours || view.guess) && view.follow) return [];
    const call = view.model.calls.get(view.chosen.call);
    const object = view.model.objects.get(view.chosen.object);
    const made = object && object.role !== 'output' && object.role !== 'pending' && !(call && isDecision(call));
    if (object && made) return objectCard(view, object, call, acts, element);
    if (call) return callCard(view, call);
    if (object)
      return [
        title(line(`${object.name}: ${object.kind}`, 120), '', 'output'),
        h('p', {}, line(object.description)),
        muted('Still to save.')
      ];
    return [h('p', { class: 'muted' }, 'The calls of the session, and what they make, are shown here.')];
  }

  const draw = once(() => {
    body.replaceChildren();
    for (const child of inside()) if (child) body.append(child);
  });

  return {
    element,
    paint(now) {
      view = now;
      const { model, chosen } = now;
      const focus = element.contains(document.activeElement);
      draw(
        model.calls.get(chosen.call),
        model.objects,
        model.displayed.get(chosen.object),
        view.ui.sent,
        model.tools,
        model.branches,
        chosen.call,
        chosen.object,
        now.at,
        now.past,
        view.yours !== null,
        view.guess !== null
      );
      for (const part of [before, total, mine, next]) part.paint(view);
      decide.paint(now);
      const call = view.model.calls.get(now.chosen.call);
      const asks = (view.yours ?? view.guess) !== null || (call !== undefined && !now.past && isDecision(call));
      element.classList.toggle('asks', asks);
      // A button that went must not take the keyboard with it.
      if (focus && !element.contains(document.activeElement)) element.focus({ preventScroll: true });
    }
  };
}
