/** The model of a session: its tables of rows, updated from the kernel's notices. */
import {
  type CallRow, Drop, type GraphRow, Notice, type ObjectRow, type Preview, type Previewed, type Refused, type RuleOffer, Rows,
  type SessionRow, type TeachingRow, VERSION, type Whole
} from '../generated/contract';
import { cached, finished, rowsOf, withRows } from './incremental';
import { parsedRow, type Read } from './reader';
import { t } from './text';

const { rows: READERS } = Rows;

/** The tables whose rows have ids of their own. */
const TABLES = ['calls', 'objects', 'tools', 'messages', 'turns', 'branches', 'comparisons', 'differences'] as const;

type Tables = { readonly [Table in (typeof TABLES)[number]]: ReadonlyMap<string, Read<(typeof READERS)[Table]>> };

export interface Model extends Tables {
  readonly session: SessionRow;
  readonly teaching: TeachingRow;
  /** The drawing that is shown; without nodes where there is none. A saved copy has several, the narrowest first. */
  readonly graph: GraphRow;
  readonly graphs: readonly GraphRow[];
  readonly live: boolean;
  /** The number of the last delta; null after a whole. */
  readonly lastUpdate: number | null;
  /** A delta was lost: the rows are old until a whole arrives. */
  readonly missedUpdate: boolean;
  readonly refusal: Refused | null;
  /** The exact request that the person asked for. */
  readonly exactRequest: { readonly turn: number; readonly text: string } | null;
  /** The newest full previews, by object id. */
  readonly fullPreviews: ReadonlyMap<string, Preview>;
  /** What calls would do: the call that waits by its id, and the one in the form `Edit` by the number of its request. */
  readonly previewed: ReadonlyMap<string | number, Previewed>;
  /** The rules that the kernel offered last, for a call by its id. */
  readonly offered: { readonly call: string; readonly offers: readonly RuleOffer[] } | null;
  /** Why nothing can be shown; empty otherwise. */
  readonly unreadable: string;
}

export const EMPTY_MODEL: Model = {
  calls: new Map(), objects: new Map(), tools: new Map(), messages: new Map(), turns: new Map(), branches: new Map(), comparisons: new Map(),
  differences: new Map(), session: READERS.session.of({}), teaching: READERS.extensions.of({ id: 'teaching' }), graph: READERS.graph.of({}), graphs: [],
  live: true, lastUpdate: null, missedUpdate: false, refusal: null, exactRequest: null, fullPreviews: new Map(), previewed: new Map(),
  offered: null, unreadable: ''
};

/** Above so many rows in all, a session is read and drawn slice by slice. */
const LARGE = 6000;
/** Rows that are read at a time. */
const SLICE = 500;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

interface RowReader<Row> {
  read(row: unknown): Row | undefined;
}

/** Reads the rows of a table; it yields between slices, so that the page can do something else. */
function* readRows<Row>(rows: unknown, { read }: RowReader<Row>): Generator<void, Row[]> {
  const all: Row[] = [];
  for (const [index, one] of listOf(rows).entries()) {
    if (index % SLICE === SLICE - 1) yield;
    const row = read(parsedRow(one));
    if (row !== undefined) all.push(row);
  }
  return all;
}

function* modelWithRows(model: Model, rows: Rows): Generator<void, Model> {
  const dropped = yield* readRows(rows.drop, Drop);
  const tables: Record<string, ReadonlyMap<string, { readonly id: string }>> = {};
  for (const table of TABLES) {
    const gone = dropped.filter(drop => drop.table === table).map(drop => drop.id);
    const reader: RowReader<{ readonly id: string }> = READERS[table];
    tables[table] = withRows(model[table], yield* readRows(rows[table], reader), gone);
  }
  const graphs = [...(yield* readRows(rows.graph, READERS.graph))].sort((a, b) => a.width - b.width);
  return {
    ...model,
    ...(tables as unknown as Tables),
    session: (yield* readRows(rows.session, READERS.session)).at(-1) ?? model.session,
    teaching: (yield* readRows(rows.extensions, READERS.extensions)).at(-1) ?? model.teaching,
    graph: graphs[0] ?? model.graph,
    graphs: graphs.length > 0 ? graphs : model.graphs
  };
}

