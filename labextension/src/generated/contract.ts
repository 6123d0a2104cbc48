// Generated from jupyter_toolcall/view by `npm run contract`. Do not edit.

export type Notice = Whole | Delta | Refused | Shown | Exported | Displayed | Offered | Previewed;
export type Command =
  | Approve
  | AddRule
  | ApproveAll
  | ApproveAfterEdit
  | RejectAll
  | KeepResult
  | Edit
  | Reject
  | Answer
  | Draft
  | Say
  | ChangeRule
  | AddBudget
  | Hello
  | BeginNew
  | Step
  | Run
  | Stop
  | Replay
  | Fork
  | Undo
  | Ask
  | Break
  | TryEdit
  | Checkout
  | NameBranch
  | HideBranch
  | Compare
  | DrawGraph
  | ShowObject
  | ShowDifference
  | ShowRequest
  | OfferRules
  | Export
  | Guess
  | SkipGuess
  | Check;

/** Go on with more: tokens, and US dollars. */
export interface AddBudget {
  tokens?: number;
  cost?: number;
  type: 'add_budget';
}
/** Approve exactly this call, and add the rule that was offered for it with this number. */
export interface AddRule {
  call: string;
  bound: string;
  number: number;
  scope?: 'session' | 'notebook' | 'computer';
  until?: 'run' | 'today' | 'removed';
  type: 'add_rule';
}
/** Give the result oneself: JSON, text, or the name of an object. */
export interface Answer {
  call: string;
  bound: string;
  result: unknown;
  reason?: string;
  type: 'answer';
}
/** Approve exactly this call; one whose outcome is unknown runs again. */
export interface Approve {
  call: string;
  bound: string;
  type: 'approve';
}
/**
 * Approve exactly this call, and those that follow from it as they were approved before.
 *
 * After an edit of an earlier call these run on other objects of the same kinds, with the same
 * arguments. A call that reaches others or may delete data still waits.
 */
