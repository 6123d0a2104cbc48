/** The model of a session: its tables of rows, updated from the kernel's notices. */
import { type Notice, type Refused, VERSION } from '../generated/contract';
import { cached, finished, rowsOf, withRows } from './incremental';
import {
  BRANCH,
  type FullBranch,
  fullCall,
  type FullCall,
  fullComparison,
  type FullComparison,
  fullDifference,
  type FullDifference,
  fullGraph,
  type FullGraph,
  type FullMessage,
  fullObject,
  fullOffer,
  type FullObject,
  type FullOffer,
  fullPreview,
  type FullPreview,
  fullPreviewed,
  type FullPreviewed,
  fullSession,
  type FullSession,
  fullTeaching,
  type FullTeaching,
  type FullTool,
  type FullTurn,
  isRecord,
  list,
  MESSAGE,
  parsedRow,
  records,
  text,
  texts,
  TOOL,
  TURN,
  type UnknownRow,
  withDefaults
} from './rows';
import { t } from './text';

interface Tables {
  readonly calls: ReadonlyMap<string, FullCall>;
  readonly objects: ReadonlyMap<string, FullObject>;
  readonly tools: ReadonlyMap<string, FullTool>;
  readonly messages: ReadonlyMap<string, FullMessage>;
  readonly turns: ReadonlyMap<string, FullTurn>;
  readonly branches: ReadonlyMap<string, FullBranch>;
  readonly comparisons: ReadonlyMap<string, FullComparison>;
  readonly differences: ReadonlyMap<string, FullDifference>;
}

export interface Model extends Tables {
  readonly session: FullSession;
  readonly teaching: FullTeaching;
  /** The drawing; without nodes where there is none. */
  readonly graph: FullGraph;
  readonly live: boolean;
  /** The number of the last delta; null after a whole. */
  readonly lastUpdate: number | null;
  /** A delta was lost: the rows are old until a whole arrives. */
  readonly missedUpdate: boolean;
  readonly refusal: Required<Refused> | null;
  /** The exact request that the person asked for. */
  readonly exactRequest: { readonly turn: number; readonly text: string } | null;
  /** The newest full previews, by object id. */
  readonly fullPreviews: ReadonlyMap<string, FullPreview>;
  /** What calls would do: the call that waits by its id, and the one in the form `Edit` by the number of its request. */
  readonly previewed: ReadonlyMap<string | number, FullPreviewed>;
  /** The rules that the kernel offered last, for a call by its id. */
  readonly offered: { readonly call: string; readonly offers: readonly FullOffer[] } | null;
  /** Why nothing can be shown; empty otherwise. */
  readonly unreadable: string;
}

export const EMPTY_MODEL: Model = {
  calls: new Map(),
  objects: new Map(),
  tools: new Map(),
  messages: new Map(),
  turns: new Map(),
  branches: new Map(),
  comparisons: new Map(),
  differences: new Map(),
  session: fullSession({}),
  teaching: fullTeaching({}),
  graph: fullGraph({}),
  live: true,
  lastUpdate: null,
  missedUpdate: false,
  refusal: null,
  exactRequest: null,
  fullPreviews: new Map(),
  previewed: new Map(),
  offered: null,
  unreadable: ''
};

/** Failed attempts that are kept per turn. */
const MOST_ATTEMPTS = 20;

const putRows = <T extends { readonly id: string }>(
  table: ReadonlyMap<string, T>,
  rows: readonly T[],
  dropped: readonly string[]
): ReadonlyMap<string, T> =>
  withRows(table, rows, dropped);

/** Above so many rows in all, a session is read and drawn slice by slice. */
const LARGE = 6000;
/** Rows that are read at a time. */
const SLICE = 500;

