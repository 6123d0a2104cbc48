/** Values are shown, edited and sent exactly: rows of cases. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonText, parsedJson } from '../src/view/exact';
import { fieldsOf, isChanged, type Raw, read } from '../src/view/schema';
import { literalText, shortNumber, shortNumbers, visibleText } from '../src/view/text';
import { delta, made, page, type Page, waiting, whole } from './page';
import type { CallRow } from './sent';

const BIG = '9007199254740993';
const big = { $json: BIG };

test('a long decimal is shortened, and beside another one it is whole, without the noise of a float', () => {
  for (const [text, short] of [
    ['3066.6666666666665', '3066.666…'], ['0.30000000000000004', '0.3'], ['393.00000000000006', '393.0'], ['-0.00012345678', '-0.000123…'], ['87999.12', '87999.12'],
    ['52.520008', '52.520008'], ['at 4.557142857', 'at 4.557142857'], ['1.5e-05', '1.5e-05'], ['2024.01.02', '2024.01.02']
  ]) assert.equal(shortNumber(text ?? ''), short);
  for (const [text, other, shown] of [
    ['5.699999999999999', '2.09', '5.7'], ['2.09', '5.699999999999999', '2.09'], ['3066.6666666666665', '', '3066.6666666666665'], ['9.0', '3.1', '9.0'],
    ['0.30000000000000004', '0.3', '0.30000000000000004'], ['0.3', '0.30000000000000004', '0.3'], ['1.2345678.9012345', '1', '1.2345678.9012345'],
    ['-0.11000000000000001', '0.11', '-0.11'], ['0.1234567890123456789012', '1', '0.1234567890123456789012']
  ]) assert.equal(shortNumber(text ?? '', other), shown);
  assert.equal(shortNumbers('value 4.557142857142858, v1.2345678.9, 1.23456789e-5'), 'value 4.557…, v1.2345678.9, 1.23456789e-5');
});

test('JSON is parsed and written again as it is, whatever JavaScript makes of its numbers', () => {
  const texts = [BIG, `-${BIG}0`, '1.0', '-0.0', '1e400', '0.1', '12', 'true', 'null', '"1.0"', `[${BIG},{"a":[1.0,"${BIG}"]}]`];
  const likeMarks = [
    '{"$json":"1.0"}', '{"$json":5}', '{"$json":"a","b":1.0}', '{"a":{"$json":"x"}}', '"{\\"$json\\":\\"1\\"}"', '[{"{":"$json"},1.0]'
  ];
  for (const text of [...texts, ...likeMarks]) {
    const value = parsedJson(text);
    assert.equal(jsonText(value), text);
    // What is sent holds no number that JavaScript would write otherwise.
    assert.deepEqual(JSON.parse(JSON.stringify(value)), value);
  }
  for (const text of ['', '01', '1.', '1.0.5', '{1.0:2}', '[1.0', 'NaN', '"a']) assert.throws(() => parsedJson(text), SyntaxError, text);
});

test('what is not seen in a value is shown as its code, and other signs are not', () => {
  const hidden = [
    ...'\u00ad\u034f\u061c\u115f\u1160\u17b4\u180b\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2064\u2066\u2069\u206a\u2800\u3164\ufe00\ufe0f\ufeff\uffa0\ufff9',
    ...'\u00a0\u1680\u2003\u202f\u205f\u3000\u2028\u2029\u0085\u007f\u009b',
    '\u{1bca0}', '\u{1d173}', '\u{e0001}', '\u{e0041}', '\u{e0100}', '\ue000'
  ];
  for (const sign of hidden) assert.match(literalText(`a${sign}b`), /^"a\\u(\{[0-9a-f]+\}|[0-9a-f]{4})b"$/, sign.codePointAt(0)?.toString(16));
  for (const plain of ['é', 'e\u0301', '漢', '😀', 'ß', '−', '“']) assert.equal(literalText(plain), `"${plain}"`);
  assert.equal(visibleText('⚠️ 👩‍🍳 10\u202fkm'), '⚠️ 👩‍🍳 10\u202fkm');
  assert.equal(visibleText('safe\u200d\u200b\ufe0f'), 'safe\\u200d\\u200b\\ufe0f');
});

const PARAMETERS = {
  properties: {
    flag: { type: 'boolean', default: true },
    count: { type: 'integer', default: 5 },
    ratio: { type: 'number', default: { $json: '1.0' } },
    note: { type: 'string', default: 'none' },
    size: { enum: ['S', 'M'], default: 'S' },
    tags: { type: 'array', items: { type: 'string' }, default: [] },
    any: { default: { a: 1 } },
    maybe: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null }
  }
};

test('of an argument that is left out, the default stays, the same value is written, or another', () => {
  const rows: readonly (readonly [name: string, raw: Raw, value: unknown])[] = [
    ['flag', 'true', true], [
      'flag', 'false', false
    ], ['count', '5', 5], ['count', '0', 0], ['count', BIG, big], ['count', '+7', 7], ['count', '1e3', 1000],
    [
      'ratio', '1.0', { $json: '1.0' }
    ], ['ratio', '1', 1], ['ratio', '.5', 0.5], ['ratio', '0x10', 16], ['note', 'none', 'none'], ['note', '', ''], ['note', 'null', 'null'],
    ['size', '"S"', 'S'], ['size', '"M"', 'M'], ['tags', '', []], ['tags', 'a\nb', ['a', 'b']], [
      'any', '{"a": 1}', { a: 1 }
    ], ['any', `[${BIG}]`, [big]], ['maybe', null, null], ['maybe', '', '']
  ];
  const fields = new Map(fieldsOf(PARAMETERS, {}).map(field => [field.name, field]));
  for (const [name, raw, value] of rows) {
    const field = fields.get(name) ?? assert.fail(name);
    assert.deepEqual(read(field, undefined), { omit: true });
    assert.deepEqual(read(field, raw), { value });
    assert.deepEqual([isChanged(field, undefined), isChanged(field, raw)], [false, true]);
  }
});

test('what reads the same after parsing is no change', () => {
  const values = { count: 7, any: { a: [1, big] }, tags: ['a'], ratio: { $json: '2.0' } };
  const raws: Readonly<Record<string, Raw>> = { count: ' 7 ', any: `{"a":[1,\n${BIG}]}`, tags: ' a\n\n', ratio: ' 2.0' };
  for (const field of fieldsOf(PARAMETERS, values)) if (field.name in raws) assert.equal(isChanged(field, raws[field.name]), false, field.name);
});

/** A session whose last call waits with these arguments, or has run with them. */
async function shown(more: Partial<CallRow>, parameters: object = PARAMETERS): Promise<Page> {
  const it = await page();
  const rows = waiting();
  const calls = (rows.calls ?? []).map(call => (call.id === 'call3' ? { ...call, uses: [], ...more } : call));
  const session = more.status ? [{ phase: 'finished' as const, says: 'Finished' }] : (rows.session ?? []);
  const objects = [...(rows.objects ?? []), made('list', 0, { name: 'Potato#9', role: 'input', call: '' })];
  it.view.update(whole({ ...rows, session, calls, objects, tools: [{ id: 'Potato_slice', parameters: { ...parameters } }] }));
  return it;
}

