/** The model, folded from notices. Only pure functions live here. */
import { VERSION, type Notice, type Refused } from '../../generated/contract';
import { layered } from '../layered';
import {
  BRANCH,
  complete,
  fullCall,
  fullComparison,
  fullDifference,
  fullGuess,
  fullObject,
  fullSession,
  isRecord,
  MESSAGE,
  preview,
  records,
  text,
  texts,
  TOOL,
  TURN,
  type Loose
} from './reading';
import type { FullBranch, FullMessage, FullObject, FullTool, FullTurn, Model } from './shapes';

export const EMPTY: Model = {
  calls: new Map(),
  objects: new Map(),
  tools: new Map(),
  messages: new Map(),
  turns: new Map(),
  branches: new Map(),
  comparisons: new Map(),
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

/** So many requests that came to nothing are told of before a reply: the last ones. */
const ATTEMPTS = 20;

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

/** Rows that are told again as they come to more: what is left out of them is as it was told. */
function grown(table: ReadonlyMap<string, object>, rows: unknown, dropped: readonly string[]): Loose[] {
  const known = (id: string): object | undefined => (dropped.includes(id) ? undefined : table.get(id));
  return records(rows).map(row => ({ ...known(text(row.id)), ...row }));
}

function withRows(model: Model, rows: Loose): Model {
  const drop = records(rows.drop);
  const session = records(rows.session).at(-1);
  const gone = (table: string): string[] => drop.filter(one => one.table === table).map(one => text(one.id));
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
      records(rows.turns).map(row => ({ ...complete(row, TURN), attempts: texts(row.attempts).slice(-ATTEMPTS) }) as FullTurn),
      gone('turns')
    ),
    branches: put(
      model.branches,
      records(rows.branches).map(row => complete(row, BRANCH) as FullBranch),
      gone('branches')
    ),
    comparisons: put(model.comparisons, records(rows.comparisons).map(fullComparison), gone('comparisons')),
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
