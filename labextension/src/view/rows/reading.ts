/** What arrives, read as rows in full. Nothing of it is believed: a field of the wrong shape has the contract's default. */
import { DEFAULTS } from '../../generated/contract';
import type {
  FullCall,
  FullChange,
  FullComparison,
  FullDifference,
  FullGuess,
  FullObject,
  FullPair,
  FullPart,
  FullPreview,
  FullSession,
  FullTeaching,
  FullUse,
  FullWritten,
  FullYours
} from './shapes';

export type Loose = Readonly<Record<string, unknown>>;

export const isRecord = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const texts = (value: unknown): string[] => list(value).map(text);

export const records = (value: unknown): Loose[] => list(value).filter(isRecord);

function sameShape(value: unknown, standard: unknown): boolean {
  if (Array.isArray(standard)) return Array.isArray(value);
  if (typeof standard === 'number') return typeof value === 'number' && Number.isFinite(value);
  return isRecord(standard) ? isRecord(value) : typeof value === typeof standard;
}

/** The row, complete: what is left out or of the wrong shape is as in `standard`. */
export function complete<T extends object>(row: Loose, standard: T): T {
  const whole: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(standard)) whole[key] = sameShape(row[key], value) ? row[key] : value;
  return whole as T;
}

/** The words of a closed choice. */
const STATUSES: readonly FullCall['status'][] = [
  'proposed', 'approved', 'running', 'succeeded', 'failed', 'rejected', 'answered', 'interrupted', 'unknown'
];
const ROLES: readonly FullObject['role'][] = ['input', 'made', 'pending', 'output'];
const PHASES: readonly FullSession['phase'][] = ['ready', 'thinking', 'waiting', 'running', 'finished', 'stopped', 'failed'];

/** The word, where it is one of these; any other has no sign, no colour and no words here. */
const among = <T extends string>(value: unknown, known: readonly T[], standard: T): T =>
  known.find(one => one === value) ?? standard;

/** A record of its own keys alone: in any other there is a `constructor`. */
const bare = (value: unknown): Loose => Object.assign(Object.create(null) as object, isRecord(value) ? value : {});

const CALL = { id: '', call: '', tool: '', step: 0, turn: 0, ...DEFAULTS.CallRow };
const OBJECT = { id: '', name: '', kind: '', ...DEFAULTS.ObjectRow };
export const TOOL = { id: '', ...DEFAULTS.ToolRow };
export const MESSAGE = { id: '', turn: 0, role: 'session', ...DEFAULTS.MessageRow };
export const TURN = { id: '', turn: 0, ...DEFAULTS.TurnRow };
const GUESS = { id: '', turn: 0, ...DEFAULTS.GuessRow };
export const BRANCH = { id: '', name: '', ...DEFAULTS.BranchRow };

function pairs(value: unknown): [string, string][] {
  return list(value).map(pair => [text(list(pair)[0]), text(list(pair)[1])]);
}

/** More than a kernel tells of a value, of fields, rows and columns, and of characters of markup. */
const [LONGEST, MARKUP] = [200, 500_000];

export function preview(row: Loose): FullPreview {
  return {
    caption: text(row.caption),
    text: text(row.text),
    fields: pairs(list(row.fields).slice(0, LONGEST)),
    columns: texts(row.columns).slice(0, LONGEST),
    cells: list(row.cells).slice(0, LONGEST).map(texts),
    image: text(row.image),
    glyph: texts(row.glyph).slice(0, LONGEST),
    html: text(row.html).length > MARKUP ? '' : text(row.html),
    more: row.more === true
  };
}

const use = (row: Loose): FullUse => ({
  parameter: text(row.parameter),
  object: text(row.object),
  receiver: row.receiver === true,
  input: row.input === true
});

export const fullObject = (row: Loose): FullObject =>
  ({
    ...complete(row, OBJECT),
    role: among(row.role, ROLES, DEFAULTS.ObjectRow.role),
    preview: preview(isRecord(row.preview) ? row.preview : {})
  }) as FullObject;

export const fullCall = (row: Loose): FullCall =>
  ({
    ...complete(row, CALL),
    status: among(row.status, STATUSES, DEFAULTS.CallRow.status),
    arguments: bare(row.arguments),
    asked: isRecord(row.asked) ? bare(row.asked) : null,
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
  unknown: text(row.unknown),
  parts: records(row.parts).map(part)
});

const numbers = (value: unknown): number[] => list(value).filter(one => typeof one === 'number');

const ASPECTS: readonly FullChange['what'][] = ['tool', 'argument', 'status', 'result', 'error', 'prints', 'reason', 'text'];

const change = (row: Loose): FullChange => ({
  what: among(row.what, ASPECTS, 'text'),
  name: text(row.name),
  left: numbers(row.left),
  right: numbers(row.right)
});

const pair = (row: Loose): FullPair => ({
  left: text(row.left),
  right: text(row.right),
  kind: among(row.kind, ['shared', 'same', 'differs'], DEFAULTS.PairRow.kind),
  changes: records(row.changes).map(change),
  made: among(row.made, ['same', 'differ'], DEFAULTS.PairRow.made),
  objects: records(row.objects).map(one => complete(one, DEFAULTS.ObjectPairRow))
});

export const fullComparison = (row: Loose): FullComparison => ({
  id: text(row.id),
  left: text(row.left),
  right: text(row.right),
  unasked: row.unasked === true,
  same: row.same === true,
  shared: typeof row.shared === 'number' ? Math.max(0, row.shared) : 0,
  pairs: records(row.pairs).map(pair),
  text: isRecord(row.text) ? change(row.text) : null
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

export const fullSession = (row: Loose): FullSession =>
  ({
    ...complete(row, DEFAULTS.SessionRow),
    phase: among(row.phase, PHASES, DEFAULTS.SessionRow.phase),
    pending: texts(row.pending),
    stops: texts(row.stops),
    yours: isRecord(row.yours) ? fullYours(row.yours) : null
  }) as FullSession;

export const fullTeaching = (row: Loose): FullTeaching => ({
  id: 'teaching',
  turn: isRecord(row.turn) ? fullYours(row.turn) : null,
  score: text(row.score),
  session_score: text(row.session_score),
  guesses: records(row.guesses).map(fullGuess),
  task: isRecord(row.task) ? complete(row.task, { title: '', ...DEFAULTS.Task }) : null
});