export interface ApproveAfterEdit {
  call: string;
  bound: string;
  type: 'approve_after_edit';
}
/** Approve exactly these calls, which wait now; where one has changed, none is approved. */
export interface ApproveAll {
  calls: ShownCall[];
  type: 'approve_all';
}
/** A call as it was shown: `bound` is its digest. */
export interface ShownCall {
  call: string;
  bound: string;
}
/** What counts as right for one argument of a recorded call. */
export interface ArgumentAnswer {
  name: string;
  values?: string[];
  left_out?: boolean;
  optional?: boolean;
}
/** Ask the model again in place of the reply of a turn, on a branch of its own. */
export interface Ask {
  turn: number;
  type: 'ask';
}
/** Ask the last prompt again on a branch of its own, with nothing of what is recorded. */
export interface BeginNew {
  type: 'begin_new';
}
/** A branch: a head of the journal. `id` is the head's entry id. */
export interface BranchRow {
  id: string;
  name: string;
  current?: boolean;
  hidden?: boolean;
  left?: string;
  shares?: string;
  calls?: number;
  differs?: string | unknown[];
  ran?: number;
  remembered?: number;
  ms?: number;
  tokens?: number;
  cost?: string;
  text?: string;
}
/** Let all calls of a tool wait, or no longer. */
export interface Break {
  tool: string;
  on?: boolean;
  type: 'break';
}
/** What a session that is paused for its budget has used. */
export interface BudgetRow {
  why: string | unknown[];
  used?: number;
  tokens?: number;
  used_cost?: number;
  cost?: number;
  note?: string | unknown[];
}
/** A recorded call, and what counts as right for its arguments. */
export interface CallAnswer {
  call: Written;
  step?: number;
  arguments?: ArgumentAnswer[];
}
/** A call that the person has written in the model's place. */
export interface Written {
  tool: string;
  arguments?: {
    [k: string]: unknown;
  };
}
/** A step. `id` is unique over all branches. */
export interface CallRow {
  id: string;
  call: string;
  tool: string;
  step: number;
  turn: number;
  status?:
    | (
        | 'proposed'
        | 'approved'
        | 'input required'
        | 'succeeded'
        | 'failed'
        | 'rejected'
        | 'answered'
        | 'interrupted'
        | 'unknown'
      )
    | 'running';
  branch?: string;
  memory?: boolean;
  edited?: boolean;
  scheme?: boolean;
  saves?: boolean;
  stale?: boolean;
  outdated?: string | unknown[];
  notes?: (string | unknown[])[];
  warning?: CallWarning | null;
  arguments?: {
    [k: string]: unknown;
  };
  asked?: {
    [k: string]: unknown;
  } | null;
  filled?: string[];
  uses?: Use[];
  object?: string;
  what?: string | unknown[];
  before?: string;
  change?: string | unknown[];
  result?: string;
  error?: string | unknown[];
  reason?: string;
  ms?: number;
  prints?: string;
  why?: string | unknown[];
  again?: boolean;
  following?: number;
  may_have_run?: boolean;
  recorded?: string;
  questions?: QuestionRow[];
  downstream?: string | unknown[];
  bound?: string;
  same?: string;
  by?: string;
  origins?: OriginRow[];
  by_rule?: string;
  who?: string;
}
/** What a person is warned of at a call: its mark stands at the step, the node and the card. */
export interface CallWarning {
  kind: 'outcome unknown' | 'untracked change' | 'lost change' | 'an earlier call failed' | 'may be stale';
  text: string | unknown[];
  action: string | unknown[];
}
/** An argument of a call that names an object: an edge of the graph. */
export interface Use {
  parameter: string;
  object: string;
  input?: boolean;
}
/** What a running tool asks the person: a form, or a page to open. */
export interface QuestionRow {
  key: string;
  message?: string;
  form?: {
    [k: string]: unknown;
  };
  values?: {
    [k: string]: unknown;
  };
  url?: string;
  host?: string;
}
/** Where the value of an argument of a waiting call came from. */
export interface OriginRow {
  parameter: string;
  says?: string | unknown[];
  trust?: 'untrusted' | 'unclear' | 'trusted';
  call?: string;
  warning?: string | unknown[];
  passage?: string[];
}
/** A cell in which two tables differ. */
export interface CellPair {
  row: string;
  column: string;
  left?: string;
  right?: string;
  left_at?: number;
  right_at?: number;
}
/** Something in which two calls differ; `text` is what the model said last on two branches. */
export interface ChangeRow {
  what: 'tool' | 'argument' | 'status' | 'result' | 'error' | 'prints' | 'reason' | 'text';
  name?: string;
  left?: number[];
  right?: number[];
}
/** Change a rule that the person added; `name` is that of the rule with this number. */
export interface ChangeRule {
  number: number;
  name: string;
  change: 'pause' | 'resume' | 'remove' | 'up' | 'down';
  type: 'change_rule';
}
/** Check the exercise. */
export interface Check {
  type: 'check';
}
/** Show a branch, and continue there. */
export interface Checkout {
  branch: string;
  type: 'checkout';
}
/**
 * Tell how two branches differ, and tell it again as they grow, until `on` is false.
 *
 * Without their ids: those that are compared where a person has chosen none.
 */
export interface Compare {
  left?: string;
  right?: string;
  on?: boolean;
  type: 'compare';
}
/** Two branches, call by call. */
export interface ComparisonRow {
  id: string;
  left?: string;
  right?: string;
  unasked?: boolean;
  same?: boolean;
  shared?: number;
  pairs?: PairRow[];
  text?: ChangeRow | null;
}
/** Two calls side by side, by the ids of their rows; "" where there is none. */
export interface PairRow {
  left?: string;
  right?: string;
  kind?: 'shared' | 'same' | 'differs';
  changes?: ChangeRow[];
  made?: '' | 'same' | 'differ';
  objects?: ObjectPairRow[];
}
/** Two objects side by side, by the ids of their rows; "" where there is none. */
export interface ObjectPairRow {
  left?: string;
  right?: string;
  same?: boolean;
  repeated?: boolean;
}
/**
 * The rows that changed since the last message; after a gap in `number` the panel asks for all
 * rows.
 */
