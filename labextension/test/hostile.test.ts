import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsedRow } from '../src/view/reader';
import { clip, oneLine, textBlock, visibleText } from '../src/view/text';
import { called, drawn, made, page, waiting, whole } from './page';
import type { Rows } from './sent';

const EVIL = '"><img src=x onerror=alert(1)><script>alert(2)</script>\u202e\u0000\ud800<svg/onload=alert(3)>';

/** The same rows with every text hostile; what links them stays. */
function poisoned(value: unknown, key = ''): unknown {
  const links = ['id', 'call', 'object', 'status', 'role', 'phase', 'pending', 'pattern', 'type'];
  if (typeof value === 'string') return links.includes(key) ? value : `${value}${EVIL}`;
  if (Array.isArray(value)) return value.map(one => poisoned(one, key));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, poisoned(one, name)]));
}

const messages = [
  { id: 'm1', turn: 1, role: 'system' as const, text: 'system' },
  { id: 'm2', turn: 1, role: 'assistant' as const, text: 'says' }
];

test('hostile text never becomes an element, in no tab and no form', async () => {
  const { view, root, click } = await page();
  const rows = { ...waiting(), messages };
  rows.objects?.push(
    made('out', 0, { role: 'output' }),
    made('pic', 0, { preview: { image: 'javascript:alert(1)', glyph: ['M0 0"/><script>'], fields: [['a', 'b']] } })
  );
  view.update(whole(poisoned(rows) as typeof rows));
  click('Edit');
  for (const tab of ['Steps', 'Messages', 'Compare', 'Graph']) {
    click(tab);
    assert.equal(root.querySelectorAll('script, img, iframe, object, a').length, 0, tab);
    for (const element of root.querySelectorAll('*')) {
      for (const { name, value } of element.attributes) {
        assert.ok(!name.startsWith('on'), `${name} on ${element.tagName}`);
        if (name === 'href' || name === 'src') assert.match(value, /^data:image\//);
      }
    }
  }
  assert.match(root.textContent, /<img src=x onerror=alert\(1\)>/);
});

test('signs that are not seen are shown as escapes', async () => {
  const { view, root } = await page();
  view.update(whole(poisoned(waiting()) as ReturnType<typeof waiting>));
  assert.match(root.textContent, /\\u202e/);
  assert.doesNotMatch(root.textContent, /[\u202e\u0000]/);
  assert.equal(visibleText('a\ud800b\udc00c\u{e0041}\u2066'), 'a\\ud800b\\udc00c\\u{e0041}\\u2066');
  assert.equal(visibleText('well 👩‍🍳\n\tédone'), 'well 👩‍🍳\n\tédone');
});

test('long texts are capped, and no character is cut in half', () => {
  assert.equal(oneLine('x'.repeat(10_000_000), 10), 'xxxxxxxxx…');
  assert.equal(clip('👩👩👩', 2), '👩…');
  assert.ok(textBlock('y'.repeat(100_000)).length < 9000);
  assert.equal(oneLine('two\nlines'), 'two …');
  assert.equal(oneLine('\n two\u202e\n'), ' two\\u202e');
});

test('a picture is shown only from data that is an image', async () => {
  for (const [image, count] of [
    ['data:image/png;base64,AAAA', 1],
    ['data:text/html;base64,AAAA', 0],
    ['https://example.org/x.png', 0],
    ['data:image/png;base64,AA"onload', 0]
  ] as const) {
    const { view, root } = await page();
    view.update(whole({ objects: [made('p0', 0, { role: 'input', preview: { image } })] }));
    assert.equal(root.querySelectorAll('svg.g image').length, count, image);
  }
});

/** Rows as a notebook keeps them: each is a JSON text. */
const asTexts = (rows: Rows): Rows =>
  Object.fromEntries(
    Object.entries({ graph: [drawn(rows)], ...rows }).map(([table, all]) => [table, (all as unknown[]).map(row => JSON.stringify(row))])
  );

const everything = (root: HTMLElement): string => root.textContent;

test('rows that are JSON texts are shown as the rows that they say', async () => {
  const [texts, objects] = [await page(false), await page(false)];
  texts.view.update(whole(asTexts(waiting())));
  objects.view.update(whole(waiting()));
  for (const tab of ['Steps', 'Messages', 'Graph']) {
    texts.click(tab);
    objects.click(tab);
    assert.equal(everything(texts.root), everything(objects.root), tab);
  }
});

const DEEP = 100_000;
const FORGED = {
  'no JSON': '{"id": "call9", ',
  'a JSON text that is no object': '["call9"]',
  'an empty text': '',
  'ten million characters': JSON.stringify({ ...called(9), result: 'x'.repeat(10_000_000) }),
  'arguments that are nested deeply': `${JSON.stringify(called(9)).slice(0, -1)},"arguments":{"a":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}}`,
  'nested deeply, without an end': '['.repeat(DEEP),
  'a record with a text of texts': { ...called(9), tool: JSON.parse(`${'["",'.repeat(3000)}"x"${']'.repeat(3000)}`) as string }
};

test('a row is nested no deeper than what shows it can bear', () => {
  const nested = (levels: number): string => `{"id": "call1", "arguments": ${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}}`;
  assert.ok(parsedRow(nested(64)));
  for (const levels of [110, 1500]) assert.equal(parsedRow(nested(levels)) ?? parsedRow(JSON.parse(nested(levels))), null);
});

for (const [what, row] of Object.entries(FORGED)) {
  test(`beside a row of a call that is ${what}, the other rows are shown`, async () => {
    const { view, root, all, click, node } = await page(false);
    const rows = asTexts(waiting());
    view.update(whole({ ...rows, calls: [...(rows.calls ?? []), row] as unknown as Rows['calls'] }));
    for (const tab of ['Steps', 'Messages', 'Compare', 'Graph']) click(tab);
    assert.ok(node('Potato#3'));
    click('Steps');
    for (const step of all('.tc-step button')) step.click();
    assert.match(root.textContent, /Potato_slice/);
    assert.ok(root.textContent.length < 100_000);
  });
}