/** Reads rows; it yields between slices, so that the page can do something else. */
function* readRows<T>(rows: unknown, read: (row: UnknownRow) => T): Generator<void, T[]> {
  const all: T[] = [];
  for (const [index, one] of list(rows).entries()) {
    if (index % SLICE === SLICE - 1) yield;
    const row = parsedRow(one);
    if (row) all.push(read(row));
  }
  return all;
}

const parsedRows = (rows: unknown): UnknownRow[] => records(list(rows).map(parsedRow));

const toolRow = (row: UnknownRow): FullTool => ({ ...withDefaults(row, TOOL), order: texts(row.order) }) as FullTool;
const messageRow = (row: UnknownRow): FullMessage => withDefaults(row, MESSAGE) as FullMessage;
const turnRow = (row: UnknownRow): FullTurn => ({ ...withDefaults(row, TURN), attempts: texts(row.attempts).slice(-MOST_ATTEMPTS) }) as FullTurn;
const branchRow = (row: UnknownRow): FullBranch => withDefaults(row, BRANCH) as FullBranch;

function* modelWithRows(model: Model, rows: UnknownRow): Generator<void, Model> {
  const drop = records(rows.drop);
  const session = parsedRows(rows.session).at(-1);
  const teaching = parsedRows(rows.extensions).findLast(row => row.id === model.teaching.id);
  const graph = parsedRows(rows.graph).at(-1);
  const gone = (table: string): string[] => drop.filter(one => one.table === table).map(one => text(one.id));
  return {
    ...model,
    calls: putRows(model.calls, yield* readRows(rows.calls, fullCall), gone('calls')),
    objects: putRows(model.objects, yield* readRows(rows.objects, fullObject), gone('objects')),
    tools: putRows(model.tools, yield* readRows(rows.tools, toolRow), gone('tools')),
    messages: putRows(model.messages, yield* readRows(rows.messages, messageRow), gone('messages')),
    turns: putRows(model.turns, yield* readRows(rows.turns, turnRow), gone('turns')),
    branches: putRows(model.branches, yield* readRows(rows.branches, branchRow), gone('branches')),
    comparisons: putRows(model.comparisons, yield* readRows(rows.comparisons, fullComparison), gone('comparisons')),
    differences: putRows(model.differences, yield* readRows(rows.differences, fullDifference), gone('differences')),
    session: session ? fullSession(session) : model.session,
    teaching: teaching ? fullTeaching(teaching) : model.teaching,
    graph: graph ? fullGraph(graph) : model.graph
  };
}

/** The id of the object that stands for this one in the graph: itself, or an equal one of another branch. */
export function drawnId({ objects }: Pick<Model, 'objects'>, id: string): string {
  const same = objects.get(id)?.same;
  // In a forged file equal objects may lead in a circle: these are all drawn.
  return same && objects.get(same)?.same === '' ? same : id;
}

const sameLists = cached((calls: Model['calls']): ReadonlyMap<string, readonly FullCall[]> => {
  const lists = new Map<string, FullCall[]>();
  for (const call of rowsOf(calls)) if (call.same) lists.set(call.same, [...(lists.get(call.same) ?? []), call]);
  return lists;
});

/** The calls of other branches that are drawn as this one. */
export const sameCalls = ({ calls, branches }: Model, id: string): readonly FullCall[] =>
  branches.size < 2 ? [] : (sameLists(calls).get(id) ?? []);

/** The objects of calls that made more than one, by call. */
export function objectsByCall(objects: Iterable<FullObject>): ReadonlyMap<string, readonly FullObject[]> {
  const byCall = new Map<string, FullObject[]>();
  for (const object of objects) {
    if (object.role !== 'made' || object.call === '') continue;
    const beside = byCall.get(object.call);
    if (beside) beside.push(object);
    else byCall.set(object.call, [object]);
  }
  for (const [call, made] of byCall) if (made.length < 2) byCall.delete(call);
  return byCall;
}

type Kind = Notice['type'] | 'unknown';