const argumentsShown = (it: Page): string => it.one('.tc-card .tc-args').textContent;

function choose(it: Page, label: string): void {
  const input = it.all('[role=dialog] label').find(one => one.textContent === label)?.querySelector('input') ?? assert.fail(label);
  input.checked = true;
  input.dispatchEvent(new Event('input', { bubbles: true }));
}

const edit = { type: 'edit', call: 'c3', reason: '', approval_digest: '7c1e90ab' };

test('a form chooses False where the default is True, and sends that field alone', async () => {
  const it = await shown({ arguments: { count: big } });
  it.click('Edit');
  assert.equal(it.buttons('Run with these values').length, 0);
  choose(it, 'false');
  it.click('Run with these values');
  assert.deepEqual(it.sent, [{ ...edit, arguments: { flag: false }, left_out: [] }]);
});

test('a mapping stands in rows of key and value, and a long text says how long it is and shows all on a click', async () => {
  const text = Array.from({ length: 8 }, (_, index) => `Paragraph ${index}. ${'word '.repeat(30)}`).join('\n\n');
  const it = await shown({ arguments: { rates: { Grinder: 89, 'Milk jug': 'x' }, body: text } }, {});
  assert.deepEqual(it.all('.tc-args .tc-map > *').map(one => one.textContent), ['Grinder', '89', 'Milk jug', '"x"']);
  assert.equal(it.one('.tc-args .tc-long .tc-row').textContent, `15 lines, ${text.length.toLocaleString('en-US')} charactersShow all`);
  it.click('Show all');
  assert.equal(it.all('.tc-long.whole').length, 1);
  it.click('Show less');
  assert.equal(it.all('.tc-long.whole').length, 0);
});

