/**
 * A recorded session whose replies the reader guesses before the page shows them. No kernel runs:
 * the saved row of teaching has what counts as a right guess (`teaching/guesses.py`).
 */
import type { Command, Guess } from './generated/contract';
import { rowsOf } from './view/incremental';
import type { Model } from './view/model';
import { type FullCallAnswer, type FullGuess, type FullReplyAnswer, type FullWrittenCall, fullTeaching, isRecord, list, parsedRow } from './view/rows';
import { own } from './view/schema';
import { t, tn } from './view/text';

const NO_CALL = { tool: '', arguments: {} };

const filtered = <T>(table: ReadonlyMap<string, T>, isKept: (row: T) => boolean): ReadonlyMap<string, T> =>
  new Map([...table].filter(([, row]) => isKept(row)));

// -- what the reader sees before a reply ------------------------------------------------------

/** The session before a reply: nothing of that reply, of later ones or of other branches. */
function modelBefore(all: Model, answer: FullReplyAnswer): Model {
  const { turn, tools: offered } = answer.turn;
  const calls = filtered(all.calls, call => call.branch === '' && call.turn < turn);
  const lastStep = Math.max(0, ...rowsOf(calls).map(call => call.step));
  const objects = filtered(all.objects, object => object.branch === '' && (object.role === 'input' || (object.role === 'made' && object.step <= lastStep)));
  const messages = filtered(all.messages, message => message.turn < turn || (message.turn === turn && !['assistant', 'call'].includes(message.role)));
  const nodes = all.graph.nodes.filter(({ kind, row }) => (kind === 'object' ? objects.has(row) : calls.has(row)));
  const tools = filtered(all.tools, tool => offered.includes(tool.id));
  const text = rowsOf(messages).findLast(message => message.role === 'assistant')?.text ?? '';
  const [saved, flag] = ['', ''];
  return {
    ...all,
    calls,
    messages,
    tools,
    objects: new Map([...objects].map(([id, object]) => [id, { ...object, saved }])),
    turns: filtered(all.turns, row => row.turn < turn),
    branches: new Map(),
    comparisons: new Map(),
    graph: { ...all.graph, nodes: nodes.map(node => ({ ...node, flag })) },
    session: { ...all.session, phase: 'waiting', says: t('Your turn to guess'), detail: '', ending: [], text, tokens: 0, remembered: 0, pending: [], yours: null },
    teaching: { ...all.teaching, turn: answer.turn }
  };
}

// -- the points of a guess --------------------------------------------------------------------

/** JSON with sorted keys, and numbers that JavaScript writes in another way as numbers. */
const canonical = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, part: unknown) => {
    if (!isRecord(part)) return part;
    return typeof part.$json === 'string' ? Number(part.$json) : Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });

type Compared = Pick<FullGuess, 'came' | 'step' | 'marks' | 'tool' | 'right' | 'of'>;

function compared({ call, step, arguments: answers }: FullCallAnswer, guess: FullWrittenCall): Compared {
  const tool = guess.tool === call.tool;
  // The names of tools that are selected have no order.
  const written = (value: unknown): string => canonical(call.tool === 'selectTools' && Array.isArray(value) ? [...value].sort() : value);
  const judged = answers.map(({ name, values, left_out, optional }) => {
    const guessed = own(guess.arguments, name);
    return { name, optional, right: tool && (guessed === undefined ? left_out : values.some(value => written(JSON.parse(value)) === written(guessed))) };
  });
  const unknown = Object.keys(guess.arguments).filter(name => tool && !answers.some(answer => answer.name === name));
  const marks = [
    ...judged.filter(({ optional, right }) => !optional || (tool && !right)).map(({ name, right }) => ({ name, right })),
    ...unknown.map(name => ({ name, right: false }))
  ];
  return { came: call, step, marks, tool, right: Number(tool) + marks.filter(mark => mark.right).length, of: 1 + marks.length };
}

/** A guess beside the reply, of several calls beside the one that it comes nearest to; null for a skipped one. */
function scored({ turn: { turn }, calls }: FullReplyAnswer, guess: FullWrittenCall | null): FullGuess {
  const written = guess ?? NO_CALL;
  const none: Compared = { came: null, step: 0, marks: [], tool: written.tool === '', right: Number(written.tool === ''), of: 1 };
  const all = calls.map(answer => compared(answer, written)).sort((a, b) => Number(b.tool) - Number(a.tool) || b.right / b.of - a.right / a.of);
  const row = { id: `${turn}`, turn, calls: calls.length, guess, ...(all[0] ?? none) };
  return guess ? row : { ...row, marks: [], tool: false, right: 0, of: 0 };
}

// -- the reader's guesses ---------------------------------------------------------------------

/** The guesses of a session. They stay in the reader's browser, under a key. */
export class RecordedGuesses {
  private readonly _answers = this._all.teaching.answers;
  private _guesses: readonly FullGuess[] = this._stored();

  constructor(
    private readonly _all: Model,
    private readonly _key: string
  ) {}

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
    if (command.type === 'guess') this._keep([...this._guesses, this._next(command)]);
    if (command.type !== 'skip_guess') return;
    do this._keep([...this._guesses, this._next(null)]);
    while (command.rest && this._guesses.length < this._answers.length);
  }

  /** Forgets all guesses. */
  startOver(): void {
    this._keep([]);
  }

  private _next(guess: Guess | null): FullGuess {
    const answer = this._answers[this._guesses.length] as FullReplyAnswer;
    return scored(answer, guess && { tool: guess.tool ?? '', arguments: guess.arguments ?? {} });
  }

  private _keep(guesses: readonly FullGuess[]): void {
    this._guesses = guesses;
    try {
      localStorage.setItem(this._key, JSON.stringify(guesses));
    } catch {
      // A browser may keep nothing for a page: the guesses last until it is closed.
    }
  }

  /** The guesses that the browser kept, if they are of this recording. */
  private _stored(): readonly FullGuess[] {
    try {
      const guesses = fullTeaching({ guesses: list(parsedRow(`{"rows":${localStorage.getItem(this._key) ?? '[]'}}`)?.rows) }).guesses;
      return guesses.every((row, index) => row.turn === this._answers[index]?.turn.turn) ? guesses : [];
    } catch {
      return [];
    }
  }
}
