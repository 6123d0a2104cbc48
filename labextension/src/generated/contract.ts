// Generated from jupyter_toolcall/view by `npm run contract`. Do not edit.
import { boolean, integer, json, list, mapping, nullable, number, oneOf, record, tables, text, tuple, type Read, union } from '../view/reader';

export const VERSION = 4;

/** What a session that is paused for its budget has used. */
export const BudgetRow = record({
  why: text,
  used: integer.or(0),
  tokens: integer.or(0),
  used_cost: number.or(0),
  cost: number.or(0),
  note: text.or("")
});
export type BudgetRow = Read<typeof BudgetRow>;
/** A rule that the person added, and how it stands. */
export const RuleRow = record({
  name: text,
  decision: oneOf("run", "ask", "refuse").or("run"),
  says: text.or(""),
  ran: integer.or(0),
  holds: text.or(""),
  made: text.or(""),
  paused: boolean.or(false),
  ended: text.or("")
});
export type RuleRow = Read<typeof RuleRow>;
/** The last decision of a branch, which can be undone. */
export const UndoRow = record({
  call: text,
  says: text.or("")
});
export type UndoRow = Read<typeof UndoRow>;
/** Something new in the request: the result of a call, or other text. */
export const Told = record({
  text: text,
  tool: text.or(""),
  step: integer.or(0),
  error: boolean.or(false)
});
export type Told = Read<typeof Told>;
/** A call that the person has written in the model's place. */
export const Written = record({
  tool: text,
  arguments: mapping(json).orEmpty()
});
export type Written = Read<typeof Written>;
/** The person plays the model, and it is the model's turn: what a model would be sent. */
export const YourTurn = record({
  turn: integer,
  prompt: text.or(""),
  told: list(Told).or([]),
  system: text.or(""),
  tools: list(text.or("")).or([]),
  calls: list(Written).or([])
});
export type YourTurn = Read<typeof YourTurn>;
/** The session itself. There is one, with id `session`. */
export const SessionRow = record({
  id: text.or("session"),
  name: text.or(""),
  phase: oneOf("ready", "thinking", "waiting", "running", "finished", "stopped", "failed").or("ready"),
  says: text.or(""),
  detail: text.or(""),
  ending: list(text.or("")).or([]),
  model: text.or(""),
  scheme: text.or(""),
  turn: integer.or(0),
  tokens: integer.or(0),
  cost: text.or(""),
  pending: list(text.or("")).or([]),
  text: text.or(""),
  ran: integer.or(0),
  remembered: integer.or(0),
  stops: list(text.or("")).or([]),
  budget: nullable(BudgetRow).or(null),
  rules: list(RuleRow).or([]),
  undo: nullable(UndoRow).or(null),
  notebook_rules: text.or(""),
  yours: nullable(YourTurn).or(null)
});
export type SessionRow = Read<typeof SessionRow>;
/** What a person is warned of at a call: its mark stands at the step, the node and the card. */
export const CallWarning = record({
  kind: oneOf("outcome unknown", "untracked change", "lost change", "an earlier call failed", "may be stale"),
  text: text,
  action: text
});
export type CallWarning = Read<typeof CallWarning>;
/** An argument of a call that names an object: an edge of the graph. */
export const Use = record({
  parameter: text,
  object: text,
  input: boolean.or(false)
});
export type Use = Read<typeof Use>;
/** What a running tool asks the person: a form, or a page to open. */
export const QuestionRow = record({
  key: text,
  message: text.or(""),
  form: mapping(json).orEmpty(),
  values: mapping(json).orEmpty(),
  url: text.or(""),
  host: text.or("")
});
export type QuestionRow = Read<typeof QuestionRow>;
/** Where the value of an argument of a waiting call came from. */
export const OriginRow = record({
  parameter: text,
  says: text.or(""),
  trust: oneOf("untrusted", "unclear", "trusted").or("trusted"),
  call: text.or(""),
  warning: text.or(""),
  passage: list(text.or("")).or([])
});
export type OriginRow = Read<typeof OriginRow>;
/** A step. `id` is unique over all branches. */
export const CallRow = record({
  id: text,
  call: text,
  tool: text,
  step: integer,
  turn: integer,
  status: oneOf("proposed", "approved", "input required", "succeeded", "failed", "rejected", "answered", "interrupted", "unknown", "running").or("proposed"),
  branch: text.or(""),
  memory: boolean.or(false),
  edited: boolean.or(false),
  scheme: boolean.or(false),
  saves: boolean.or(false),
  stale: boolean.or(false),
  outdated: text.or(""),
  notes: list(text.or("")).or([]),
  warning: nullable(CallWarning).or(null),
  arguments: mapping(json).orEmpty(),
  asked: nullable(mapping(json)).or(null),
  filled: list(text.or("")).or([]),
  uses: list(Use).or([]),
  object: text.or(""),
  what: text.or(""),
  before: text.or(""),
  change: text.or(""),
  result: text.or(""),
  error: text.or(""),
  reason: text.or(""),
  ms: number.or(0),
  prints: text.or(""),
  why: text.or(""),
  again: boolean.or(false),
  following: integer.or(0),
  may_have_run: boolean.or(false),
  recorded: text.or(""),
  questions: list(QuestionRow).or([]),
  downstream: text.or(""),
  bound: text.or(""),
  same: text.or(""),
  by: text.or(""),
  origins: list(OriginRow).or([]),
  by_rule: text.or(""),
  who: text.or("")
});
export type CallRow = Read<typeof CallRow>;
/** A small picture of an object; every part is optional and size-capped. */
export const Preview = record({
  caption: text.or(""),
  text: text.or(""),
  fields: list(tuple(text.or(""), text.or("")), 500).or([]),
  columns: list(text.or(""), 500).or([]),
  cells: list(list(text.or("")), 500).or([]),
  image: text.or(""),
  glyph: list(text.or(""), 500).or([]),
  html: text.where(text => text.length <= 500000).or(""),
  more: boolean.or(false),
  missing: text.or(""),
  large: text.or("")
});
export type Preview = Read<typeof Preview>;
/** An object. `id` is unique over all branches, `name` in its branch only. */
export const ObjectRow = record({
  id: text,
  name: text,
  kind: text,
  role: oneOf("input", "made", "pending", "output").or("made"),
  step: integer.or(0),
  call: text.or(""),
  branch: text.or(""),
  saved: text.or(""),
  equals: text.or(""),
  content: text.or(""),
  description: text.or(""),
  note: text.or(""),
  outdated: text.or(""),
  label: text.or(""),
  same: text.or(""),
  preview: Preview.orEmpty()
});
export type ObjectRow = Read<typeof ObjectRow>;
/** A tool, for the edit form and the card. `id` is its name. */
export const ToolRow = record({
  id: text,
  description: text.or(""),
  parameters: mapping(json).orEmpty(),
  read_only: boolean.or(false),
  for_person: boolean.or(false),
  returns: text.or(""),
  order: list(text.or("")).or([])
});
export type ToolRow = Read<typeof ToolRow>;
/** A part of the conversation: what the model was told, and what it said. */
export const MessageRow = record({
  id: text,
  turn: integer,
  role: oneOf("system", "tools", "user", "session", "assistant", "call", "tool"),
  text: text.or(""),
  step: integer.or(0),
  size: integer.or(0),
  stale: boolean.or(false),
  tool: text.or("")
});
export type MessageRow = Read<typeof MessageRow>;
/** What a request to the model took. `id` is the reply's. */
export const TurnRow = record({
  id: text,
  turn: integer,
  model: text.or(""),
  input: integer.or(0),
  cached: integer.or(0),
  output: integer.or(0),
  cost: text.or(""),
  ms: number.or(0),
  attempts: list(text.or(""), 20).or([])
});
export type TurnRow = Read<typeof TurnRow>;
/** A branch: a head of the journal. `id` is the head's entry id. */
export const BranchRow = record({
  id: text,
  name: text,
  current: boolean.or(false),
  hidden: boolean.or(false),
  left: text.or(""),
  shares: text.or(""),
  calls: integer.or(0),
  differs: text.or(""),
  ran: integer.or(0),
  remembered: integer.or(0),
  ms: number.or(0),
  tokens: integer.or(0),
  cost: text.or(""),
  text: text.or("")
});
export type BranchRow = Read<typeof BranchRow>;
/** Something in which two calls differ; `text` is what the model said last on two branches. */
export const ChangeRow = record({
  what: oneOf("tool", "argument", "status", "result", "error", "prints", "reason", "text"),
  name: text.or(""),
  left: list(integer).or([]),
  right: list(integer).or([])
});
export type ChangeRow = Read<typeof ChangeRow>;
/** Two objects side by side, by the ids of their rows; "" where there is none. */
export const ObjectPairRow = record({
  left: text.or(""),
  right: text.or(""),
  same: boolean.or(false),
  repeated: boolean.or(false)
});
export type ObjectPairRow = Read<typeof ObjectPairRow>;
/** Two calls side by side, by the ids of their rows; "" where there is none. */
export const PairRow = record({
  left: text.or(""),
  right: text.or(""),
  kind: oneOf("shared", "same", "differs").or("same"),
  changes: list(ChangeRow).or([]),
  made: oneOf("", "same", "differ").or(""),
  objects: list(ObjectPairRow).or([])
});
export type PairRow = Read<typeof PairRow>;
/** Two branches, call by call. */
export const ComparisonRow = record({
  id: text,
  left: text.or(""),
  right: text.or(""),
  unasked: boolean.or(false),
  same: boolean.or(false),
  shared: integer.where(number => number >= 0).or(0),
  pairs: list(PairRow).or([]),
  text: nullable(ChangeRow).or(null)
});
export type ComparisonRow = Read<typeof ComparisonRow>;
/** A line of two texts side by side; `sign` says which side has it, or whether it changed. */
export const LinePair = record({
  sign: oneOf("same", "changed", "left", "right").or("same"),
  left: text.or(""),
  right: text.or(""),
  left_at: integer.or(0),
  right_at: integer.or(0)
});
export type LinePair = Read<typeof LinePair>;
/** A cell in which two tables differ. */
export const CellPair = record({
  row: text,
  column: text,
  left: text.or(""),
  right: text.or(""),
  left_at: integer.or(0),
  right_at: integer.or(0)
});
export type CellPair = Read<typeof CellPair>;
/** A part of two values that differs: in words, or as texts, lines, cells, pictures. */
export const PartRow = record({
  name: text.or(""),
  says: text.or(""),
  left: nullable(text).or(null),
  right: nullable(text).or(null),
  lines: list(LinePair).or([]),
  cells: list(CellPair).or([]),
  images: list(text.or("")).or([])
});
export type PartRow = Read<typeof PartRow>;
/** How the values of two objects differ. `id` is their rows' ids: `LEFT RIGHT`. */
export const DifferenceRow = record({
  id: text,
  unknown: text.or(""),
  parts: list(PartRow).or([])
});
export type DifferenceRow = Read<typeof DifferenceRow>;
/** A box (an object, or the earlier calls) or a pill (a call), with a row of its own. */
export const GraphNode = record({
  kind: oneOf("object", "call", "earlier").or("object"),
  row: text.or(""),
  x: number.or(0),
  y: number.or(0),
  width: number.or(112),
  height: number.or(84),
  label: text.or(""),
  detail: text.or(""),
  state: oneOf("ran", "waits", "running", "failed", "rejected", "answered", "interrupted", "unknown").or("ran"),
  edited: boolean.or(false),
  stale: boolean.or(false),
  muted: boolean.or(false),
  dashed: boolean.or(false),
  flag: text.or(""),
  input: boolean.or(false)
});
export type GraphNode = Read<typeof GraphNode>;
/**
 * From an object to a call that takes it, or from a call to an object that it made.
 *
 * There is at most one from a node to another.
 */
