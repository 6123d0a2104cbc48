/** The rows that the panel shows: their types, and how they are read from what arrives. A field of the wrong shape gets the contract's default. */
import {
  type CallAnswer,
  DEFAULTS,
  type Full,
  type FullBranch,
  type FullCall,
  type FullChange,
  type FullComparison,
  type FullDifference,
  type FullGraph,
  type FullGuess,
  type FullMessage,
  type FullObject,
  type FullPair,
  type FullPart,
  type FullSession,
  type FullTeaching,
  type FullTool,
  type FullTurn,
  type GraphEdge,
  type GraphNode,
  type OriginRow,
  type Preview,
  type Previewed,
  type ReplyAnswer,
  type RuleOffer,
  type Told,
  type Use,
  type Written,
  type YourTurn
} from '../generated/contract';
import { t, tn } from './text';

export type { FullBranch, FullCall, FullChange, FullComparison, FullDifference, FullGraph, FullGuess, FullMessage, FullObject, FullPair, FullPart, FullSession, FullTeaching, FullTool, FullTurn };
export type FullPreview = Full<Preview>;
export type FullUse = Full<Use>;
export type FullOrigin = Full<OriginRow>;
export type FullOffer = Full<RuleOffer>;
export type FullPreviewed = Full<Previewed>;
export type FullRule = FullSession['rules'][number];
export type FullGraphNode = Full<GraphNode>;
export type FullGraphEdge = Full<GraphEdge>;
export type FullToldResult = Full<Told>;
export type FullWrittenCall = Full<Written>;
export type FullCallAnswer = Full<CallAnswer>;
export type FullReplyAnswer = Full<ReplyAnswer>;
export type FullPersonTurn = Full<YourTurn>;

export type UnknownRow = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is UnknownRow =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text; one of the interface is sent as an English text, or two for one and for many, and its values, which may be such texts. An empty text joins them. */
export function text(value: unknown): string {
  const [english, ...values] = list(value);
  const filled = values.map(one => (typeof one === 'number' ? one : text(one)));
  if (Array.isArray(english)) return tn(text(english[0]), text(english[1]), Number(values[0]), ...filled.slice(1));
  if (typeof english !== 'string') return typeof value === 'string' ? value : '';
  return english ? t(english, ...filled) : filled.join('');
}

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const texts = (value: unknown): string[] => list(value).map(text);

export const records = (value: unknown): UnknownRow[] => list(value).filter(isRecord);

/** Levels of lists and records in a row: a kernel sends fewer, and what shows them takes ever longer for each. */
const DEEPEST = 100;

const isDeep = (value: unknown, left = DEEPEST): boolean =>
  typeof value === 'object' && value !== null && (left === 0 || Object.values(value).some(one => isDeep(one, left - 1)));

/** A row that a notebook keeps as a JSON text is parsed; what is no row is null. */
export function parsedRow(row: unknown): UnknownRow | null {
  try {
    const value: unknown = typeof row === 'string' ? JSON.parse(row) : row;
    return isRecord(value) && !isDeep(value) ? value : null;
  } catch {
    return null;
  }
}

function sameShape(value: unknown, standard: unknown): boolean {
  if (Array.isArray(standard)) return Array.isArray(value);
  if (typeof standard === 'number') return typeof value === 'number' && Number.isFinite(value);
  return isRecord(standard) ? isRecord(value) : typeof value === typeof standard;
}

/** The row with all fields; a missing or invalid field is taken from `standard`. */
export function withDefaults<T extends object>(row: UnknownRow, standard: T): T {
  // A saved row leaves out most fields: what it has is looked at, not what it could have.
  const whole = { ...standard } as Record<string, unknown>;
  for (const key in row) {
    if (!Object.hasOwn(standard, key)) continue;
    const value = typeof whole[key] === 'string' && Array.isArray(row[key]) ? text(row[key]) : row[key];
    if (sameShape(value, whole[key])) whole[key] = value;
  }
  return whole as T;
}

/** The values of closed choices. */
const STATUSES: readonly FullCall['status'][] = [
  'proposed', 'approved', 'input required', 'running', 'succeeded', 'failed', 'rejected', 'answered', 'interrupted', 'unknown'
];
const ROLES: readonly FullObject['role'][] = ['input', 'made', 'pending', 'output'];
const PHASES: readonly FullSession['phase'][] = ['ready', 'thinking', 'waiting', 'running', 'finished', 'stopped', 'failed'];

/** The value if it is one of these, else the default. */
const oneOf = <T extends string>(value: unknown, known: readonly T[], standard: T): T =>
  known.find(one => one === value) ?? standard;

/** A record without a prototype, so that `constructor` is no key. */
const ownKeys = (value: unknown): UnknownRow => Object.setPrototypeOf(isRecord(value) ? { ...value } : {}, null) as UnknownRow;

