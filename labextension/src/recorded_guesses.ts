/**
 * A recorded session whose replies the reader guesses before the page shows them. No kernel runs:
 * the saved row of teaching has what counts as a right guess (`teaching/guesses.py`).
 */
import { type CallAnswer, type Command, GuessRow, type ReplyAnswer, type Written } from './generated/contract';
import { rowsOf } from './view/incremental';
import type { Model } from './view/model';
import { isRecord, list } from './view/reader';
import { own } from './view/schema';
import { t, tn } from './view/text';

type Table<T> = ReadonlyMap<string, T>;

const only = <T>(table: Table<T>, isKept: (row: T) => boolean): Table<T> => new Map([...table].filter(([, row]) => isKept(row)));

/** The session before a reply: nothing of that reply, of later ones or of other branches. */
function modelBefore(all: Model, { turn: asked }: ReplyAnswer): Model {
  const [turn, nothing] = [asked.turn, new Map<string, never>()];
  const calls = only(all.calls, call => call.branch === '' && call.turn < turn);
  const step = Math.max(0, ...rowsOf(calls).map(call => call.step));
  const objects = only(all.objects, ({ branch, role, step: made }) => branch === '' && (role === 'input' || (role === 'made' && made <= step)));
  const messages = only(all.messages, message => message.turn < turn || (message.turn === turn && !['assistant', 'call'].includes(message.role)));
  const text = rowsOf(messages).findLast(message => message.role === 'assistant')?.text ?? '';
  return {
    ...all,
    calls,
    messages,
    objects: new Map([...objects].map(([id, object]) => [id, { ...object, saved: '' }])),
    tools: only(all.tools, tool => asked.tools.includes(tool.id)),
    turns: only(all.turns, row => row.turn < turn),
    branches: nothing,
    comparisons: nothing,
    graphs: all.graphs.map(graph => ({ ...graph, nodes: graph.nodes.map(node => ({ ...node, flag: '' })) })),
    session: {
      ...all.session, phase: 'waiting', says: t('Your turn to guess'), detail: '', ending: [], text, tokens: 0, remembered: 0, pending: [],
      yours: null
    },
    teaching: { ...all.teaching, turn: asked }
  };
}

/** JSON with sorted keys, and numbers that JavaScript writes in another way as numbers. */
const canonical = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, part: unknown) => {
    if (!isRecord(part)) return part;
    return typeof part.$json === 'string' ? Number(part.$json) : Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });

/** A guess beside one call, with points as in `teaching/guesses.py`. */
function compared({ call, step, arguments: answers }: CallAnswer, guess: Written): GuessRow {
  const tool = guess.tool === call.tool;
  // The names of tools that are selected have no order.
  const written = (value: unknown): string => canonical(call.tool === 'selectTools' && Array.isArray(value) ? [...value].sort() : value);
  const unknown = Object.keys(guess.arguments).filter(name => !answers.some(answer => answer.name === name));
  const marks = [...answers, ...unknown.map(name => ({ name, values: [], optional: true }))].flatMap(({ name, values, optional }) => {
    const guessed = own(guess.arguments, name);
    const isSame = (value: string): boolean =>
      (value === '' || guessed === undefined ? value === '' && guessed === undefined : written(JSON.parse(value)) === written(guessed));
    const right = tool && values.some(isSame);
    return optional && (right || !tool) ? [] : [{ name, right }];
  });
  return { ...NO_GUESS, came: call, step, marks, tool, right: Number(tool) + marks.filter(mark => mark.right).length, of: 1 + marks.length };
}

const NO_GUESS = GuessRow.of({});

/** A guess beside the reply, of several calls beside the one that it comes nearest to; null for a skipped one. */
function scored({ turn: { turn }, calls }: ReplyAnswer, guess: Written | null): GuessRow {
  const written = guess ?? { tool: '', arguments: {} };
  const isNone = written.tool === '';
  const rows = calls.map(answer => compared(answer, written)).sort((a, b) => Number(b.tool) - Number(a.tool) || b.right / b.of - a.right / a.of);
  const row = rows[0] ?? { ...NO_GUESS, tool: isNone, right: Number(isNone), of: 1 };
  const skipped = guess ? {} : { marks: [], tool: false, right: 0, of: 0 };
  return { ...row, turn, calls: calls.length, guess, ...skipped };
}

/** The guesses of a session. They stay in the reader's browser, under a key. */
export class RecordedGuesses {
  private readonly _answers = this._all.teaching.answers;
  private _guesses: readonly GuessRow[] = this._stored();

  constructor(private readonly _all: Model, private readonly _key: string) {}

  /** The session as far as the reader may see it, with the guesses. */
  get model(): Model {
    const next = this._answers[this._guesses.length];
    const model = next ? modelBefore(this._all, next) : { ...this._all, teaching: { ...this._all.teaching, turn: null } };
    const sum = (of: 'right' | 'of'): number => this._guesses.reduce((total, row) => total + row[of], 0);
    const score = sum('of') ? tn('%2 of %1 point', '%2 of %1 points', sum('of'), sum('right')) : '';
    return { ...model, teaching: { ...model.teaching, score, guesses: this._guesses, task: null } };
  }

  get hasGuesses(): boolean {
    return this._guesses.length > 0;
  }

  /** Takes a guess, or skips one or all that are left. */
  take(command: Command): void {
    if (command.type !== 'guess' && command.type !== 'skip_guess') return;
    const guess = command.type === 'guess' ? { tool: command.tool ?? '', arguments: command.arguments ?? {} } : null;
    const left = this._answers.slice(this._guesses.length);
    const taken = command.type === 'skip_guess' && command.rest ? left : left.slice(0, 1);
    this._keep([...this._guesses, ...taken.map(answer => scored(answer, guess))]);
  }

  /** Forgets all guesses. */
  startOver(): void {
    this._keep([]);
  }

  private _keep(guesses: readonly GuessRow[]): void {
    this._guesses = guesses;
    try {
      localStorage.setItem(this._key, JSON.stringify(guesses));
    } catch {
      // A browser may keep nothing for a page: the guesses last until it is closed.
    }
  }

  /** The guesses that the browser kept, if they are of this recording. */
  private _stored(): readonly GuessRow[] {
    try {
      const guesses = list(GuessRow).of(JSON.parse(localStorage.getItem(this._key) ?? '[]'));
      return guesses.every((row, index) => row.turn === this._answers[index]?.turn.turn) ? guesses : [];
    } catch {
      return [];
    }
  }
}
