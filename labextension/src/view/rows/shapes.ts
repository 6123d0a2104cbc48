/** The shapes of what a person may see: rows in full, and the model that they make. Only types live here. */
import type {
  BranchRow,
  CallRow,
  CellPair,
  ChangeRow,
  ComparisonRow,
  DifferenceRow,
  GuessRow,
  LinePair,
  Mark,
  MessageRow,
  ObjectPairRow,
  ObjectRow,
  PairRow,
  PartRow,
  Preview,
  Refused,
  SessionRow,
  Task,
  TeachingRow,
  Told,
  ToolRow,
  TurnRow,
  Use,
  Written,
  YourTurn
} from '../../generated/contract';

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
export type FullChange = Required<ChangeRow>;
export type FullPair = Omit<Required<PairRow>, 'changes' | 'objects'> & {
  readonly changes: readonly FullChange[];
  readonly objects: readonly Required<ObjectPairRow>[];
};
export type FullComparison = Omit<Required<ComparisonRow>, 'pairs' | 'text'> & {
  readonly pairs: readonly FullPair[];
  readonly text: FullChange | null;
};
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
/** What teaching shows of a session: the turn to guess, the guesses so far, and the exercise. */
export type FullTeaching = Omit<Required<TeachingRow>, 'turn' | 'guesses' | 'task'> & {
  readonly turn: FullYours | null;
  readonly guesses: readonly FullGuess[];
  readonly task: Required<Task> | null;
};
export type FullSession = Omit<Required<SessionRow>, 'yours'> & {
  readonly yours: FullYours | null;
};

export interface Tables {
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