export interface Delta {
  rows: Rows;
  number: number;
  type: 'delta';
}
/** Rows to put, table by table, and rows to drop. */
export interface Rows {
  session?: SessionRow[];
  calls?: CallRow[];
  objects?: ObjectRow[];
  tools?: ToolRow[];
  messages?: MessageRow[];
  turns?: TurnRow[];
  branches?: BranchRow[];
  comparisons?: ComparisonRow[];
  differences?: DifferenceRow[];
  graph?: GraphRow[];
  extensions?: TeachingRow[];
  drop?: Drop[];
}
/** The session itself. There is one, with id `session`. */
export interface SessionRow {
  id?: string;
  name?: string;
  phase?: 'ready' | 'thinking' | 'waiting' | 'running' | 'finished' | 'stopped' | 'failed';
  says?: string | unknown[];
  detail?: string | unknown[];
  ending?: (string | unknown[])[];
  model?: string;
  scheme?: string;
  turn?: number;
  tokens?: number;
  cost?: string;
  pending?: string[];
  text?: string;
  ran?: number;
  remembered?: number;
  stops?: string[];
  budget?: BudgetRow | null;
  rules?: RuleRow[];
  undo?: UndoRow | null;
  notebook_rules?: string;
  yours?: YourTurn | null;
}
/** A rule that the person added, and how it stands. */
export interface RuleRow {
  name: string;
  decision?: 'run' | 'ask' | 'refuse';
  says?: string | unknown[];
  ran?: number;
  holds?: string | unknown[];
  made?: string | unknown[];
  paused?: boolean;
  ended?: string | unknown[];
}
/** The last decision of a branch, which can be undone. */
export interface UndoRow {
  call: string;
  says?: string | unknown[];
}
/** The person plays the model, and it is the model's turn: what a model would be sent. */
export interface YourTurn {
  turn: number;
  prompt?: string;
  told?: Told[];
  system?: string;
  tools?: string[];
  calls?: Written[];
}
/** Something new in the request: the result of a call, or other text. */
export interface Told {
  text: string;
  tool?: string;
  step?: number;
  error?: boolean;
}
/** An object. `id` is unique over all branches, `name` in its branch only. */
export interface ObjectRow {
  id: string;
  name: string;
  kind: string;
  role?: 'input' | 'made' | 'pending' | 'output';
  step?: number;
  call?: string;
  branch?: string;
  saved?: string;
  equals?: string;
  content?: string;
  description?: string;
  note?: string | unknown[];
  outdated?: string | unknown[];
  label?: string;
  same?: string;
  preview?: Preview;
}
/** A small picture of an object; every part is optional and size-capped. */
export interface Preview {
  caption?: string | unknown[];
  text?: string | unknown[];
  fields?: [string, string][];
  columns?: string[];
  cells?: string[][];
  image?: string;
  glyph?: string[];
  html?: string;
  more?: boolean;
  missing?: string | unknown[];
  large?: string | unknown[];
}
/** A tool, for the edit form and the card. `id` is its name. */
export interface ToolRow {
  id: string;
  description?: string;
  parameters?: {
    [k: string]: unknown;
  };
  read_only?: boolean;
  for_person?: boolean;
  returns?: string;
  order?: string[];
}
/** A part of the conversation: what the model was told, and what it said. */
export interface MessageRow {
  id: string;
  turn: number;
  role: 'system' | 'tools' | 'user' | 'session' | 'assistant' | 'call' | 'tool';
  text?: string | unknown[];
  step?: number;
  size?: number;
  stale?: boolean;
  tool?: string;
}
/** What a request to the model took. `id` is the reply's. */
export interface TurnRow {
  id: string;
  turn: number;
  model?: string;
  input?: number;
  cached?: number;
  output?: number;
  cost?: string;
  ms?: number;
  attempts?: (string | unknown[])[];
}
/** How the values of two objects differ. `id` is their rows' ids: `LEFT RIGHT`. */
export interface DifferenceRow {
  id: string;
  unknown?: string | unknown[];
  parts?: PartRow[];
}
/** A part of two values that differs: in words, or as texts, lines, cells, pictures. */
export interface PartRow {
  name?: string;
  says?: string | unknown[];
  left?: string | null;
  right?: string | null;
  lines?: LinePair[];
  cells?: CellPair[];
  images?: string[];
}
/** A line of two texts side by side; `sign` says which side has it, or whether it changed. */
export interface LinePair {
  sign?: 'same' | 'changed' | 'left' | 'right';
  left?: string;
  right?: string;
  left_at?: number;
  right_at?: number;
}
/** The drawing. There is one, with id `graph`. */
export interface GraphRow {
  id?: string;
  width?: number;
  height?: number;
  nodes?: GraphNode[];
  edges?: GraphEdge[];
  until?: number;
  earlier?: number;
  selected?: string;
  error?: string | unknown[];
}
/** A box (an object, or the earlier calls) or a pill (a call), with a row of its own. */
export interface GraphNode {
  kind?: 'object' | 'call' | 'earlier';
  row?: string;
  x?: number;
  y?: number;
  width?: number;
  height?: number;
  label?: string | unknown[];
  detail?: string | unknown[];
  state?: 'ran' | 'waits' | 'running' | 'failed' | 'rejected' | 'answered' | 'interrupted' | 'unknown';
  edited?: boolean;
  stale?: boolean;
  muted?: boolean;
  dashed?: boolean;
  flag?: string;
  input?: boolean;
}
/**
 * From an object to a call that takes it, or from a call to an object that it made.
 *
 * There is at most one from a node to another.
 */
