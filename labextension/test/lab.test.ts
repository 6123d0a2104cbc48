import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PREFERENCES, translatedSchema } from '../src/lab/settings';
import { tutorialCells, tutorialNotebook } from '../src/lab/tutorial';
import { setLanguage, t, tn } from '../src/view/text';
import { page, waiting, whole } from './page';

/** A catalogue that marks every text. */
const marked = (text: string, many = text, count = 1): string => `«${count === 1 ? text : many}»`;

test('a setting of the wrong type counts as not set', () => {
  const wrong = { openSidePanel: 'always', notifyWhenWaiting: 'yes', confirmApproveAll: true, other: 1 };
  assert.deepEqual(PREFERENCES.of(wrong), { ...PREFERENCES.of({}), confirmApproveAll: true });
});

test('the first notebook is one of cells that run one after the other, for a kernel by name', () => {
  const none = { __: (text: string) => text } as Parameters<typeof tutorialCells>[0];
  const cells = tutorialCells(none);
  assert.deepEqual(
    cells.map(([kind]) => kind),
    ['markdown', 'code', 'code', 'markdown', 'code']
  );
  assert.match(cells[1]?.[1] ?? '', /^%load_ext jupyter_toolcall/);
  assert.match(cells[2]?.[1] ?? '', /^%%toolchat -m scripted:kitchen/);
  const { metadata, cells: saved } = tutorialNotebook(none, 'python3', 'Python 3') as Record<string, unknown>;
  assert.deepEqual(metadata, { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } });
  assert.equal((saved as unknown[]).length, cells.length);
});

test('the texts of the view are those of the language that is set, with their values', async () => {
  assert.equal(t('%1 of %2', 3, 4), '3 of 4');
  assert.equal(tn('%1 call', '%1 calls', 1200), '1,200 calls');
  setLanguage('de', marked);
  try {
    assert.equal(tn('%1 call', '%1 calls', 1200), '«1.200 calls»');
    const { view, all, one } = await page();
    view.update(whole(waiting()));
    assert.deepEqual(
      all('[role=tab]').map(tab => tab.textContent),
      ['«Graph»', '«Steps»', '«Messages»', '«Compare»']
    );
    assert.ok(all('button').some(button => button.textContent === '«Approve»'));
    assert.equal(one('[role=region]').getAttribute('aria-label'), '«Tool calls»');
  } finally {
    setLanguage('en-US', () => undefined);
  }
});

test('titles of settings and of submenus are translated, and nothing else of a schema', () => {
  setLanguage('de', text => text.toUpperCase());
  const schema = {
    title: 'a',
    'jupyter.lab.menus': { context: [{ type: 'submenu', submenu: { id: 'b', label: 'c', items: [{ command: 'd', rank: 1 }] } }] },
    properties: { title: { title: 'e', description: 'f', default: 'g', oneOf: [{ const: 'h', title: 'i' }] } }
  };
  assert.deepEqual(translatedSchema(schema), {
    title: 'A',
    'jupyter.lab.menus': { context: [{ type: 'submenu', submenu: { id: 'b', label: 'C', items: [{ command: 'd', rank: 1 }] } }] },
    properties: { title: { title: 'E', description: 'F', default: 'g', oneOf: [{ const: 'h', title: 'I' }] } }
  });
  setLanguage('en-US', () => undefined);
});
