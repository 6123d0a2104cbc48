/** The shapes of what a person may see: rows in full, and the model that they make. Only types live here. */
import type {
  Full,
  FullBranch,
  FullCall,
  FullComparison,
  FullDifference,
  FullMessage,
  FullObject,
  FullSession,
  FullTeaching,
  FullTool,
  FullTurn,
  Preview,
  Refused,
  Told,
  Use,
  Written,
  YourTurn
} from '../../generated/contract';

export type {
  FullBranch,
  FullCall,
  FullChange,
  FullComparison,
  FullDifference,
  FullGuess,
  FullMessage,
  FullObject,
  FullPair,
  FullPart,
  FullSession,
  FullTeaching,
  FullTool,
  FullTurn
} from '../../generated/contract';
export type FullPreview = Full<Preview>;
export type FullUse = Full<Use>;
export type FullTold = Full<Told>;
export type FullWritten = Full<Written>;
export type FullYours = Full<YourTurn>;

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