export interface GraphEdge {
  tail: number;
  head: number;
  path?: string;
  label?: string;
  label_x?: number;
  label_y?: number;
  muted?: boolean;
  dashed?: boolean;
}
/** What teaching shows of a session. */
export interface TeachingRow {
  id?: 'teaching';
  turn?: YourTurn | null;
  score?: string | unknown[];
  guesses?: GuessRow[];
  answers?: ReplyAnswer[];
  task?: Task | null;
}
/** A guess of what the model does next, beside what it did. Notebooks do not save it. */
export interface GuessRow {
  id: string;
  turn: number;
  guess?: Written | null;
  came?: Written | null;
  step?: number;
  calls?: number;
  marks?: Mark[];
  tool?: boolean;
  right?: number;
  of?: number;
}
/** An argument of a guess, and whether it was right. */
export interface Mark {
  name: string;
  right: boolean;
}
/** A recorded reply that a page without a kernel asks for, and what the model was sent. */
export interface ReplyAnswer {
  turn: YourTurn;
  calls?: CallAnswer[];
}
/** An exercise that the session is for: the panel offers to check it. */
export interface Task {
  title: string;
  says?: string | unknown[];
  passed?: boolean;
}
/** A row to drop. */
export interface Drop {
  table: 'objects' | 'branches' | 'comparisons';
  id: string;
}
/** An object as large as may be: what its row's preview had no room for. */
export interface Displayed {
  object: string;
  preview: Preview;
  type: 'displayed';
}
/**
 * The calls that the person has written so far in the model's place.
 *
 * What is new among them is checked as it would run, but with `anyway`; nothing is recorded
 * before the reply is sent: with `send` at once, and with `text`.
 */
export interface Draft {
  calls: Written[];
  anyway?: boolean;
  send?: boolean;
  text?: string;
  type: 'draft';
}
/** Draw the calls up to one, and what an object or a call came from. */
export interface DrawGraph {
  until?: number;
  selected?: string;
  type: 'draw_graph';
}
/**
 * Run a call with other arguments; one that has run is replayed from there.
 *
 * Where nothing changes, it approves a call that waits, runs one that failed with the tool as it
 * is now, and does nothing to another one.
 */