export const GraphEdge = record({
  tail: integer,
  head: integer,
  path: text.where(text => /^[Mch\d\s.,-]*$/.test(text)).or(""),
  label: text.or(""),
  label_x: number.or(0),
  label_y: number.or(0),
  muted: boolean.or(false),
  dashed: boolean.or(false)
});
export type GraphEdge = Read<typeof GraphEdge>;
/** The drawing. There is one, with id `graph`. */
export const GraphRow = record({
  id: text.or("graph"),
  width: number.or(0),
  height: number.or(0),
  nodes: list(GraphNode).or([]),
  edges: list(GraphEdge).or([]),
  until: integer.or(0),
  earlier: integer.or(0),
  selected: text.or(""),
  error: text.or("")
});
export type GraphRow = Read<typeof GraphRow>;
/** An argument of a guess, and whether it was right. */
export const Mark = record({
  name: text,
  right: boolean
});
export type Mark = Read<typeof Mark>;
/** A guess of what the model does next, beside what it did. Notebooks do not save it. */
export const GuessRow = record({
  turn: integer.or(0),
  guess: nullable(Written).or(null),
  came: nullable(Written).or(null),
  step: integer.or(0),
  calls: integer.or(0),
  marks: list(Mark).or([]),
  tool: boolean.or(false),
  right: integer.or(0),
  of: integer.or(0)
});
export type GuessRow = Read<typeof GuessRow>;
/** What counts as right for one argument of a recorded call. */
export const ArgumentAnswer = record({
  name: text,
  values: list(text.or("")).or([]),
  optional: boolean.or(false)
});
export type ArgumentAnswer = Read<typeof ArgumentAnswer>;
/** A recorded call, and what counts as right for its arguments. */
export const CallAnswer = record({
  call: Written,
  step: integer.or(0),
  arguments: list(ArgumentAnswer).or([])
});
export type CallAnswer = Read<typeof CallAnswer>;
/** A recorded reply that a page without a kernel asks for, and what the model was sent. */
export const ReplyAnswer = record({
  turn: YourTurn,
  calls: list(CallAnswer).or([])
});
export type ReplyAnswer = Read<typeof ReplyAnswer>;
/** An exercise that the session is for: the panel offers to check it. */
export const Task = record({
  title: text,
  says: text.or(""),
  passed: boolean.or(false)
});
export type Task = Read<typeof Task>;
/** What teaching shows of a session. */
export const TeachingRow = record({
  id: oneOf("teaching"),
  turn: nullable(YourTurn).or(null),
  score: text.or(""),
  guesses: list(GuessRow).or([]),
  answers: list(ReplyAnswer).or([]),
  task: nullable(Task).or(null)
});
export type TeachingRow = Read<typeof TeachingRow>;
export const ExtensionRow = TeachingRow;
export type ExtensionRow = Read<typeof ExtensionRow>;
/** A row to drop. */
export const Drop = record({
  table: oneOf("objects", "branches", "comparisons"),
  id: text
});
export type Drop = Read<typeof Drop>;
/** Rows to put, table by table, and rows to drop. */
export const Rows = tables({
  session: SessionRow,
  calls: CallRow,
  objects: ObjectRow,
  tools: ToolRow,
  messages: MessageRow,
  turns: TurnRow,
  branches: BranchRow,
  comparisons: ComparisonRow,
  differences: DifferenceRow,
  graph: GraphRow,
  extensions: ExtensionRow,
  drop: Drop
});
export type Rows = Read<typeof Rows>;
/** Everything that there is to see: sent when a panel connects. */
export const Whole = record({
  rows: Rows,
  live: boolean.or(true),
  version: integer.or(4),
  type: oneOf("whole")
});
export type Whole = Read<typeof Whole>;
/**
 * The rows that changed since the last message; after a gap in `number` the panel asks for all
 * rows.
 */