test('a long text that is not cut has no button that shows all of it', async () => {
  for (const [height, fits] of [[300, 0], [100, 1]]) {
    for (const [name, value] of Object.entries({ scrollHeight: height, clientHeight: 100 }))
      Object.defineProperty(HTMLElement.prototype, name, { value, configurable: true });
    const it = await shown({ arguments: { body: 'word '.repeat(200) } }, {});
    assert.equal(it.all('.tc-long.fits').length, fits);
  }
});

test('the fields of an object stand once, beside the arguments of a waiting call', async () => {
  const it = await shown({ uses: [{ parameter: 'list', object: 'list' }], arguments: { list: 'Potato#9' } });
  it.view.update(delta(1, { objects: [made('list', 0, { name: 'Potato#9', role: 'input', call: '', preview: { fields: [['tax', '0.081']] } })] }));
  assert.deepEqual([/tax/.test(argumentsShown(it)), /tax 0.081/.test(it.one('.tc-data').textContent)], [false, true]);
});

test('a value that does not fit is refused at its field as it is typed, and cannot be run', async () => {
  const it = await shown({ arguments: { count: 3 } });
  it.click('Edit');
  const input = it.one('[role=dialog] .tc-free input[type=text]') as HTMLInputElement;
  const type = (text: string): void => {
    input.value = text;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  };
  const wrong = (): unknown[] => [input.getAttribute('aria-invalid'), it.all('.tc-wrong').map(one => one.textContent).join(''), it.buttons('Run with these values')[0]?.disabled];
  type('abc');
  assert.deepEqual(wrong(), ['true', 'count must be a number.', true]);
  type('7');
  assert.deepEqual(wrong(), [null, '', false]);
});

test('the default is one choice, which the call and the new branch get as a value, without an empty box below it', async () => {
  const it = await shown({ arguments: { flag: false, note: 'x' } });
  it.click('Edit');
  choose(it, 'default (true)');
  choose(it, 'default ("none")');
  assert.match(it.one('[role=dialog]').textContent, /flag=true, note="none"/);
  const boxes = (): number => it.all('[role=dialog] .tc-free input[type=text]').filter(box => !box.closest('[hidden]')).length;
  assert.equal(boxes(), 0);
  choose(it, 'value');
  assert.equal(boxes(), 1);
  choose(it, 'default (5)');
  it.click('Run with these values');
  assert.deepEqual(it.sent, [{ ...edit, arguments: { flag: true, note: 'none' }, left_out: [] }]);
});

test('a form in which nothing is changed approves a call that waits, and does nothing to one that ran', async () => {
  const it = await shown({ arguments: { note: 'x' } });
  it.click('Edit');
  it.click('Approve as it is');
  assert.deepEqual(it.sent, [{ ...edit, arguments: {}, left_out: [] }]);
  const after = await shown({ arguments: { note: 'x' }, status: 'succeeded', object: '' });
  after.all('[aria-label=Steps] li').at(-1)?.click();
  after.click('Edit');
  assert.equal(after.buttons('Run with these values')[0]?.disabled, true);
  assert.match(after.one('[role=dialog]').textContent, /Nothing is changed, so nothing runs again\./);
});

test('the card shows every argument whole, with texts in quotes and objects as objects', async () => {
  const long = `${'line of a text\n'.repeat(700)}\u200bthe end  `;
  const uses = [{ parameter: 'plates.0', object: 'list' }, { parameter: 'in.p', object: 'list' }];
  const values = {
    text: 'Potato#9', two: 'a  b', long, plates: ['Potato#9', 'Potato#9'], in: { p: 'Potato#9', n: big },
    list: Array.from({ length: 900 }, (_, index) => index)
  };
  const it = await shown({ arguments: values, uses }, {});
  const text = argumentsShown(it);
  assert.ok(text.includes('text"Potato#9"') && text.includes('"a  b"') && text.includes(`"${long.replace('\u200b', '\\u200b')}"`));
  assert.ok(text.includes('[Potato#9, "Potato#9"]') && text.includes(`pPotato#9n${BIG}`) && text.includes('899'));
  assert.deepEqual(it.all('.tc-args .tc-sign').map(one => one.textContent), ['\\u200b']);
});

test('an argument that is left out has its default in the card, and one that is edited the value of the model', async () => {
  const it = await shown({ arguments: { count: { $json: '2.0' } }, asked: { count: big, any: 'gone' }, edited: true });
  assert.match(argumentsShown(it), new RegExp(`count2\\.0 the model asked for ${BIG}any"gone" removedflagdefault: trueratiodefault: 1\\.0`));
});