export interface Edit {
  call: string;
  bound: string;
  arguments: {
    [k: string]: unknown;
  };
  reason?: string;
  left_out?: string[];
  type: 'edit';
}
/** Tell the session as a text of a format, such as `dot`. */
export interface Export {
  to: string;
  type: 'export';
}
/** The session as a text of a format that it can be exported to. */
export interface Exported {
  to: string;
  text: string;
  type: 'exported';
}
/** Start a branch at a call. */
export interface Fork {
  call: string;
  type: 'fork';
}
/** Guess what the model does next: a call of this tool, or with "" none. */
export interface Guess {
  tool?: string;
  arguments?: {
    [k: string]: unknown;
  };
  type: 'guess';
}
/** A panel is here, and wants everything. */
export interface Hello {
  type: 'hello';
}
/** Take a branch out of view, or with `hidden` false back into it. Nothing is deleted. */
export interface HideBranch {
  branch: string;
  hidden?: boolean;
  type: 'hide_branch';
}
/** Keep the recorded result of a call that may have run; with `rest` all that follow too. */
export interface KeepResult {
  call: string;
  bound: string;
  rest?: boolean;
  type: 'keep_result';
}
/** Call a branch so. */
export interface NameBranch {
  branch: string;
  name: string;
  type: 'name_branch';
}
/** Tell which rules would decide on calls like one that waits. */
export interface OfferRules {
  call: string;
  type: 'offer_rules';
}
/** The rules that would decide on calls like a waiting one. */
export interface Offered {
  call: string;
  offers: RuleOffer[];
  type: 'offered';
}
/** A rule that would decide on calls like a waiting one. The narrowest is offered first. */
export interface RuleOffer {
  condition?: string | unknown[];
  past?: string | unknown[];
  wrong?: string | unknown[];
  seen?: (string | unknown[])[];
  squares?: ('ran' | 'rejected' | 'asks')[];
  left_out?: string;
}
/** What a call would do that waits: it ran on copies, and nothing is recorded. */
export interface Previewed {
  call: string;
  bound?: string;
  number?: number;
  says?: string | unknown[];
  error?: string | unknown[];
  parts?: PartRow[];
  object?: Preview;
  type: 'previewed';
}
/** A command was not carried out; `fields` says which arguments are wrong, and how. */
export interface Refused {
  command: string;
  reason: string;
  fields?: {
    [k: string]: string;
  };
  type: 'refused';
}
/** Do not run a call; the model gets the reason. */
export interface Reject {
  call: string;
  bound: string;
  reason?: string;
  type: 'reject';
}
/** Reject exactly these calls, which wait now; where one has changed, none is rejected. */
export interface RejectAll {
  calls: ShownCall[];
  reason?: string;
  type: 'reject_all';
}
/** Repeat the recorded events from a call on, on a branch of its own. */
export interface Replay {
  call: string;
  type: 'replay';
}
/** Run until a person has to decide. */
export interface Run {
  type: 'run';
}
/** The notebook output (application/vnd.jupyter-toolcall.session+json). */
export interface Saved {
  rows: {
    [k: string]: string[];
  };
  journal: {
    [k: string]: unknown;
  };
  version?: number;
}
/** Reply in the model's place: with words, with calls, or with both. */
export interface Say {
  text?: string;
  calls?: Written[];
  type: 'say';
}
/** Tell how two objects of a branch differ, by the ids of their rows. */
export interface ShowDifference {
  left: string;
  right: string;
  type: 'show_difference';
}
/** Tell an object as large as may be, by the id of its row. */
export interface ShowObject {
  object: string;
  type: 'show_object';
}
/** Show the request of a turn exactly as it goes to the model. */
export interface ShowRequest {
  turn: number;
  type: 'show_request';
}
/** The request of a turn, exactly as it goes to the model: JSON as text. */
export interface Shown {
  turn: number;
  text: string;
  type: 'shown';
}
/** Go on without a guess; `rest`: without any more of them. */
export interface SkipGuess {
  rest?: boolean;
  type: 'skip_guess';
}
/** Run the next step, and pause. */
export interface Step {
  type: 'step';
}
/** Pause the run. */
export interface Stop {
  type: 'stop';
}
/** Tell what a waiting call would do with other arguments, as a person types them. */
export interface TryEdit {
  call: string;
  bound: string;
  number: number;
  arguments: {
    [k: string]: unknown;
  };
  left_out?: string[];
  type: 'try_edit';
}
/** Go back to before the last decision, which was on this call, on a branch of its own. */
export interface Undo {
  call: string;
  type: 'undo';
}
/** Everything that there is to see: sent when a panel connects. */
export interface Whole {
  rows: Rows;
  live?: boolean;
  version?: number;
  type: 'whole';
}

