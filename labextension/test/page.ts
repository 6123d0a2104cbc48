/** A page without a browser, a session to show in it, and the words to find things by. */
import { Window } from 'happy-dom';
import type { Command, Delta, Whole } from '../src/generated/contract';
import type { PanelView } from '../src/view';
import type { CallRow, GraphEdge, GraphNode, GraphRow, ObjectRow, Rows } from './sent';

const window = new Window({ url: 'http://localhost/' });
for (const name of [
  'document',
  'Node',
  'Document',
  'Element',
  'HTMLElement',
  'HTMLInputElement',
  'SVGElement',
  'Event',
  'KeyboardEvent',
  'MouseEvent',
  'CSS',
  'requestAnimationFrame',
  'cancelAnimationFrame'
] as const) {
  Object.defineProperty(globalThis, name, { value: window[name], configurable: true, writable: true });
}
/** Tells in the next frame that an element is observed: nothing is laid out here. */
class Observer {
  constructor(private _act: () => void) {}
  observe(): void {
    requestAnimationFrame(() => this._act());
  }
  disconnect(): void {
    this._act = () => undefined;
  }
}
Object.defineProperty(globalThis, 'ResizeObserver', { value: Observer, configurable: true, writable: true });
globalThis.addEventListener = window.addEventListener.bind(window) as typeof addEventListener;
globalThis.removeEventListener = window.removeEventListener.bind(window) as typeof removeEventListener;

const STATES: Readonly<Partial<Record<NonNullable<CallRow['status']>, GraphNode['state']>>> = {
  succeeded: 'ran', failed: 'failed', rejected: 'rejected', answered: 'answered', interrupted: 'interrupted', unknown: 'unknown', running: 'running'
};
interface Place {
  readonly x: number;
  readonly y: number;
}

/** Calls that a drawing has. */
const MOST_DRAWN = 60;

/** A drawing as a kernel sends it: calls from left to right, the rows of a branch below each other. */
export function drawn({ calls = [], objects = [], branches: listed = [] }: Rows): GraphRow {
  const shown = [...calls].filter(call => !call.same || call.same === call.id).sort((a, b) => a.step - b.step);
  const window = shown.slice(-MOST_DRAWN);
  const ids = new Set(window.map(call => call.id));
  const known = new Map(objects.map(object => [object.id, object]));
  const drawnId = (id: string): string => known.get(id)?.same || id;
  const used = new Set(window.flatMap(call => (call.uses ?? []).map(use => drawnId(use.object))));
  const boxes = objects.filter(
    object => (!object.same || object.same === object.id) && (used.has(object.id) || ids.has(object.call ?? '') || object.role === 'input')
  );
  const branches = [...new Set([...shown, ...objects].map(row => row.branch ?? ''))].sort();
  const y = (branch = ''): number => 50 + 120 * branches.indexOf(branch);
  const width = 112;
  const states = new Map(shown.map(call => [call.id, STATES[call.status ?? 'proposed'] ?? 'waits'] as const));
  const nodes: (GraphNode & Place)[] = [
    ...(listed.length > 1 ? listed : []).map(({ id, name, current = false }, index) => (
      { kind: 'branch' as const, row: id, x: 60, y: 120 * index, width: 80, height: 24, label: name, muted: !current }
    )),
    ...window.map(call => ({
      kind: 'call' as const, row: call.id, x: 260 * call.step, y: y(call.branch), width: 80, height: 26,
      label: `${call.step} ${call.tool}`, state: states.get(call.id) ?? 'waits', edited: call.edited ?? false, stale: Boolean(call.outdated), muted: Boolean(call.branch)
    })),
    ...boxes.map((object, index) => ({
      kind: 'object' as const, row: object.id, x: object.call ? 260 * (object.step ?? 0) + 130 : 60, y: y(object.branch) + (object.call
        ? 0
        : 90 * index), width, height: 84,
      label: object.name, detail: object.role === 'output' ? '' : (
        object.preview?.caption ?? ''
      ), state: states.get(object.call ?? '') ?? 'ran', muted: Boolean(object.branch),
      dashed: object.role === 'pending' ||
        object.role === 'output', flag: object.role === 'output' ? object.name : (object.saved ?? ''), input: object.role === 'input'
    }))
  ];
  const places = new Map([...nodes.entries()].map(([place, node]) => [`${node.kind}:${node.row}`, place]));
  const edge = (from: string, to: string, label = '', muted = false): GraphEdge[] => {
    const [tail, head] = [places.get(from) ?? -1, places.get(to) ?? -1];
    const [start, end] = [nodes[tail], nodes[head]];
    return start && end ? [{ tail, head, path: `M${end.x},${end.y}c0,0 0,0 ${start.x - end.x},${start.y - end.y}`, label, muted }] : [];
  };
  const edges = window.flatMap(call => [
    ...(call.uses ?? []).flatMap(
      use => edge(
        `object:${drawnId(use.object)}`, `call:${call.id}`, (call.uses ?? []).length > 1 ? use.parameter : '', Boolean(call.branch)
      )
    ),
    ...boxes.filter(object => object.call === call.id).flatMap(object => edge(`call:${call.id}`, `object:${object.id}`, '', Boolean(call.branch)))
  ]);
  return {
    id: 'graph', width: 260 * (1 + Math.max(0, ...shown.map(call => call.step))), height: 120 * Math.max(1, branches.length), nodes, edges,
    earlier: shown.length - window.length
  };
}

