/**
 * The model: what a person may see, folded from notices. Only pure functions live here.
 *
 * Nothing that arrives is believed: a field of the wrong shape has the contract's default.
 */
import {
  DEFAULTS,
  VERSION,
  type BranchRow,
  type CallRow,
  type CellPair,
  type DifferenceRow,
  type GuessRow,
  type Mark,
  type LinePair,
  type MessageRow,
  type Notice,
  type ObjectRow,
  type PartRow,
  type Preview,
  type Refused,
  type Rows,
  type SessionRow,
  type Task,
  type Told,
  type ToolRow,
  type TurnRow,
  type Use,
  type Written,
  type YourTurn
} from '../generated/contract';
import { layered } from './layered';

export type FullPreview = Required<Preview>;
export type FullUse = Required<Use>;
export type FullObject = Omit<Required<ObjectRow>, 'preview'> & { preview: FullPreview };
export type FullCall = Omit<Required<CallRow>, 'uses'> & { uses: readonly FullUse[] };
export type FullTool = Required<ToolRow>;
export type FullMessage = Required<MessageRow>;
export type FullTurn = Required<TurnRow>;
export type FullBranch = Required<BranchRow>;
export type FullPart = Omit<Required<PartRow>, 'lines' | 'cells'> & {
  readonly lines: readonly Required<LinePair>[];
  readonly cells: readonly Required<CellPair>[];
};
export type FullDifference = Omit<Required<DifferenceRow>, 'parts'> & { readonly parts: readonly FullPart[] };
export type FullTold = Required<Told>;
export type FullWritten = Required<Written>;
export type FullYours = Omit<Required<YourTurn>, 'told' | 'calls'> & {
  readonly told: readonly FullTold[];
  readonly calls: readonly FullWritten[];
};
export type FullGuess = Omit<Required<GuessRow>, 'guess' | 'came' | 'marks'> & {
  /** Null where it was skipped; without a tool: no call. */
  readonly guess: FullWritten | null;
  readonly came: FullWritten | null;
  readonly marks: readonly Mark[];
};
export type FullSession = Omit<Required<SessionRow>, 'yours' | 'guess' | 'task'> & {
  readonly yours: FullYours | null;
  readonly guess: FullYours | null;
  readonly task: Required<Task> | null;
};

export interface Tables {
  readonly calls: ReadonlyMap<string, FullCall>;
  readonly objects: ReadonlyMap<string, FullObject>;
  readonly tools: ReadonlyMap<string, FullTool>;
  readonly messages: ReadonlyMap<string, FullMessage>;
  readonly turns: ReadonlyMap<string, FullTurn>;
  readonly branches: ReadonlyMap<string, FullBranch>;
  readonly differences: ReadonlyMap<string, FullDifference>;
  readonly guesses: ReadonlyMap<string, FullGuess>;
}

export interface Model extends Tables {
  readonly session: FullSession;
  readonly live: boolean;
  /** The number of the last delta; null right after a whole. */
  readonly number: number | null;
  /** Deltas were lost: what stands here is old until a whole comes. */
  readonly gap: boolean;
  readonly refused: Required<Refused> | null;
  /** The request that was asked for, as it goes to the model. */
  readonly shown: { readonly turn: number; readonly text: string } | null;
  /** The objects that were asked for as large as may be, by id; the newest few. */
  readonly displayed: ReadonlyMap<string, FullPreview>;
  /** Why nothing can be shown, where that is so. */
  readonly unreadable: string;
}

type Loose = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const texts = (value: unknown): string[] => list(value).map(text);

const records = (value: unknown): Loose[] => list(value).filter(isRecord);

function sameShape(value: unknown, standard: unknown): boolean {
  if (Array.isArray(standard)) return Array.isArray(value);
  if (typeof standard === 'number') return typeof value === 'number' && Number.isFinite(value);
  return isRecord(standard) ? isRecord(value) : typeof value === typeof standard;
}

/** The row, complete: what is left out or of the wrong shape is as in `standard`. */
function complete<T extends object>(row: Loose, standard: T): T {
  const whole: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(standard)) whole[key] = sameShape(row[key], value) ? row[key] : value;
  return whole as T;
}

const CALL = { id: '', call: '', tool: '', step: 0, turn: 0, ...DEFAULTS.CallRow };
const OBJECT = { id: '', name: '', kind: '', ...DEFAULTS.ObjectRow };
const TOOL = { id: '', ...DEFAULTS.ToolRow };
const MESSAGE = { id: '', turn: 0, role: 'session', ...DEFAULTS.MessageRow };
const TURN = { id: '', turn: 0, ...DEFAULTS.TurnRow };
const GUESS = { id: '', turn: 0, ...DEFAULTS.GuessRow };
const BRANCH = { id: '', name: '', ...DEFAULTS.BranchRow };