/** A row with all of its fields, and so the rows in it: what was left out has its default.
 * A text that is sent as a list is a text in the language of the page. */
export type Full<Row> =
  Row extends readonly unknown[]
    ? (unknown[] extends Row ? never : { readonly [Key in keyof Row]-?: Full<Row[Key]> })
    : Row extends object ? { readonly [Key in keyof Row]-?: Full<Row[Key]> } : Row;
export type FullBranch = Full<BranchRow>;
export type FullBudget = Full<BudgetRow>;
export type FullCall = Full<CallRow>;
export type FullChange = Full<ChangeRow>;
export type FullComparison = Full<ComparisonRow>;
export type FullDifference = Full<DifferenceRow>;
export type FullGraph = Full<GraphRow>;
export type FullGuess = Full<GuessRow>;
export type FullMessage = Full<MessageRow>;
export type FullObjectPair = Full<ObjectPairRow>;
export type FullObject = Full<ObjectRow>;
export type FullOrigin = Full<OriginRow>;
export type FullPair = Full<PairRow>;
export type FullPart = Full<PartRow>;
export type FullQuestion = Full<QuestionRow>;
export type FullRule = Full<RuleRow>;
export type FullSession = Full<SessionRow>;
export type FullTeaching = Full<TeachingRow>;
export type FullTool = Full<ToolRow>;
export type FullTurn = Full<TurnRow>;
export type FullUndo = Full<UndoRow>;

export const VERSION = 4;

