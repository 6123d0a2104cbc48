/**
 * A recorded session whose replies the reader guesses before the page shows them. No kernel runs:
 * the recording holds the answers. Points are counted as `teaching/guesses.py` counts them.
 */
import type { Command, Guess } from './generated/contract';
import { rowsOf } from './view/incremental';
import type { Model } from './view/model';
import { type FullCall, type FullGuess, type FullPersonTurn, type FullTurn, type FullWrittenCall, fullTeaching, isRecord, list, parsedRow } from './view/rows';
import { own } from './view/schema';
import { t, tn } from './view/text';

/** The tools that a request offered for the first time, by the id of its reply. */
export type Offered = Readonly<Record<string, readonly string[]>>;

const NO_CALL = { tool: '', arguments: {} };

/** The calls of a reply, on the shown branch. */
const callsOf = ({ calls }: Model, turn: number): FullCall[] =>
  rowsOf(calls).filter(call => call.branch === '' && call.by === '' && call.turn === turn);

const filtered = <T>(table: ReadonlyMap<string, T>, isKept: (row: T) => boolean): ReadonlyMap<string, T> =>
  new Map([...table].filter(([, row]) => isKept(row)));

/** A call as the model wrote it, without what the scheme filled in. */
function writtenBy({ tool, asked, arguments: ran, filled }: FullCall): FullWrittenCall {
  return { tool, arguments: Object.fromEntries(Object.entries(asked ?? ran).filter(([name]) => !filled.includes(name))) };
}

// -- what the reader sees before a reply ------------------------------------------------------

/** What the model was sent for a reply. */
function requestOf(all: Model, turn: number, tools: readonly string[]): FullPersonTurn {
  const sent = rowsOf(all.messages).filter(message => message.turn <= turn);
  const newest = (role: string): string => sent.findLast(message => message.role === role)?.text ?? '';
  const told = sent
    .filter(message => message.turn === turn && message.role === 'tool')
    .map(({ text, step }) => {
      const call = rowsOf(all.calls).find(one => one.branch === '' && one.step === step);
      return { text, step, tool: call?.tool ?? '', error: call?.status === 'failed' };
    });
  return { turn, prompt: newest('user'), told, system: newest('system'), tools: [...tools], calls: [] };
}

/** The session before a reply: nothing of that reply, of later ones or of other branches. */
function modelBefore(all: Model, turn: number, offered: ReadonlySet<string>): Model {
  const calls = filtered(all.calls, call => call.branch === '' && call.turn < turn);
  const lastStep = Math.max(0, ...rowsOf(calls).map(call => call.step));
  const objects = filtered(all.objects, object => object.branch === '' && (object.role === 'input' || (object.role === 'made' && object.step <= lastStep)));
  const messages = filtered(all.messages, message => message.turn < turn || (message.turn === turn && !['assistant', 'call'].includes(message.role)));
  const nodes = all.graph.nodes.filter(({ kind, row }) => (kind === 'object' ? objects.has(row) : calls.has(row)));
  const tools = filtered(all.tools, tool => offered.has(tool.id));
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
    teaching: { ...all.teaching, turn: requestOf(all, turn, [...tools.keys()]) }
  };
}

// -- the points of a guess --------------------------------------------------------------------

/** JSON with sorted keys, and numbers that JavaScript writes in another way as numbers. */
const canonical = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, part: unknown) => {
    if (!isRecord(part)) return part;
    return typeof part.$json === 'string' ? Number(part.$json) : Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });

/** The newest object of the type of a named one. */
function newestLike({ objects }: Model, name: unknown): string {
  const kind = typeof name === 'string' ? name.split('#')[0] : '';
  return rowsOf(objects).findLast(object => object.kind === kind)?.name ?? '';
}

/** Whether the call would be the same with the guess's value of an argument. */
function isRight(before: Model, call: FullCall, guess: FullWrittenCall, name: string): boolean {
  const { properties, required } = before.tools.get(call.tool)?.parameters ?? {};
  const schema = own(isRecord(properties) ? properties : {}, name);
  const standard = isRecord(schema) ? schema.default : undefined;
  const ran = call.edited ? undefined : own(call.arguments, name);
  const came = [own(writtenBy(call).arguments, name), ran].filter(value => value !== undefined);
  // The scheme's own tools take a set of names.
  const sorted = (value: unknown): string => canonical(call.scheme && Array.isArray(value) ? [...value].sort() : value);
  const guessed = own(guess.arguments, name) ?? standard;
  if (guessed !== undefined) return (came.length ? came : [standard]).some(value => value !== undefined && sorted(value) === sorted(guessed));
  return call.filled.includes(name) || (!list(required).includes(name) && came.some(value => value === newestLike(before, value)));
}

