import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choices, fieldsOf, initialRaw, type Raw, rawOf, read, readAll } from '../src/view/schema';

const potato = { type: 'string', pattern: '^Potato#[1-9][0-9]*$' };

const parameters = {
  type: 'object',
  $defs: { Shape: { enum: ['STICKS', 'SLICES'] }, Deep: { $ref: '#/$defs/Shape' } },
  required: ['shape', 'count'],
  properties: {
    Potato: { anyOf: [potato, { type: 'null' }], description: 'the potato to cut' },
    shape: { $ref: '#/$defs/Deep', description: 'how' },
    exact: { const: 7 },
    either: { oneOf: [{ const: 1 }, { const: 'two' }] },
    count: { type: 'integer' },
    ratio: { type: ['number', 'null'] },
    flag: { type: 'boolean' },
    note: { type: 'string' },
    many: { type: 'array', items: potato },
    other: { type: 'object' },
    fryOrPotato: { type: 'string', pattern: '^(Fries|Potato)#[1-9][0-9]*$' }
  }
};

const values: Readonly<Record<string, unknown>> = {
  Potato: 'Potato#3',
  shape: 'SLICES',
  exact: 7,
  either: 'two',
  count: 0,
  ratio: null,
  flag: false,
  note: ' two\nlines \u202e',
  many: ['Potato#2', 'Potato#1'],
  other: { a: [1, null, { b: '"' }] },
  unknown: [true]
};

const raws = (given: Readonly<Record<string, unknown>>): Map<string, Raw> =>
  new Map(fieldsOf(parameters, given).map(field => [field.name, rawOf(field, field.initial)]));

test('every kind of schema has its field', () => {
  const kinds = Object.fromEntries(fieldsOf(parameters, values).map(field => [field.name, field.kind]));
  assert.deepEqual(kinds, {
    Potato: 'object',
    shape: 'choice',
    exact: 'choice',
    either: 'choice',
    count: 'number',
    ratio: 'number',
    flag: 'flag',
    note: 'text',
    many: 'objects',
    other: 'json',
    fryOrPotato: 'object',
    unknown: 'json'
  });
});

test('a form that nobody touched gives back exactly what it was made from', () => {
  for (const given of [values, {}, { count: 3 }, { note: '', ratio: 0, Potato: null }]) {
    assert.deepEqual(readAll(fieldsOf(parameters, given), raws(given)), { arguments: given, errors: {} });
  }
});

test('a value of the wrong type for its schema is shown as JSON, and survives', () => {
  const given = { count: 'three', flag: 'yes', note: 5, many: 'Potato#1' };
  assert.deepEqual(readAll(fieldsOf(parameters, given), raws(given)).arguments, given);
  assert.equal(fieldsOf(parameters, given).find(field => field.name === 'count')?.kind, 'json');
});

test('what was changed is read by its type', () => {
  const field = (name: string): ReturnType<typeof fieldsOf>[number] =>
    fieldsOf(parameters, values).find(one => one.name === name) ?? assert.fail(name);
  assert.deepEqual(read(field('count'), '12'), { value: 12 });
  assert.deepEqual(read(field('shape'), '"STICKS"'), { value: 'STICKS' });
  assert.deepEqual(read(field('flag'), 'true'), { value: true });
  assert.deepEqual(read(field('Potato'), null), { value: null });
  assert.deepEqual(read(field('Potato'), undefined), { omit: true });
  assert.deepEqual(read(field('other'), '{"a": 2}'), { value: { a: 2 } });
  assert.deepEqual(read(field('many'), '[]'), { value: [] });
});

test('the name of an object stands for its value in a field of a number, a list or JSON', () => {
  const field = (name: string): ReturnType<typeof fieldsOf>[number] =>
    fieldsOf(parameters, { count: 1, other: {} }).find(one => one.name === name) ?? assert.fail(name);
  assert.deepEqual(read(field('count'), ' int#2 '), { value: 'int#2' });
  assert.deepEqual(read(field('other'), 'dict#1'), { value: 'dict#1' });
  const list = fieldsOf({ properties: { tags: { type: 'array', items: { type: 'string' } } } }, { tags: ['a'] });
  assert.deepEqual(readAll(list, new Map([['tags', 'list#1']])).arguments, { tags: 'list#1' });
  assert.deepEqual(readAll(list, new Map([['tags', 'str#1']])).arguments, { tags: ['str#1'] });
  assert.equal(fieldsOf(parameters, { count: 'int#1' }).find(one => one.name === 'count')?.kind, 'number');
});

test('what cannot be read is said at its field', () => {
  const given = { count: 1, other: {} };
  const filled = raws(given).set('count', '1.5').set('other', '{oops');
  const { errors } = readAll(fieldsOf(parameters, given), filled);
  assert.match(errors.count ?? '', /whole number/);
  assert.match(errors.other ?? '', /valid JSON/);
});

test('choices come through references and alternatives, and a circle of references ends', () => {
  const root = { $defs: { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/A' } }, properties: {} };
  assert.deepEqual(choices({ $ref: '#/$defs/A' }, root), []);
  assert.deepEqual(choices({ $ref: '#/$defs/Deep' }, parameters), ['STICKS', 'SLICES']);
  assert.deepEqual(choices({ anyOf: [{ enum: ['x'] }, { type: 'null' }] }, root), ['x']);
});

test('an argument may have a name that every record knows', () => {
  const names = ['constructor', 'toString', '__proto__'];
  const properties = JSON.parse(`{${names.map(name => `"${name}": {"type": "string"}`).join()}}`) as object;
  const fields = fieldsOf({ type: 'object', properties }, {});
  assert.deepEqual(fields.map(field => [field.name, field.kind, field.initial]), names.map(name => [name, 'text', undefined]));
});

test('where a text is asked for, what is written in place of something else is a text', () => {
  const [field] = fieldsOf({ properties: { where: { type: 'string' } } }, { where: [{ column: 'price' }] });
  assert.ok(field);
  assert.deepEqual(readAll([field], new Map([['where', initialRaw(field)]])).arguments, { where: [{ column: 'price' }] });
  assert.deepEqual(readAll([field], new Map([['where', 'price > 0']])).arguments, { where: 'price > 0' });
});