const CALL = { id: '', call: '', tool: '', step: 0, turn: 0, ...DEFAULTS.CallRow };
const OBJECT = { id: '', name: '', kind: '', ...DEFAULTS.ObjectRow };
export const TOOL = { id: '', ...DEFAULTS.ToolRow };
export const MESSAGE = { id: '', turn: 0, role: 'session', ...DEFAULTS.MessageRow };
export const TURN = { id: '', turn: 0, ...DEFAULTS.TurnRow };
const GUESS = { id: '', turn: 0, ...DEFAULTS.GuessRow };
export const BRANCH = { id: '', name: '', ...DEFAULTS.BranchRow };

function pairs(value: unknown): [string, string][] {
  return list(value).map(fullPair => [text(list(fullPair)[0]), text(list(fullPair)[1])]);
}

/** Limits above what a kernel sends: fields, rows and columns, and characters of markup. */
const [LONGEST, MARKUP] = [500, 500_000];

export function fullPreview(row: UnknownRow): FullPreview {
  return {
    caption: text(row.caption),
    text: text(row.text),
    fields: pairs(list(row.fields).slice(0, LONGEST)),
    columns: texts(row.columns).slice(0, LONGEST),
    cells: list(row.cells).slice(0, LONGEST).map(texts),
    image: text(row.image),
    glyph: texts(row.glyph).slice(0, LONGEST),
    html: text(row.html).length > MARKUP ? '' : text(row.html),
    more: row.more === true,
    missing: text(row.missing),
    large: text(row.large)
  };
}

const fullUse = (row: UnknownRow): FullUse => ({
  parameter: text(row.parameter),
  object: text(row.object),
  input: row.input === true
});

export const fullObject = (row: UnknownRow): FullObject =>
  ({
    ...withDefaults(row, OBJECT),
    role: oneOf(row.role, ROLES, DEFAULTS.ObjectRow.role),
    preview: fullPreview(isRecord(row.preview) ? row.preview : {})
  }) as FullObject;

export const fullCall = (row: UnknownRow): FullCall =>
  ({
    ...withDefaults(row, CALL),
    status: oneOf(row.status, STATUSES, DEFAULTS.CallRow.status),
    arguments: ownKeys(row.arguments),
    asked: isRecord(row.asked) ? ownKeys(row.asked) : null,
    filled: texts(row.filled),
    notes: texts(row.notes),
    questions: records(row.questions).map(one => withDefaults(one, { key: '', ...DEFAULTS.QuestionRow })),
    warning: isRecord(row.warning) ? withDefaults(row.warning, { kind: '', text: '', action: '' }) : null,
    origins: records(row.origins).map(one => ({ ...withDefaults(one, { parameter: '', ...DEFAULTS.OriginRow }), passage: texts(one.passage) })),
    uses: records(row.uses).map(fullUse)
  }) as FullCall;

export const fullOffer = (row: UnknownRow): FullOffer =>
  ({ ...withDefaults(row, DEFAULTS.RuleOffer), seen: texts(row.seen), squares: texts(row.squares) }) as FullOffer;

const fullWrittenCall = (row: UnknownRow): FullWrittenCall => withDefaults(row, { tool: '', ...DEFAULTS.Written }) as FullWrittenCall;

const LINE = DEFAULTS.LinePair;
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const fullPart = (row: UnknownRow): FullPart =>
  ({
    name: text(row.name),
    says: text(row.says),
    left: textOrNull(row.left),
    right: textOrNull(row.right),
    images: texts(row.images),
    cells: records(row.cells).map(cell => withDefaults(cell, { row: '', column: '', ...DEFAULTS.CellPair })),
    lines: records(row.lines).map(line => {
      const whole = withDefaults(line, LINE);
      return ['same', 'changed', 'left', 'right'].includes(whole.sign) ? whole : { ...whole, sign: LINE.sign };
    })
  }) as FullPart;

export const fullPreviewed = (row: UnknownRow): FullPreviewed =>
  ({ ...withDefaults(row, { call: '', ...DEFAULTS.Previewed }), parts: records(row.parts).map(fullPart), object: fullPreview(isRecord(row.object) ? row.object : {}) }) as FullPreviewed;

export const fullDifference = (row: UnknownRow): FullDifference => ({
  id: text(row.id),
  unknown: text(row.unknown),
  parts: records(row.parts).map(fullPart)
});

const numbers = (value: unknown): number[] => list(value).filter(one => typeof one === 'number');

const ASPECTS: readonly FullChange['what'][] = ['tool', 'argument', 'status', 'result', 'error', 'prints', 'reason', 'text'];

const fullChange = (row: UnknownRow): FullChange => ({
  what: oneOf(row.what, ASPECTS, 'text'),
  name: text(row.name),
  left: numbers(row.left),
  right: numbers(row.right)
});

