/** The sessions of a map as a table: an anywidget that shows one page of rows and opens a session. */
import type { RenderProps } from '@anywidget/types';
import { h, redraw } from './view/dom';
import { textOf } from './view/reader';
import { formatNumber, t, tableText } from './view/text';
import { hearKernel, setCatalogue } from './widget_kernel';

/** A row, as `jupyter/map_panel.py` sends it. */
interface SessionRow {
  readonly index: number;
  readonly prompt: string;
  readonly status: string;
  readonly calls: number;
  readonly turns: number;
  readonly tokens: number;
  readonly note: unknown;
}

export interface Table {
  readonly type: 'table';
  readonly total: number;
  /** How many sessions have each status, in the order of the table. */
  readonly counts: Readonly<Record<string, number>>;
  /** The status whose sessions are listed, "" for all. */
  readonly status: string;
  readonly rows: readonly SessionRow[];
  /** The number of the first row, and of all rows with this status. */
  readonly first: number;
  readonly listed: number;
  readonly size: number;
  readonly errors: readonly (readonly [string, number])[];
  readonly note: unknown;
  /** The session whose panel is open, -1 for none, and its prompt. */
  readonly opened: number;
  readonly prompt: string;
}

type Send = (command: Readonly<Record<string, unknown>>) => void;

const COLUMNS = [
  '#', tableText('Prompt'), tableText('Status'), tableText('Calls'), tableText('Turns'), tableText('Tokens'), tableText('Note'), ''
] as const;
const STATUSES: Readonly<Record<string, string>> = {
  waiting: tableText('Waiting'),
  failed: tableText('Failed'),
  interrupted: tableText('Interrupted'),
  'not started': tableText('Not started'),
  finished: tableText('Finished')
};
const statusText = (status: string): string => t(STATUSES[status] ?? status);

function filters(table: Table, send: Send): HTMLElement {
  const chip = (status: string, label: string, count: number): HTMLElement => {
    const onclick = (): void => send({ type: 'show', status, first: 0 });
    const attributes = { class: 'tcm-chip', 'aria-pressed': String(table.status === status), key: `status ${status}`, onclick };
    return h('button', attributes, label, h('b', {}, formatNumber(count)));
  };
  const chips = Object.entries(table.counts).map(([status, count]) => chip(status, statusText(status), count));
  return h('div', { class: 'tcm-chips', role: 'group', label: t('Which sessions') }, chip('', t('All'), table.total), ...chips);
}

function row(session: SessionRow, opened: number, send: Send): HTMLElement {
  const { index, prompt, status } = session;
  const note = textOf(session.note);
  const isOpen = index === opened;
  const label = isOpen ? t('Close session %1', index) : t('Open session %1', index);
  const onclick = (): void => send(isOpen ? { type: 'close' } : { type: 'open', index });
  const toggle = h('button', { class: 'tcm-button', label, key: `open ${index}`, onclick }, isOpen ? t('Close') : t('Open'));
  return h(
    'tr', { class: isOpen ? 'is-open' : '', 'data-status': status }, h('td', 'tcm-number', String(index)),
    h('td', 'tcm-prompt', h('span', { title: prompt }, prompt)), h('td', 'tcm-status', h('span', {}, statusText(status))),
    ...([[t('calls'), session.calls], [t('turns'), session.turns], [t('tokens'), session.tokens]] as const).map(([label, count]) =>
      h('td', { class: 'tcm-number', 'data-label': label }, formatNumber(count))
    ),
    h('td', 'tcm-note', note && h('span', { title: note }, note)), h('td', 'tcm-open', toggle)
  );
}

function pager(table: Table, send: Send): HTMLElement | null {
  const { first, size, listed, status } = table;
  if (listed <= size) return null;
  const turn = (label: string, to: number, usable: boolean): HTMLElement =>
    h('button', { class: 'tcm-button', disabled: !usable, 'data-k': label, onclick: () => send({ type: 'show', status, first: to }) }, label);
  return h(
    'div', 'tcm-pager', h('span', {}, t('%1 to %2 of %3', first + 1, Math.min(first + size, listed), listed)),
    turn(t('Previous'), Math.max(0, first - size), first > 0), turn(t('Next'), first + size, first + size < listed)
  );
}

/** The elements of a table. */
export function tableOf(table: Table, send: Send): HTMLElement[] {
  const numeric = new Set<string>(['#', 'Calls', 'Turns', 'Tokens']);
  const head = COLUMNS.map(name =>
    h('th', { scope: 'col', class: numeric.has(name) ? 'tcm-number' : '' }, name ? t(name) : h('span', 'tcm-hidden', t('Panel')))
  );
  const body = table.rows.map(each => row(each, table.opened, send));
  const errors = table.errors.map(([error, count]) => h('li', {}, h('b', {}, `${formatNumber(count)} ×`), ` ${error}`));
  const list = h('table', { label: t('Sessions') }, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...body));
  return [
    filters(table, send),
    h('div', 'tcm-rows', list),
    pager(table, send),
    errors.length ? h('ul', { class: 'tcm-errors', label: t('Errors') }, ...errors) : null,
    table.note ? h('p', { class: 'tcm-said', role: 'status' }, textOf(table.note)) : null,
    table.opened >= 0
      ? h('h3', 'tcm-opened', t('Session %1', table.opened), h('span', {}, table.prompt))
      : null
  ].filter(element => element !== null);
}

function render({ model, el }: RenderProps): () => void {
  let opened = -1;
  const send: Send = command => model.send(command);
  const root = h('section', 'tcm');
  // The saved table of the same cell is hidden for as long as this one is alive.
  const hides = h('style');
  const hear = (table: Table & { readonly saved: string }): void => {
    // The kernel chooses the catalogue when the table says hello.
    setCatalogue(model.get('texts'));
    root.setAttribute('aria-label', t('Sessions of a map'));
    hides.textContent = `.toolcall-map-${table.saved.replace(/\W/g, '')} { display: none; }`;
    const scrolled = root.querySelector('.tcm-rows')?.scrollTop ?? 0;
    const opens = table.opened >= 0 && table.opened !== opened;
    opened = table.opened;
    root.classList.toggle('has-panel', opened >= 0);
    redraw(root, () => root.replaceChildren(...tableOf(table, send)));
    const rows = root.querySelector('.tcm-rows');
    if (rows) rows.scrollTop = scrolled;
    if (opens) {
      const line = root.querySelector<HTMLElement>('tr.is-open');
      if (rows && line) rows.scrollTop = Math.max(0, line.offsetTop - 34);
      root.scrollIntoView({ block: 'start' });
    }
  };
  el.append(hides, root);
  return hearKernel(model, () => send({ type: 'hello', language: document.documentElement.lang }), hear);
}

export default { render };