export const Delta = record({
  rows: Rows,
  number: integer,
  type: oneOf("delta")
});
export type Delta = Read<typeof Delta>;
/** A command was not carried out; `fields` says which arguments are wrong, and how. */
export const Refused = record({
  command: text,
  reason: text,
  fields: mapping(text).orEmpty(),
  type: oneOf("refused")
});
export type Refused = Read<typeof Refused>;
/** The request of a turn, exactly as it goes to the model: JSON as text. */
export const Shown = record({
  turn: integer,
  text: text,
  type: oneOf("shown")
});
export type Shown = Read<typeof Shown>;
/** The session as a text of a format that it can be exported to. */
export const Exported = record({
  to: text,
  text: text,
  type: oneOf("exported")
});
export type Exported = Read<typeof Exported>;
/** An object as large as may be: what its row's preview had no room for. */
export const Displayed = record({
  object: text,
  preview: Preview,
  type: oneOf("displayed")
});
export type Displayed = Read<typeof Displayed>;
/** A rule that would decide on calls like a waiting one. The narrowest is offered first. */
export const RuleOffer = record({
  condition: text.or(""),
  past: text.or(""),
  wrong: text.or(""),
  seen: list(text.or("")).or([]),
  squares: list(oneOf("ran", "rejected", "asks")).or([]),
  left_out: text.or("")
});
export type RuleOffer = Read<typeof RuleOffer>;
/** The rules that would decide on calls like a waiting one. */
export const Offered = record({
  call: text,
  offers: list(RuleOffer),
  type: oneOf("offered")
});
export type Offered = Read<typeof Offered>;
/** What a call would do that waits: it ran on copies, and nothing is recorded. */
export const Previewed = record({
  call: text,
  bound: text.or(""),
  number: integer.or(0),
  says: text.or(""),
  error: text.or(""),
  parts: list(PartRow).or([]),
  object: Preview.orEmpty(),
  type: oneOf("previewed")
});
export type Previewed = Read<typeof Previewed>;
export const Notice = union(Whole, Delta, Refused, Shown, Exported, Displayed, Offered, Previewed);
export type Notice = Read<typeof Notice>;