function pairs(value: unknown): [string, string][] {
  return list(value).map(pair => [text(list(pair)[0]), text(list(pair)[1])]);
}

function preview(row: Loose): FullPreview {
  return {
    caption: text(row.caption),
    text: text(row.text),
    fields: pairs(row.fields),
    columns: texts(row.columns),
    cells: list(row.cells).map(texts),
    image: text(row.image),
    glyph: texts(row.glyph),
    html: text(row.html),
    more: row.more === true
  };
}

const use = (row: Loose): FullUse => ({
  parameter: text(row.parameter),
  object: text(row.object),
  receiver: row.receiver === true
});

export const fullObject = (row: Loose): FullObject =>
  ({ ...complete(row, OBJECT), preview: preview(isRecord(row.preview) ? row.preview : {}) }) as FullObject;

export const fullCall = (row: Loose): FullCall =>
  ({
    ...complete(row, CALL),
    asked: isRecord(row.asked) ? row.asked : null,
    filled: texts(row.filled),
    notes: texts(row.notes),
    uses: records(row.uses).map(use)
  }) as FullCall;

const written = (row: Loose): FullWritten => complete(row, { tool: '', ...DEFAULTS.Written }) as FullWritten;

const LINE = DEFAULTS.LinePair;
const words = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const part = (row: Loose): FullPart =>
  ({
    name: text(row.name),
    says: text(row.says),
    left: words(row.left),
    right: words(row.right),
    images: texts(row.images),
    cells: records(row.cells).map(cell => complete(cell, { row: '', column: '', ...DEFAULTS.CellPair })),
    lines: records(row.lines).map(line => {
      const whole = complete(line, LINE);
      return ['same', 'changed', 'left', 'right'].includes(whole.sign) ? whole : { ...whole, sign: LINE.sign };
    })
  }) as FullPart;

export const fullDifference = (row: Loose): FullDifference => ({
  id: text(row.id),
  same: row.same === true,
  unknown: text(row.unknown),
  parts: records(row.parts).map(part)
});

const fullYours = (row: Loose): FullYours =>
  ({
    ...complete(row, { turn: 0, ...DEFAULTS.YourTurn }),
    tools: texts(row.tools),
    told: records(row.told).map(one => complete(one, { text: '', ...DEFAULTS.Told })),
    calls: records(row.calls).map(written)
  }) as FullYours;

const fullGuess = (row: Loose): FullGuess =>
  ({
    ...complete(row, GUESS),
    guess: isRecord(row.guess) ? written(row.guess) : null,
    came: isRecord(row.came) ? written(row.came) : null,
    marks: records(row.marks).map(one => ({ name: text(one.name), right: one.right === true }))
  }) as FullGuess;

const fullSession = (row: Loose): FullSession =>
  ({
    ...complete(row, DEFAULTS.SessionRow),
    pending: texts(row.pending),
    stops: texts(row.stops),
    yours: isRecord(row.yours) ? fullYours(row.yours) : null,
    guess: isRecord(row.guess) ? fullYours(row.guess) : null,
    task: isRecord(row.task) ? complete(row.task, { title: '', ...DEFAULTS.Task }) : null
  }) as FullSession;

export const EMPTY: Model = {
  calls: new Map(),
  objects: new Map(),
  tools: new Map(),
  messages: new Map(),
  turns: new Map(),
  branches: new Map(),
  differences: new Map(),
  guesses: new Map(),
  session: fullSession({}),
  live: true,
  number: null,
  gap: false,
  refused: null,
  shown: null,
  displayed: new Map(),
  unreadable: ''
};

const put = <T extends { readonly id: string }>(
  table: ReadonlyMap<string, T>,
  rows: readonly T[],
  dropped: readonly string[]
): ReadonlyMap<string, T> =>
  layered(
    table,
    rows.map(row => [row.id, row] as const),
    dropped
  );

/** The ids that `drop` names in one table. */
function droppedFrom(drop: readonly string[], table: string): string[] {
  const prefix = `${table}:`;
  return drop.filter(name => name.startsWith(prefix)).map(name => name.slice(prefix.length));
}

