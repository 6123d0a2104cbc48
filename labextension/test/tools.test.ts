import assert from 'node:assert/strict';
import { test } from 'node:test';
import { called, page, waiting, whole } from './page';
import type { Rows } from './sent';

/** A session of which one call waits, with two tools. */
function asked(stops: readonly string[] = []): Rows {
  const rows = waiting();
  return {
    ...rows,
    session: [{ ...rows.session?.[0], stops: [...stops] }],
    tools: [
      { id: 'Potato_slice', description: 'Slice it.\nMore.' },
      { id: 'weigh', description: 'Weigh it.', read_only: true }
    ]
  };
}

test('of the tools that the session offers, those are listed that were called', async () => {
  const { view, one } = await page();
  view.update(whole({ ...asked(), session: [{ ...asked().session?.[0], offered: 5 }] }));
  assert.equal(one('.tc-toolbox summary').textContent, '2 of 5 tools');
});

test('a click on a tool sets a breakpoint, a second one takes it away', async () => {
  const { view, all, sent } = await page();
  view.update(whole(asked()));
  const details = all('.tc-toolbox')[0] as HTMLDetailsElement;
  assert.equal(details.querySelector('summary')?.textContent, '2 tools');
  details.open = true;
  details.dispatchEvent(new Event('toggle'));
  const button = (): HTMLElement => all('.tc-toolbox button')[1] as HTMLElement;
  assert.equal(button().getAttribute('aria-label'), 'Breakpoint on weigh');
  assert.equal(button().getAttribute('aria-pressed'), 'false');
  button().click();
  assert.deepEqual(sent.at(-1), { type: 'break', tool: 'weigh', on: true });
  view.update(whole(asked(['weigh'])));
  assert.equal(button().getAttribute('aria-pressed'), 'true');
  assert.equal(details.querySelector('summary')?.textContent, '2 tools, 1 breakpoint');
  button().click();
  assert.deepEqual(sent.at(-1), { type: 'break', tool: 'weigh', on: false });
});

test('the other calls of a turn stand below the decision, each with what it will run', async () => {
  const { view, all } = await page();
  const rows = asked();
  const last = rows.calls?.at(-1);
  const other = called(9, { turn: last?.turn ?? 0, status: 'proposed', tool: 'weigh', arguments: { unit: 'g' } });
  view.update(whole({ ...rows, calls: [...(rows.calls ?? []), other] }));
  const list = all('ul[aria-label="Also in this turn"] li');
  assert.equal(list.length, 1);
  assert.match(list[0]?.textContent ?? '', /9 weigh.*unit='g'|9 weigh.*unit="g"/);
  (list[0]?.querySelector('button.tc-link') as HTMLElement).click();
  assert.match(all('.tc-card h3')[0]?.textContent ?? '', /weigh/);
});
