/** A page without a browser, a session to show in it, and the words to find things by. */
import { Window } from 'happy-dom';
import type { CallRow, Command, Delta, ObjectRow, Rows, Whole } from '../src/generated/contract';
import type { PanelView } from '../src/view';

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
  'requestAnimationFrame',
  'cancelAnimationFrame'
] as const) {
  Object.defineProperty(globalThis, name, { value: window[name], configurable: true, writable: true });
}

export const whole = (rows: Rows, live = true): Whole => ({ type: 'whole', rows, live, version: 1 });

export const delta = (number: number, rows: Rows): Delta => ({ type: 'delta', number, rows });

export const made = (id: string, step: number, more: Partial<ObjectRow> = {}): ObjectRow => ({
  id,
  name: `Potato#${step + 1}`,
  kind: 'Potato',
  step,
  call: `call${step}`,
  column: step,
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
  uses: [{ parameter: 'Potato', object: `p${step - 1}`, receiver: true }],
  ...more
});

/** A chain: an input, and what `steps` calls made of it. */
export function chain(steps: number): Rows {
  const numbers = Array.from({ length: steps }, (_, index) => index + 1);
  return {
    session: [{ phase: 'finished', says: 'Finished', model: 'scripted:kitchen', turn: steps }],
    objects: [made('p0', 0, { role: 'input', used: true, call: '' }), ...numbers.map(step => made(`p${step}`, step))],
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
    bound: '7c1e90ab'
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
  const view = new PanelView(root, live ? { live, send: command => void sent.push(command) } : { live, copyText: t('Saved copy. Run the cell to continue.') });
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