/** Rows that are told again as they come to more: what is left out of them is as it was told. */
function grown(table: ReadonlyMap<string, object>, rows: unknown, dropped: readonly string[]): Loose[] {
  const known = (id: string): object | undefined => (dropped.includes(id) ? undefined : table.get(id));
  return records(rows).map(row => ({ ...known(text(row.id)), ...row }));
}

function withRows(model: Model, rows: Loose): Model {
  const drop = texts(rows.drop);
  const session = records(rows.session).at(-1);
  const gone = (table: string): string[] => droppedFrom(drop, table);
  return {
    ...model,
    calls: put(model.calls, grown(model.calls, rows.calls, gone('calls')).map(fullCall), gone('calls')),
    objects: put(model.objects, grown(model.objects, rows.objects, gone('objects')).map(fullObject), gone('objects')),
    tools: put(
      model.tools,
      records(rows.tools).map(row => complete(row, TOOL) as FullTool),
      gone('tools')
    ),
    messages: put(
      model.messages,
      records(rows.messages).map(row => complete(row, MESSAGE) as FullMessage),
      gone('messages')
    ),
    turns: put(
      model.turns,
      records(rows.turns).map(row => ({ ...complete(row, TURN), attempts: texts(row.attempts) }) as FullTurn),
      gone('turns')
    ),
    branches: put(
      model.branches,
      records(rows.branches).map(row => complete(row, BRANCH) as FullBranch),
      gone('branches')
    ),
    differences: put(model.differences, records(rows.differences).map(fullDifference), gone('differences')),
    guesses: put(model.guesses, records(rows.guesses).map(fullGuess), gone('guesses')),
    session: session ? fullSession({ ...model.session, ...session }) : model.session
  };
}

/** The objects that were made together, by the call that made them. */
export function together(objects: Iterable<FullObject>): ReadonlyMap<string, readonly FullObject[]> {
  const found = new Map<string, FullObject[]>();
  for (const object of objects) {
    // What a call made alone bears its id.
    if (object.role !== 'made' || object.call === '' || object.id === object.call) continue;
    const beside = found.get(object.call);
    if (beside) beside.push(object);
    else found.set(object.call, [object]);
  }
  for (const [call, made] of found) if (made.length < 2) found.delete(call);
  return found;
}

type Kind = Notice['type'] | 'unknown';

/** So many large pictures are kept. */
const DISPLAYED = 6;

/** What kind of notice it is; a `type` that was left out shows in the other fields. */
function kindOf(notice: Loose): Kind {
  const known = ['whole', 'delta', 'refused', 'shown', 'displayed'] as const;
  const named = known.find(kind => kind === notice.type);
  if (named) return named;
  if (notice.type !== undefined) return 'unknown';
  if ('command' in notice) return 'refused';
  if (!isRecord(notice.rows)) return 'unknown';
  return 'number' in notice ? 'delta' : 'whole';
}

function refusal(notice: Loose): Required<Refused> {
  const fields = isRecord(notice.fields) ? notice.fields : {};
  return {
    type: 'refused',
    command: text(notice.command),
    reason: text(notice.reason),
    fields: Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, text(value)]))
  };
}

function fromWhole(notice: Loose): Model {
  const version = notice.version ?? VERSION;
  if (typeof version !== 'number' || version > VERSION) {
    return {
      ...EMPTY,
      live: false,
      unreadable: 'This session was written by a newer jupyter-toolcall. Update it to see the session.'
    };
  }
  return { ...withRows(EMPTY, isRecord(notice.rows) ? notice.rows : {}), live: notice.live !== false };
}

/** The model after a notice; one that makes no sense changes nothing. */
export function fold(model: Model, notice: unknown): Model {
  if (!isRecord(notice)) return model;
  switch (kindOf(notice)) {
    case 'whole':
      return fromWhole(notice);
    case 'delta': {
      const number = typeof notice.number === 'number' ? notice.number : 0;
      const gap = model.gap || (model.number !== null && number !== model.number + 1);
      return { ...withRows(model, isRecord(notice.rows) ? notice.rows : {}), number, gap };
    }
    case 'refused':
      return { ...model, refused: refusal(notice) };
    case 'shown':
      return { ...model, shown: { turn: typeof notice.turn === 'number' ? notice.turn : 0, text: text(notice.text) } };
    case 'displayed': {
      const known = [...model.displayed].filter(([id]) => id !== notice.object).slice(1 - DISPLAYED);
      const large = preview(isRecord(notice.preview) ? notice.preview : {});
      return { ...model, displayed: new Map([...known, [text(notice.object), large]]) };
    }
    case 'exported':
    case 'unknown':
      return model;
  }
}

export type { Rows };