/** A call as it was shown: `bound` is its digest. */
export interface ShownCall {
  call: string;
  bound: string;
}

/** What the panel sends: the fields of each command, by its type. */
export interface Commands {
  /** Go on with more: tokens, and US dollars. */
  add_budget: {
    tokens?: number;
    cost?: number;
  };
  /** Approve exactly this call, and add the rule that was offered for it with this number. */
  add_rule: ShownCall & {
    number: number;
    scope?: "session" | "notebook" | "computer";
    until?: "run" | "today" | "removed";
  };
  /** Give the result oneself: JSON, text, or the name of an object. */
  answer: ShownCall & {
    result: unknown;
    reason?: string;
  };
  /** Approve exactly this call; one whose outcome is unknown runs again. */
  approve: ShownCall;
  /**
   * Approve exactly this call, and those that follow from it as they were approved before.
   *
   * After an edit of an earlier call these run on other objects of the same kinds, with the same
   * arguments. A call that reaches others or may delete data still waits.
   */
  approve_after_edit: ShownCall;
  /** Approve exactly these calls, which wait now; where one has changed, none is approved. */
  approve_all: {
    calls: readonly ShownCall[];
  };
  /** Ask the model again in place of the reply of a turn, on a branch of its own. */
  ask: {
    turn: number;
  };
  /** Ask the last prompt again on a branch of its own, with nothing of what is recorded. */
  begin_new: object;
  /** Let all calls of a tool wait, or no longer. */
  break: {
    tool: string;
    on?: boolean;
  };
  /** Change a rule that the person added; `name` is that of the rule with this number. */
  change_rule: {
    number: number;
    name: string;
    change: "pause" | "resume" | "remove" | "up" | "down" | "renew";
  };
  /** Check the exercise. */
  check: object;
  /** Show a branch, and continue there. */
  checkout: {
    branch: string;
  };
  /**
   * Tell how two branches differ, and tell it again as they grow, until `on` is false.
   *
   * Without their ids: those that are compared where a person has chosen none.
   */
  compare: {
    left?: string;
    right?: string;
    on?: boolean;
  };
  /**
   * The calls that the person has written so far in the model's place.
   *
   * What is new among them is checked as it would run, but with `anyway`; nothing is recorded
   * before the reply is sent: with `send` at once, and with `text`.
   */
  draft: {
    calls: readonly Written[];
    anyway?: boolean;
    send?: boolean;
    text?: string;
  };
  /** Draw the calls up to one, and what an object or a call came from. */
  draw_graph: {
    until?: number;
    selected?: string;
  };
  /**
   * Run a call with other arguments; one that has run is replayed from there.
   *
   * Where nothing changes, it approves a call that waits, runs one that failed with the tool as it
   * is now, and does nothing to another one.
   */
  edit: ShownCall & {
    arguments: Readonly<Record<string, unknown>>;
    reason?: string;
    left_out?: readonly string[];
  };
  /** Tell the session as a text of a format, such as `dot`. */
  export: {
    to: string;
  };
  /** Start a branch at a call. */
  fork: {
    call: string;
  };
  /** Guess what the model does next: a call of this tool, or with "" none. */
  guess: {
    tool?: string;
    arguments?: Readonly<Record<string, unknown>>;
  };
  /** A panel is here, and wants everything. */
  hello: object;
  /** Take a branch out of view, or with `hidden` false back into it. Nothing is deleted. */
  hide_branch: {
    branch: string;
    hidden?: boolean;
  };
  /** Keep the recorded result of a call that may have run; with `rest` all that follow too. */
  keep_result: ShownCall & {
    rest?: boolean;
  };
  /** Call a branch so. */
  name_branch: {
    branch: string;
    name: string;
  };
  /** Tell which rules would decide on calls like one that waits. */
  offer_rules: {
    call: string;
  };
  /** Do not run a call; the model gets the reason. */
  reject: ShownCall & {
    reason?: string;
  };
  /** Reject exactly these calls, which wait now; where one has changed, none is rejected. */
  reject_all: {
    calls: readonly ShownCall[];
    reason?: string;
  };
  /** Repeat the recorded events from a call on, on a branch of its own. */
  replay: {
    call: string;
  };
  /** Run until a person has to decide. */
  run: object;
  /** Reply in the model's place: with words, with calls, or with both. */
  say: {
    text?: string;
    calls?: readonly Written[];
  };
  /** Tell how two objects of a branch differ, by the ids of their rows. */
  show_difference: {
    left: string;
    right: string;
  };
  /** Tell an object as large as may be, by the id of its row. */
  show_object: {
    object: string;
  };
  /** Show the request of a turn exactly as it goes to the model. */
  show_request: {
    turn: number;
  };
  /** Go on without a guess; `rest`: without any more of them. */
  skip_guess: {
    rest?: boolean;
  };
  /** Run the next step, and pause. */
  step: object;
  /** Pause the run. */
  stop: object;
  /** Tell what a waiting call would do with other arguments, as a person types them. */
  try_edit: ShownCall & {
    number: number;
    arguments: Readonly<Record<string, unknown>>;
    left_out?: readonly string[];
  };
  /** Go back to before the last decision, which was on this call, on a branch of its own. */
  undo: {
    call: string;
  };
}
export type Command = { [Type in keyof Commands]: { type: Type } & Commands[Type] }[keyof Commands];