/** Full previews that are kept. */
const MOST_DISPLAYED = 6;
/** Previews of calls that are kept. */
const MOST_PREVIEWED = 40;

/** The type of a notice; a missing `type` is inferred from its fields. */
function noticeType(notice: UnknownRow): Kind {
  const known = ['whole', 'delta', 'refused', 'shown', 'displayed', 'offered', 'previewed'] as const;
  const named = known.find(kind => kind === notice.type);
  if (named) return named;
  if (notice.type !== undefined) return 'unknown';
  if ('command' in notice) return 'refused';
  if (!isRecord(notice.rows)) return 'unknown';
  return 'number' in notice ? 'delta' : 'whole';
}

function refusal(notice: UnknownRow): Required<Refused> {
  const fields = isRecord(notice.fields) ? notice.fields : {};
  return {
    type: 'refused',
    command: text(notice.command),
    reason: text(notice.reason),
    fields: Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, text(value)]))
  };
}

function* wholeModel(notice: UnknownRow): Generator<void, Model> {
  const version = notice.version ?? VERSION;
  if (typeof version !== 'number' || version > VERSION) {
    return {
      ...EMPTY_MODEL,
      live: false,
      unreadable: t('A newer jupyter-toolcall saved this session. Update to see it.')
    };
  }
  return { ...(yield* modelWithRows(EMPTY_MODEL, isRecord(notice.rows) ? notice.rows : {})), live: notice.live !== false };
}

/** Whether the model or a tool is at work. */
export const isBusy = ({ session }: Model): boolean => ['running', 'thinking'].includes(session.phase);

/** Whether a notice has so many rows that they are read slice by slice. */
export const isLarge = (notice: unknown): boolean =>
  isRecord(notice) && isRecord(notice.rows) && Object.values(notice.rows).reduce<number>((sum, rows) => sum + list(rows).length, 0) > LARGE;

/** Whether a session is drawn slice by slice: it has many rows, and no update has arrived, which would have to wait. */
export const drawsInSlices = ({ calls, objects, messages, turns, lastUpdate }: Model): boolean =>
  lastUpdate === null && calls.size + objects.size + messages.size + turns.size > LARGE;

/** The model after a notice; an invalid notice changes nothing. */
export const applyNotice = (model: Model, notice: unknown): Model => finished(readNotice(model, notice));

/** The model after a notice, read slice by slice. */
export function* readNotice(model: Model, notice: unknown): Generator<void, Model> {
  if (!isRecord(notice)) return model;
  switch (noticeType(notice)) {
    case 'whole':
      return yield* wholeModel(notice);
    case 'delta': {
      const number = typeof notice.number === 'number' ? notice.number : 0;
      // After all rows, the first update has number 1: a page that connects later has missed some.
      const gap = model.missedUpdate || number !== (model.lastUpdate ?? 0) + 1;
      return { ...(yield* modelWithRows(model, isRecord(notice.rows) ? notice.rows : {})), lastUpdate: number, missedUpdate: gap };
    }
    case 'refused':
      return { ...model, refusal: refusal(notice) };
    case 'shown':
      return { ...model, exactRequest: { turn: typeof notice.turn === 'number' ? notice.turn : 0, text: text(notice.text) } };
    case 'displayed': {
      const known = [...model.fullPreviews].filter(([id]) => id !== notice.object).slice(1 - MOST_DISPLAYED);
      const large = fullPreview(isRecord(notice.preview) ? notice.preview : {});
      return { ...model, fullPreviews: new Map([...known, [text(notice.object), large]]) };
    }
    case 'offered':
      return { ...model, offered: { call: text(notice.call), offers: records(notice.offers).map(fullOffer) } };
    case 'previewed': {
      const row = fullPreviewed(notice);
      return { ...model, previewed: new Map([...[...model.previewed].slice(-MOST_PREVIEWED), [row.number || row.call, row]]) };
    }
    case 'exported':
    case 'unknown':
      return model;
  }
}