export const DEFAULTS = {
  "AddBudget": {
    "tokens": 0,
    "cost": 0,
    "type": "add_budget"
  },
  "AddRule": {
    "scope": "session",
    "until": "run",
    "type": "add_rule"
  },
  "Answer": {
    "reason": "",
    "type": "answer"
  },
  "Approve": {
    "type": "approve"
  },
  "ApproveAfterEdit": {
    "type": "approve_after_edit"
  },
  "ApproveAll": {
    "type": "approve_all"
  },
  "ArgumentAnswer": {
    "values": [],
    "left_out": false,
    "optional": false
  },
  "Ask": {
    "type": "ask"
  },
  "BeginNew": {
    "type": "begin_new"
  },
  "BranchRow": {
    "current": false,
    "hidden": false,
    "left": "",
    "shares": "",
    "calls": 0,
    "differs": "",
    "ran": 0,
    "remembered": 0,
    "ms": 0,
    "tokens": 0,
    "cost": "",
    "text": ""
  },
  "Break": {
    "on": true,
    "type": "break"
  },
  "BudgetRow": {
    "used": 0,
    "tokens": 0,
    "used_cost": 0,
    "cost": 0,
    "note": ""
  },
  "CallAnswer": {
    "step": 0,
    "arguments": []
  },
  "CallRow": {
    "status": "proposed",
    "branch": "",
    "memory": false,
    "edited": false,
    "scheme": false,
    "saves": false,
    "stale": false,
    "outdated": "",
    "notes": [],
    "warning": null,
    "asked": null,
    "filled": [],
    "uses": [],
    "object": "",
    "what": "",
    "before": "",
    "change": "",
    "result": "",
    "error": "",
    "reason": "",
    "ms": 0,
    "prints": "",
    "why": "",
    "again": false,
    "following": 0,
    "may_have_run": false,
    "recorded": "",
    "questions": [],
    "downstream": "",
    "bound": "",
    "same": "",
    "by": "",
    "origins": [],
    "by_rule": "",
    "who": "",
    "arguments": {}
  },
  "CellPair": {
    "left": "",
    "right": "",
    "left_at": 0,
    "right_at": 0
  },
  "ChangeRow": {
    "name": "",
    "left": [],
    "right": []
  },
  "ChangeRule": {
    "type": "change_rule"
  },
  "Check": {
    "type": "check"
  },
  "Checkout": {
    "type": "checkout"
  },
  "Compare": {
    "left": "",
    "right": "",
    "on": true,
    "type": "compare"
  },
  "ComparisonRow": {
    "left": "",
    "right": "",
    "unasked": false,
    "same": false,
    "shared": 0,
    "pairs": [],
    "text": null
  },
  "Delta": {
    "type": "delta"
  },
  "DifferenceRow": {
    "unknown": "",
    "parts": []
  },
  "Displayed": {
    "type": "displayed"
  },
  "Draft": {
    "anyway": false,
    "send": false,
    "text": "",
    "type": "draft"
  },
  "DrawGraph": {
    "until": 0,
    "selected": "",
    "type": "draw_graph"
  },
  "Edit": {
    "reason": "",
    "left_out": [],
    "type": "edit"
  },
  "Export": {
    "type": "export"
  },
  "Exported": {
    "type": "exported"
  },
  "Fork": {
    "type": "fork"
  },
  "GraphEdge": {
    "path": "",
    "label": "",
    "label_x": 0,
    "label_y": 0,
    "muted": false,
    "dashed": false
  },
  "GraphNode": {
    "kind": "object",
    "row": "",
    "x": 0,
    "y": 0,
    "width": 112,
    "height": 84,
    "label": "",
    "detail": "",
    "state": "ran",
    "edited": false,
    "stale": false,
    "muted": false,
    "dashed": false,
    "flag": "",
    "input": false
  },
  "GraphRow": {
    "id": "graph",
    "width": 0,
    "height": 0,
    "nodes": [],
    "edges": [],
    "until": 0,
    "earlier": 0,
    "selected": "",
    "error": ""
  },
  "Guess": {
    "tool": "",
    "type": "guess",
    "arguments": {}
  },
  "GuessRow": {
    "guess": null,
    "came": null,
    "step": 0,
    "calls": 0,
    "marks": [],
    "tool": false,
    "right": 0,
    "of": 0
  },
  "Hello": {
    "type": "hello"
  },
  "HideBranch": {
    "hidden": true,
    "type": "hide_branch"
  },
  "KeepResult": {
    "rest": false,
    "type": "keep_result"
  },
  "LinePair": {
    "sign": "same",
    "left": "",
    "right": "",
    "left_at": 0,
    "right_at": 0
  },
  "MessageRow": {
    "text": "",
    "step": 0,
    "size": 0,
    "stale": false,
    "tool": ""
  },
  "NameBranch": {
    "type": "name_branch"
  },
  "ObjectPairRow": {
    "left": "",
    "right": "",
    "same": false,
    "repeated": false
  },
  "ObjectRow": {
    "role": "made",
    "step": 0,
    "call": "",
    "branch": "",
    "saved": "",
    "equals": "",
    "content": "",
    "description": "",
    "note": "",
    "outdated": "",
    "label": "",
    "same": ""
  },
  "OfferRules": {
    "type": "offer_rules"
  },
  "Offered": {
    "type": "offered"
  },
  "OriginRow": {
    "says": "",
    "trust": "trusted",
    "call": "",
    "warning": "",
    "passage": []
  },
  "PairRow": {
    "left": "",
    "right": "",
    "kind": "same",
    "changes": [],
    "made": "",
    "objects": []
  },
  "PartRow": {
    "name": "",
    "says": "",
    "left": null,
    "right": null,
    "lines": [],
    "cells": [],
    "images": []
  },
  "Preview": {
    "caption": "",
    "text": "",
    "fields": [],
    "columns": [],
    "cells": [],
    "image": "",
    "glyph": [],
    "html": "",
    "more": false,
    "missing": "",
    "large": ""
  },
  "Previewed": {
    "bound": "",
    "number": 0,
    "says": "",
    "error": "",
    "parts": [],
    "type": "previewed"
  },
  "QuestionRow": {
    "message": "",
    "url": "",
    "host": "",
    "form": {},
    "values": {}
  },
  "Refused": {
    "type": "refused",
    "fields": {}
  },
  "Reject": {
    "reason": "",
    "type": "reject"
  },
  "RejectAll": {
    "reason": "",
    "type": "reject_all"
  },
  "Replay": {
    "type": "replay"
  },
  "ReplyAnswer": {
    "calls": []
  },
  "Rows": {
    "session": [],
    "calls": [],
    "objects": [],
    "tools": [],
    "messages": [],
    "turns": [],
    "branches": [],
    "comparisons": [],
    "differences": [],
    "graph": [],
    "extensions": [],
    "drop": []
  },
  "RuleOffer": {
    "condition": "",
    "past": "",
    "wrong": "",
    "seen": [],
    "squares": [],
    "left_out": ""
  },
  "RuleRow": {
    "decision": "run",
    "says": "",
    "ran": 0,
    "holds": "",
    "made": "",
    "paused": false,
    "ended": ""
  },
  "Run": {
    "type": "run"
  },
  "Saved": {
    "version": 4
  },
  "Say": {
    "text": "",
    "calls": [],
    "type": "say"
  },
  "SessionRow": {
    "id": "session",
    "name": "",
    "phase": "ready",
    "says": "",
    "detail": "",
    "ending": [],
    "model": "",
    "scheme": "",
    "turn": 0,
    "tokens": 0,
    "cost": "",
    "pending": [],
    "text": "",
    "ran": 0,
    "remembered": 0,
    "stops": [],
    "budget": null,
    "rules": [],
    "undo": null,
    "notebook_rules": "",
    "yours": null
  },
  "ShowDifference": {
    "type": "show_difference"
  },
  "ShowObject": {
    "type": "show_object"
  },
  "ShowRequest": {
    "type": "show_request"
  },
  "Shown": {
    "type": "shown"
  },
  "SkipGuess": {
    "rest": false,
    "type": "skip_guess"
  },
  "Step": {
    "type": "step"
  },
  "Stop": {
    "type": "stop"
  },
  "Task": {
    "says": "",
    "passed": false
  },
  "TeachingRow": {
    "id": "teaching",
    "turn": null,
    "score": "",
    "guesses": [],
    "answers": [],
    "task": null
  },
  "Told": {
    "tool": "",
    "step": 0,
    "error": false
  },
  "ToolRow": {
    "description": "",
    "read_only": false,
    "for_person": false,
    "returns": "",
    "order": [],
    "parameters": {}
  },
  "TryEdit": {
    "left_out": [],
    "type": "try_edit"
  },
  "TurnRow": {
    "model": "",
    "input": 0,
    "cached": 0,
    "output": 0,
    "cost": "",
    "ms": 0,
    "attempts": []
  },
  "Undo": {
    "type": "undo"
  },
  "UndoRow": {
    "says": ""
  },
  "Use": {
    "input": false
  },
  "Whole": {
    "live": true,
    "version": 4,
    "type": "whole"
  },
  "Written": {
    "arguments": {}
  },
  "YourTurn": {
    "prompt": "",
    "told": [],
    "system": "",
    "tools": [],
    "calls": []
  }
} as const;