type Compared = Pick<FullGuess, 'came' | 'step' | 'marks' | 'tool' | 'right' | 'of'>;

function compared(before: Model, call: FullCall, guess: FullWrittenCall): Compared {
  const came = writtenBy(call);
  const tool = guess.tool === call.tool;
  // The object of a method counts even if the model left it out.
  const receiver = call.filled.filter(name => call.tool.startsWith(`${name}_`));
  const names = [...new Set([...receiver, ...Object.keys(came.arguments)])];
  const more = tool ? Object.keys(guess.arguments).filter(name => !names.includes(name) && !isRight(before, call, guess, name)) : [];
  const marks = [...names, ...more].map(name => ({ name, right: tool && isRight(before, call, guess, name) }));
  return { came, step: call.step, marks, tool, right: tool ? 1 + marks.filter(mark => mark.right).length : 0, of: 1 + marks.length };
}

function sentence({ came, marks, tool }: Compared): string {
  const [right, of] = [marks.filter(mark => mark.right).length, marks.length];
  if (!tool) return came ? t('Not this time: it called %1.', came.tool) : t('Not this time: it answered.');
  if (!came) return t('Right: it answered, and called nothing.');
  if (right === of) return of ? t('Right, all of it.') : t('Right: that is the call.');
  if (right) return t('The right tool, and %1 of %2 arguments.', right, of);
  return tn('The right tool, with another argument.', 'The right tool, with other arguments.', of);
}

/** A guess beside the reply, of several calls beside the one that it comes nearest to; null for a skipped one. */
function scored(before: Model, calls: readonly FullCall[], { id, turn }: FullTurn, guess: FullWrittenCall | null): FullGuess {
  const written = guess ?? NO_CALL;
  const none: Compared = { came: null, step: 0, marks: [], tool: written.tool === '', right: Number(written.tool === ''), of: 1 };
  const all = calls.map(call => compared(before, call, written)).sort((a, b) => Number(b.tool) - Number(a.tool) || b.right / b.of - a.right / a.of);
  const best = all[0] ?? none;
  const row = { id, turn, calls: calls.length };
  if (guess) return { ...row, ...best, guess, says: sentence(best) };
  const says = best.came ? t('Skipped: it called %1.', best.came.tool) : t('Skipped: it answered.');
  return { ...row, ...best, guess, says, marks: [], tool: false, right: 0, of: 0 };
}

// -- the reader's guesses ---------------------------------------------------------------------

/** The guesses of a session. They stay in the reader's browser, under a key. */
export class RecordedGuesses {
  private readonly _turns = rowsOf(this._all.turns).filter(row => row.turn > 0).sort((a, b) => a.turn - b.turn);
  private _guesses: readonly FullGuess[] = this._stored();

  constructor(
    private readonly _all: Model,
    private readonly _offered: Offered,
    private readonly _key: string
  ) {}

  /** The session as far as the reader may see it, with the guesses. */
  get model(): Model {
    const next = this._turns[this._guesses.length];
    const model = next ? modelBefore(this._all, next.turn, this._toolsAt(next.turn)) : { ...this._all, teaching: { ...this._all.teaching, turn: null } };
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
    while (command.rest && this._guesses.length < this._turns.length);
  }

  /** Forgets all guesses. */
  startOver(): void {
    this._keep([]);
  }

  private _next(guess: Guess | null): FullGuess {
    const turn = this._turns[this._guesses.length] as FullTurn;
    return scored(this.model, callsOf(this._all, turn.turn), turn, guess && { ...NO_CALL, tool: guess.tool ?? '', arguments: guess.arguments ?? {} });
  }

  /** The tools that were offered up to a turn; all where the page does not know them. */
  private _toolsAt(turn: number): ReadonlySet<string> {
    const until = this._turns.filter(row => row.turn <= turn);
    const names = until.flatMap(row => own(this._offered, row.id) ?? []);
    return new Set(names.length ? [...names, ...callsOf(this._all, turn).map(call => call.tool)] : this._all.tools.keys());
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
      return guesses.every((row, index) => row.id === this._turns[index]?.id) ? guesses : [];
    } catch {
      return [];
    }
  }
}
