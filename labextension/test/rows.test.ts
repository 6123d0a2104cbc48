import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rows as TABLES } from '../src/generated/contract';
import { applyNotice, EMPTY_MODEL, type Model } from '../src/view/model';
import { called, chain, delta, made, waiting, whole } from './page';
import type { Rows } from './sent';

const tables = ({ calls, objects, tools, messages, branches, session }: Model): unknown => ({
  calls,
  objects,
  tools,
  messages,
  branches,
  session
});

/** Small numbers from a seed, the same each time. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield state;
  }
}

function changes(seed: number, length: number): Rows[] {
  const random = numbers(seed);
  return Array.from({ length }, () => {
    const step = 1 + (random.next().value % 7);
    switch (random.next().value % 4) {
      case 0:
        return { drop: [{ table: 'objects', id: `p${step}` }] };
      case 1:
        return { objects: [made(`p${step}`, step, { saved: `s${random.next().value}` })] };
      case 2:
        return { calls: [called(step, { ms: random.next().value % 100 })], session: [{ turn: step }] };
      default:
        return { objects: [made(`p${step}`, step)], calls: [called(step)] };
    }
  });
}

/** What the last word on each row is, as one whole would say it. */
function merged(first: Rows, later: readonly Rows[]): Rows {
  const objects = new Map((first.objects ?? []).map(row => [row.id, row]));
  const calls = new Map((first.calls ?? []).map(row => [row.id, row]));
  let session = first.session ?? [];
  for (const rows of later) {
    for (const one of rows.drop ?? []) objects.delete(one.id);
    for (const row of rows.objects ?? []) objects.set(row.id, { ...objects.get(row.id), ...row });
    for (const row of rows.calls ?? []) calls.set(row.id, { ...calls.get(row.id), ...row });
    session = rows.session ? [{ ...session[0], ...rows.session[0] }] : session;
  }
  return { ...first, objects: [...objects.values()], calls: [...calls.values()], session };
}

test('deltas lead to the same model as one whole', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const later = changes(seed, 20);
    const step = (model: Model, rows: Rows, index: number): Model => applyNotice(model, delta(index + 1, rows));
    const grown = later.reduce(step, applyNotice(EMPTY_MODEL, whole(chain(3))));
    assert.deepEqual(tables(grown), tables(applyNotice(EMPTY_MODEL, whole(merged(chain(3), later)))));
    assert.equal(grown.missedUpdate, false);
  }
});

test('a delta leaves the model before it, and every table that it does not name, as they were', () => {
  const before = applyNotice(EMPTY_MODEL, whole(chain(3)));
  const after = applyNotice(before, delta(1, { objects: [made('p4', 4)] }));
  assert.equal(before.objects.size, 4);
  assert.equal(after.objects.size, 5);
  assert.equal(after.calls, before.calls);
  assert.equal(after.objects.get('p1'), before.objects.get('p1'));
});

test('a row of a delta takes the place of the one before, with defaults for what it leaves out', () => {
  const before = applyNotice(EMPTY_MODEL, whole(chain(2)));
  const after = applyNotice(before, {
    type: 'delta', number: 1, rows: { calls: [{ id: 'call2', call: 'c2', tool: 'peel', step: 2, turn: 2, ms: 5 }], session: [{ turn: 9 }] }
  });
  assert.equal(after.calls.get('call2')?.ms, 5);
  assert.equal(after.calls.get('call2')?.status, 'proposed');
  assert.deepEqual(after.calls.get('call1'), before.calls.get('call1'));
  assert.equal(after.session.phase, 'ready');
});

test('a row that was dropped is forgotten', () => {
  const told = { drop: [{ table: 'objects' as const, id: 'p2' }], objects: [{ id: 'p2', name: 'Potato#9', kind: 'Potato' }] };
  const after = applyNotice(applyNotice(EMPTY_MODEL, whole(chain(2))), { type: 'delta', number: 1, rows: told });
  assert.equal(after.objects.get('p2')?.preview.caption, '');
});

test('a lost delta is noticed, until a whole comes', () => {
  const before = applyNotice(applyNotice(EMPTY_MODEL, whole(chain(1))), delta(1, {}));
  assert.equal(before.missedUpdate, false);
  const lost = applyNotice(before, delta(3, {}));
  assert.equal(lost.missedUpdate, true);
  assert.equal(applyNotice(lost, delta(4, {})).missedUpdate, true);
  assert.equal(applyNotice(lost, whole(chain(1))).missedUpdate, false);
});