/** The rows that the panel under test has. */
let sent: Rows = {};

const merged = <T extends { readonly id: string }>(before: readonly T[] = [], rows: readonly T[] = []): T[] => {
  const all = new Map(before.map(row => [row.id, row]));
  for (const row of rows) all.set(row.id, { ...all.get(row.id), ...row });
  return [...all.values()];
};

/** All rows, with a drawing of them. */
export function whole(rows: Rows, live = true): Whole {
  sent = rows;
  return { type: 'whole', rows: { graph: [drawn(rows)], ...rows }, live, version: 1 };
}

/** Rows that changed, with a drawing of all. */
export function delta(number: number, rows: Rows): Delta {
  const dropped = new Set((rows.drop ?? []).map(drop => drop.id));
  const kept = (sent.objects ?? []).filter(object => !dropped.has(object.id));
  sent = { ...sent, calls: merged(sent.calls, rows.calls), objects: merged(kept, rows.objects) };
  return { type: 'delta', number, rows: { graph: [drawn(sent)], ...rows } };
}

export const made = (id: string, step: number, more: Partial<ObjectRow> = {}): ObjectRow => ({
  id,
  name: `Potato#${step + 1}`,
  kind: 'Potato',
  step,
  call: `call${step}`,
  preview: { caption: `state ${step}` },
  ...more
});

export const called = (step: number, more: Partial<CallRow> = {}): CallRow => ({
  id: `call${step}`,
  call: `c${step}`,
  tool: `Potato_do${step}`,
  step,
  turn: step,
  status: 'succeeded',
  object: `p${step}`,
  uses: [{ parameter: 'Potato', object: `p${step - 1}` }],
  ...more
});

/** A chain: an input, and what `steps` calls made of it. */
export function chain(steps: number): Rows {
  const numbers = Array.from({ length: steps }, (_, index) => index + 1);
  return {
    session: [{ phase: 'finished', says: 'Finished', model: 'scripted:kitchen', turn: steps }],
    objects: [made('p0', 0, { role: 'input', call: '' }), ...numbers.map(step => made(`p${step}`, step))],
    calls: numbers.map(step => called(step)),
    branches: [{ id: 'b', name: 'main', current: true, calls: steps }]
  };
}

/** A chain whose last call waits; it slices, as its schema allows. */
export function waiting(): Rows {
  const rows = chain(2);
  const slice = called(3, {
    tool: 'Potato_slice',
    status: 'proposed',
    arguments: { Potato: 'Potato#3', shape: 'STICKS' },
    approval_digest: '7c1e90ab'
  });
  return {
    ...rows,
    session: [{ phase: 'waiting', says: 'Waiting for you', pending: ['call3'] }],
    calls: [...(rows.calls ?? []), slice],
    objects: [...(rows.objects ?? []), made('p3', 3, { role: 'pending' })],
    tools: [
      {
        id: 'Potato_slice',
        parameters: {
          type: 'object',
          properties: {
            Potato: { type: 'string', pattern: '^Potato#[1-9][0-9]*$', description: 'the potato to cut' },
            shape: { enum: ['STICKS', 'SLICES'] }
          },
          required: ['shape']
        }
      }
    ]
  };
}

export interface Page {
  readonly root: HTMLElement;
  readonly view: PanelView;
  readonly sent: Command[];
  all(selector: string): HTMLElement[];
  one(selector: string): HTMLElement;
  /** The buttons that can be reached, by their accessible name. */
  buttons(name: string): HTMLButtonElement[];
  click(name: string): void;
  node(name: string): HTMLElement;
}

const shown = (element: Element): boolean => element.closest('[hidden]') === null;

const nameOf = (element: Element): string => element.getAttribute('aria-label') ?? element.textContent.trim();

/** The view in an empty page; a host that is not live cannot send. */
export async function page(live = true): Promise<Page> {
  const { PanelView } = await import('../src/view');
  const { t } = await import('../src/view/text');
  const root = document.createElement('div');
  document.body.replaceChildren(root);
  const sent: Command[] = [];
  const view = new PanelView(
    root,
    live
      ? { live, send: command => void sent.push(structuredClone(command)) }
      : { live, copyText: t('Saved copy. Run the cell to continue.') }
  );
  const all = (selector: string): HTMLElement[] => [...root.querySelectorAll<HTMLElement>(selector)].filter(shown);
  const one = (selector: string): HTMLElement => {
    const [found] = all(selector);
    if (!found) throw new Error(`Nothing is shown for ${selector}`);
    return found;
  };
  const buttons = (name: string): HTMLButtonElement[] =>
    all('button').filter(button => nameOf(button) === name) as HTMLButtonElement[];
  return {
    root,
    view,
    sent,
    all,
    one,
    buttons,
    click(name) {
      const [button] = buttons(name);
      if (!button) throw new Error(`No button ${name}`);
      button.click();
    },
    node: name => one(`svg.g [role=button][aria-label="${name}"]`)
  };
}

export function press(element: Element, key: string): void {
  element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}

export function slide(page: Page, to: number): void {
  const slider = page.one('input[type=range]') as HTMLInputElement;
  slider.value = String(to);
  slider.dispatchEvent(new Event('input', { bubbles: true }));
}