/** The id of the object that stands for this one in the graph: itself, or an equal one of another branch. */
export function drawnId({ objects }: Pick<Model, 'objects'>, id: string): string {
  const same = objects.get(id)?.same;
  // In a forged file equal objects may lead in a circle: these are all drawn.
  return same && objects.get(same)?.same === '' ? same : id;
}

const sameLists = cached((calls: Model['calls']): ReadonlyMap<string, readonly CallRow[]> => {
  const lists = new Map<string, CallRow[]>();
  for (const call of rowsOf(calls)) if (call.same) lists.set(call.same, [...(lists.get(call.same) ?? []), call]);
  return lists;
});

/** The calls of other branches that are drawn as this one. */
export const sameCalls = ({ calls, branches }: Model, id: string): readonly CallRow[] =>
  branches.size < 2 ? [] : (sameLists(calls).get(id) ?? []);

/** The objects of calls that made more than one, by call. */
export function objectsByCall(objects: Iterable<ObjectRow>): ReadonlyMap<string, readonly ObjectRow[]> {
  const byCall = new Map<string, ObjectRow[]>();
  for (const object of objects) {
    if (object.role !== 'made' || object.call === '') continue;
    const beside = byCall.get(object.call);
    if (beside) beside.push(object);
    else byCall.set(object.call, [object]);
  }
  for (const [call, made] of byCall) if (made.length < 2) byCall.delete(call);
  return byCall;
}

/** Full previews that are kept. */
const MOST_DISPLAYED = 6;
/** Previews of calls that are kept. */
const MOST_PREVIEWED = 40;

function* wholeModel({ rows, live, version }: Whole): Generator<void, Model> {
  if (version > VERSION) {
    return {
      ...EMPTY_MODEL,
      live: false,
      unreadable: t('A newer jupyter-toolcall saved this session. Update to see it.')
    };
  }
  return { ...(yield* modelWithRows(EMPTY_MODEL, rows)), live };
}

/** Whether the model or a tool is at work. */
export const isBusy = ({ session }: Model): boolean => ['running', 'thinking'].includes(session.phase);

/** Whether a notice has so many rows that they are read slice by slice. */
export const isLarge = (notice: Notice): boolean =>
  'rows' in notice && Object.values(notice.rows).reduce<number>((sum, rows) => sum + listOf(rows).length, 0) > LARGE;

/** Whether a session is drawn slice by slice: it has many rows, and no update has arrived, which would have to wait. */
export const drawsInSlices = ({ calls, objects, messages, turns, lastUpdate }: Model): boolean =>
  lastUpdate === null && calls.size + objects.size + messages.size + turns.size > LARGE;

/** The model after what arrived; what is no notice changes nothing. */
export function applyNotice(model: Model, message: unknown): Model {
  const notice = Notice.read(message);
  return notice ? finished(readNotice(model, notice)) : model;
}

/** The model after a notice, read slice by slice. */
export function* readNotice(model: Model, notice: Notice): Generator<void, Model> {
  switch (notice.type) {
    case 'whole':
      return yield* wholeModel(notice);
    case 'delta': {
      // After all rows, the first update has number 1: a page that connects later has missed some.
      const gap = model.missedUpdate || notice.number !== (model.lastUpdate ?? 0) + 1;
      return { ...(yield* modelWithRows(model, notice.rows)), lastUpdate: notice.number, missedUpdate: gap };
    }
    case 'refused':
      return { ...model, refusal: notice.reason ? notice : null };
    case 'shown':
      return { ...model, exactRequest: notice };
    case 'displayed': {
      const others = [...model.fullPreviews].filter(([id]) => id !== notice.object).slice(1 - MOST_DISPLAYED);
      return { ...model, fullPreviews: new Map([...others, [notice.object, notice.preview]]) };
    }
    case 'offered':
      return { ...model, offered: notice };
    case 'previewed':
      return { ...model, previewed: new Map([...[...model.previewed].slice(-MOST_PREVIEWED), [notice.number || notice.call, notice]]) };
    case 'exported':
      return model;
  }
}