test('fields that are left out have the defaults of the contract, and wrong ones too', () => {
  const odd = {
    type: 'whole',
    rows: {
      objects: [
        {
          id: 'x',
          name: 'Potato#1',
          kind: 'Potato',
          step: 'far',
          preview: { fields: 'none', columns: [1] }
        }
      ],
      calls: 'none'
    }
  };
  const object = applyNotice(EMPTY_MODEL, odd).objects.get('x');
  assert.deepEqual([object?.step, object?.role], [0, 'made']);
  assert.deepEqual([object?.preview.fields, object?.preview.columns], [[], ['']]);
});

test('a row without what is required is no row, also in another row', () => {
  const calls = [
    called(1), { id: 'c' }, { ...called(2), step: 'far' }, 5,
    { ...called(3), uses: [{ parameter: 'Potato' }, { parameter: 'Sink', object: 'p1' }] }
  ];
  const model = applyNotice(EMPTY_MODEL, { type: 'whole', rows: { calls, messages: [{ id: 'm', turn: 1, role: 'ghost' }] } });
  assert.deepEqual([...model.calls.keys()], ['call1', 'call3']);
  assert.deepEqual(model.calls.get('call3')?.uses, [{ parameter: 'Sink', object: 'p1', input: false }]);
  assert.equal(model.messages.size, 0);
});

/** The same value, in which a random part is another one. */
function damaged(value: unknown, random: Generator<number, never>): unknown {
  const wrong = [null, '', 'x', -1, 0.5, NaN, true, [], [[]], [7, 'y'], {}, { id: 'z' }];
  if (typeof value !== 'object' || value === null || random.next().value % 4 === 0) return wrong[random.next().value % wrong.length];
  const keys = Object.keys(value);
  const key = keys[random.next().value % keys.length] ?? 'id';
  const part = damaged(value[key as keyof typeof value], random);
  return Array.isArray(value) ? value.with(Number(key) || 0, part) : { ...value, [key]: part };
}

test('whatever a row holds, what it is read as is read as itself', () => {
  const random = numbers(7);
  const rows = Object.entries(whole(waiting()).rows).flatMap(([table, all]) => (all as unknown[]).map(row => [table, row] as const));
  for (const [table, row] of Array.from({ length: 200 }, () => rows).flat()) {
    const { read } = TABLES.rows[table as keyof typeof TABLES.rows];
    const once = read(damaged(damaged(row, random), random));
    if (once !== undefined) assert.deepEqual(read(once), once);
  }
});

test('what is no notice changes nothing', () => {
  for (
    const message of [
      null, [], 'whole', {}, { type: 'plot' }, { type: 'whole' }, { type: 'whole', rows: [] }, { type: 'delta', rows: {} },
      { type: 'refused', reason: 'no' }
    ]
  )
    assert.equal(applyNotice(EMPTY_MODEL, message), EMPTY_MODEL);
});

test('a session of a newer version says so', () => {
  assert.match(applyNotice(EMPTY_MODEL, { ...whole(chain(1)), version: 99 }).unreadable, /newer/);
});

test('a word that no closed choice has is as the default, also one that every record knows', () => {
  const call = { ...called(1), status: 'constructor' };
  const object = { ...made('p1', 1), role: '__proto__' };
  const { calls, objects, session } = applyNotice(EMPTY_MODEL, {
    ...whole({}),
    rows: { calls: [call], objects: [object], session: [{ phase: 'toString' }] }
  });
  assert.equal(calls.get(call.id)?.status, 'proposed');
  assert.equal(objects.get(object.id)?.role, 'made');
  assert.equal(session.phase, 'ready');
});

test('arguments have the names that were given, and no others', () => {
  const call = { ...called(1), arguments: JSON.parse('{"__proto__": 1}') as object, asked: {} };
  const { calls } = applyNotice(EMPTY_MODEL, { ...whole({}), rows: { calls: [call] } });
  const read = calls.get(call.id);
  assert.deepEqual(Object.entries(read?.arguments ?? {}), [['__proto__', 1]]);
  assert.equal('constructor' in (read?.asked ?? {}), false);
});

test('of very many requests that came to nothing the last are told', () => {
  const attempts = Array.from({ length: 20_000 }, (_, number) => `late ${number}`);
  const { turns } = applyNotice(EMPTY_MODEL, { ...whole({}), rows: { turns: [{ id: 't1', turn: 1, attempts }] } });
  assert.deepEqual(turns.get('t1')?.attempts.slice(-1), ['late 19999']);
  assert.ok((turns.get('t1')?.attempts.length ?? 0) < 100);
});