const pair = (row: UnknownRow): FullPair => ({
  left: text(row.left),
  right: text(row.right),
  kind: oneOf(row.kind, ['shared', 'same', 'differs'], DEFAULTS.PairRow.kind),
  changes: records(row.changes).map(fullChange),
  made: oneOf(row.made, ['same', 'differ'], DEFAULTS.PairRow.made),
  objects: records(row.objects).map(one => withDefaults(one, DEFAULTS.ObjectPairRow))
});

export const fullComparison = (row: UnknownRow): FullComparison => ({
  id: text(row.id),
  left: text(row.left),
  right: text(row.right),
  unasked: row.unasked === true,
  same: row.same === true,
  shared: typeof row.shared === 'number' ? Math.max(0, row.shared) : 0,
  pairs: records(row.pairs).map(pair),
  text: isRecord(row.text) ? fullChange(row.text) : null
});

const fullPersonTurn = (row: UnknownRow): FullPersonTurn =>
  ({
    ...withDefaults(row, { turn: 0, ...DEFAULTS.YourTurn }),
    tools: texts(row.tools),
    told: records(row.told).map(one => withDefaults(one, { text: '', ...DEFAULTS.Told })),
    calls: records(row.calls).map(fullWrittenCall)
  }) as FullPersonTurn;

const fullGuess = (row: UnknownRow): FullGuess =>
  ({
    ...withDefaults(row, GUESS),
    guess: isRecord(row.guess) ? fullWrittenCall(row.guess) : null,
    came: isRecord(row.came) ? fullWrittenCall(row.came) : null,
    marks: records(row.marks).map(one => ({ name: text(one.name), right: one.right === true }))
  }) as FullGuess;

export const fullSession = (row: UnknownRow): FullSession =>
  ({
    ...withDefaults(row, DEFAULTS.SessionRow),
    phase: oneOf(row.phase, PHASES, DEFAULTS.SessionRow.phase),
    pending: texts(row.pending),
    stops: texts(row.stops),
    ending: texts(row.ending),
    budget: isRecord(row.budget) ? withDefaults(row.budget, { why: '', ...DEFAULTS.BudgetRow }) : null,
    undo: isRecord(row.undo) ? withDefaults(row.undo, { call: '', ...DEFAULTS.UndoRow }) : null,
    rules: records(row.rules).map(one => withDefaults(one, { name: '', ...DEFAULTS.RuleRow })),
    yours: isRecord(row.yours) ? fullPersonTurn(row.yours) : null
  }) as FullSession;

const KINDS: readonly FullGraphNode['kind'][] = ['object', 'call', 'earlier'];
const STATES: readonly FullGraphNode['state'][] = ['ran', 'waits', 'running', 'failed', 'rejected', 'answered', 'interrupted', 'unknown'];
/** Path data alone: what else stands in a forged file is not drawn. */
const PATH = /^[Mch\d\s.,-]*$/;

const graphNode = (row: UnknownRow): FullGraphNode => {
  const node = withDefaults(row, DEFAULTS.GraphNode);
  return { ...node, kind: oneOf(row.kind, KINDS, 'object'), state: oneOf(row.state, STATES, 'ran') };
};

const graphEdge = (row: UnknownRow): FullGraphEdge => {
  const edge = withDefaults(row, { tail: -1, head: -1, ...DEFAULTS.GraphEdge });
  return PATH.test(edge.path) ? edge : { ...edge, path: '' };
};

export const fullGraph = (row: UnknownRow): FullGraph => ({
  ...withDefaults(row, DEFAULTS.GraphRow),
  nodes: records(row.nodes).map(graphNode),
  edges: records(row.edges).map(graphEdge)
});

const callAnswer = (row: UnknownRow): FullCallAnswer => ({
  call: fullWrittenCall(isRecord(row.call) ? row.call : {}),
  step: typeof row.step === 'number' ? row.step : 0,
  arguments: records(row.arguments).map(one => ({ ...withDefaults(one, { name: '', ...DEFAULTS.ArgumentAnswer }), values: texts(one.values) }))
});

const replyAnswer = (row: UnknownRow): FullReplyAnswer => ({
  turn: fullPersonTurn(isRecord(row.turn) ? row.turn : {}),
  calls: records(row.calls).map(callAnswer)
});

export const fullTeaching = (row: UnknownRow): FullTeaching => ({
  id: 'teaching',
  turn: isRecord(row.turn) ? fullPersonTurn(row.turn) : null,
  score: text(row.score),
  guesses: records(row.guesses).map(fullGuess),
  answers: records(row.answers).map(replyAnswer),
  task: isRecord(row.task) ? withDefaults(row.task, { title: '', ...DEFAULTS.Task }) : null
});
