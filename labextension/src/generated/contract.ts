// Generated from jupyter_toolcall/view, where the docstrings are, by `npm run contract`.
import { boolean, integer, json, list, mapping, nullable, number, oneOf, record, tables, text, tuple, type Read, union } from '../view/reader';

export const VERSION = 4;

export const RepairRow = record({ call: text, object: text, is_unused: boolean.or(false), ask_turn: integer.or(0), save: text.or(""), output: text.or("") });
export type RepairRow = Read<typeof RepairRow>;
export const BudgetRow = record({
  why: text, used: integer.or(0), tokens: integer.or(0), used_cost: number.or(0), cost: number.or(0), note: text.or(""),
  more_tokens: integer.or(0), more_cost: number.or(0)
});
export type BudgetRow = Read<typeof BudgetRow>;
export const LinePair = record({
  sign: oneOf("same", "changed", "left", "right").or("same"), left: text.or(""), right: text.or(""), left_at: integer.or(0),
  right_at: integer.or(0)
});
export type LinePair = Read<typeof LinePair>;
export const CellPair = record({ row: text, column: text, left: text.or(""), right: text.or(""), left_at: integer.or(0), right_at: integer.or(0) });
export type CellPair = Read<typeof CellPair>;
export const PartRow = record({
  name: text.or(""), says: text.or(""), left: nullable(text).or(null), right: nullable(text).or(null), lines: list(LinePair).or([]),
  cells: list(CellPair).or([]), images: list(text.or("")).or([]), unfolded: boolean.or(false)
});
export type PartRow = Read<typeof PartRow>;
export const RuleRow = record({
  name: text, decision: oneOf("run", "ask", "refuse").or("run"), arguments: mapping(json).orEmpty(),
  scope: oneOf("", "session", "notebook", "computer").or(""), until: oneOf("run", "today", "removed").or("removed"), tool: text.or(""),
  says: text.or(""), ran: integer.or(0), counts: text.or(""), holds: text.or(""), made: text.or(""), paused: boolean.or(false),
  ended: text.or(""), change: list(PartRow).or([])
});
export type RuleRow = Read<typeof RuleRow>;
export const UndoRow = record({ call: text, says: text.or("") });
export type UndoRow = Read<typeof UndoRow>;
export const Told = record({ text: text, tool: text.or(""), step: integer.or(0), error: boolean.or(false) });
export type Told = Read<typeof Told>;
export const Written = record({ tool: text, arguments: mapping(json).orEmpty() });
export type Written = Read<typeof Written>;
export const YourTurn = record({
  turn: integer, prompt: text.or(""), told: list(Told).or([]), system: text.or(""), tools: list(text.or("")).or([]),
  calls: list(Written).or([])
});
export type YourTurn = Read<typeof YourTurn>;
export const SessionRow = record({
  id: text.or("session"), name: text.or(""), person: text.or(""),
  phase: oneOf("ready", "thinking", "waiting", "running", "finished", "stopped", "failed").or("ready"), holds_kernel: boolean.or(false),
  says: text.or(""), detail: text.or(""), ending: list(text.or("")).or([]), model: text.or(""), scheme: text.or(""), turn: integer.or(0),
  tokens: integer.or(0), cost: text.or(""), pending: list(text.or("")).or([]), next_call: text.or(""), can_go_back: boolean.or(false),
  recorded_calls: integer.or(0), repair: nullable(RepairRow).or(null), differs: boolean.or(false), text: text.or(""), ran: integer.or(0),
  by_rules: integer.or(0), remembered: integer.or(0), inherited: integer.or(0), offered: integer.or(0), stops: list(text.or("")).or([]),
  budget: nullable(BudgetRow).or(null), rules: list(RuleRow).or([]), undo: nullable(UndoRow).or(null), notebook_rules: text.or(""),
  yours: nullable(YourTurn).or(null)
});
export type SessionRow = Read<typeof SessionRow>;
export const CallWarning = record({
  kind: oneOf("outcome unknown", "untracked change", "lost change", "an earlier call failed", "asked before a change", "may be stale"),
  text: text, action: text
});
export type CallWarning = Read<typeof CallWarning>;
export const Use = record({ parameter: text, object: text, input: boolean.or(false) });
export type Use = Read<typeof Use>;
export const QuestionRow = record({ key: text, message: text.or(""), form: mapping(json).orEmpty(), values: mapping(json).orEmpty(), url: text.or(""), host: text.or("") });
export type QuestionRow = Read<typeof QuestionRow>;
export const OriginRow = record({
  parameter: text, says: text.or(""), trust: oneOf("untrusted", "unclear", "trusted").or("trusted"), call: text.or(""), warning: text.or(""),
  passage: list(text.or("")).or([]), elsewhere: text.or("")
});
export type OriginRow = Read<typeof OriginRow>;
export const CallRow = record({
  id: text, call: text, tool: text, step: integer, turn: integer,
  status: oneOf("proposed", "approved", "input required", "succeeded", "failed", "rejected", "answered", "interrupted", "unknown", "running").or("proposed"),
  branch: text.or(""), memory: boolean.or(false), inherited: boolean.or(false), edited: boolean.or(false), scheme: boolean.or(false),
  saves: boolean.or(false), stale: boolean.or(false), outdated: text.or(""), notes: list(text.or("")).or([]),
  warning: nullable(CallWarning).or(null), arguments: mapping(json).orEmpty(), asked: nullable(mapping(json)).or(null),
  filled: list(text.or("")).or([]), uses: list(Use).or([]), object: text.or(""), what: text.or(""), before: text.or(""), change: text.or(""),
  result: text.or(""), error: text.or(""), reason: text.or(""), ms: number.or(0), prints: text.or(""), why: text.or(""),
  again: boolean.or(false), following: integer.or(0), budget_calls: integer.or(0), may_have_run: boolean.or(false), recorded: text.or(""),
  questions: list(QuestionRow).or([]), downstream: text.or(""), approval_digest: text.or(""), same: text.or(""), by: text.or(""),
  origins: list(OriginRow).or([]), by_rule: text.or(""), wrong: mapping(text).orEmpty(), asked_tool: text.or(""),
  suggested_tool: nullable(text).or(null), changes_nothing: boolean.or(false), who: text.or("")
});
export type CallRow = Read<typeof CallRow>;
export const Preview = record({
  caption: text.or(""), text: text.or(""), fields: list(tuple(text.or(""), text.or("")), 500).or([]), columns: list(text.or(""), 500).or([]),
  cells: list(list(text.or("")), 500).or([]), rows: list(text.or(""), 500).or([]), image: text.or(""), glyph: list(text.or(""), 500).or([]),
  html: text.where(text => text.length <= 500000).or(""), lines: list(text.or(""), 500).or([]), others: text.or(""), more: boolean.or(false),
  empty_cells: list(tuple(text.or(""), text.or("")), 500).or([]), empty_columns: integer.or(0), missing: text.or(""), large: text.or("")
});
export type Preview = Read<typeof Preview>;
export const ObjectRow = record({
  id: text, name: text, kind: text, role: oneOf("input", "made", "pending", "output").or("made"), step: integer.or(0), call: text.or(""),
  branch: text.or(""), saved: text.or(""), equals: text.or(""), content: text.or(""), description: text.or(""), note: text.or(""),
  outdated: text.or(""), label: text.or(""), same: text.or(""), preview: Preview.orEmpty()
});
export type ObjectRow = Read<typeof ObjectRow>;
export const ToolRow = record({
  id: text, description: text.or(""), parameters: mapping(json).orEmpty(), read_only: boolean.or(false), for_person: boolean.or(false),
  can_change: boolean.or(false), returns: text.or(""), order: list(text.or("")).or([])
});
export type ToolRow = Read<typeof ToolRow>;
export const MessageRow = record({
  id: text, turn: integer, role: oneOf("system", "tools", "user", "session", "assistant", "call", "tool"), text: text.or(""),
  step: integer.or(0), size: integer.or(0), stale: boolean.or(false), tool: text.or("")
});
export type MessageRow = Read<typeof MessageRow>;
export const TurnRow = record({
  id: text, turn: integer, model: text.or(""), input: integer.or(0), cached: integer.or(0), output: integer.or(0), cost: text.or(""),
  ms: number.or(0), attempts: list(text.or(""), 20).or([])
});
export type TurnRow = Read<typeof TurnRow>;
export const BranchRow = record({
  id: text, name: text, current: boolean.or(false), hidden: boolean.or(false), left: text.or(""), shares: text.or(""), calls: integer.or(0),
  differs: text.or(""), ran: integer.or(0), remembered: integer.or(0), inherited: integer.or(0), ms: number.or(0), tokens: integer.or(0),
  cost: text.or(""), text: text.or(""), repeats: text.or("")
});
export type BranchRow = Read<typeof BranchRow>;
export const ChangeRow = record({
  what: oneOf("tool", "code", "argument", "status", "result", "error", "prints", "reason", "text"), name: text.or(""),
  left: list(integer).or([]), right: list(integer).or([])
});
export type ChangeRow = Read<typeof ChangeRow>;
export const ObjectPairRow = record({ left: text.or(""), right: text.or(""), same: boolean.or(false), repeated: boolean.or(false) });
export type ObjectPairRow = Read<typeof ObjectPairRow>;
export const PairRow = record({
  left: text.or(""), right: text.or(""), kind: oneOf("shared", "same", "differs").or("same"), changes: list(ChangeRow).or([]),
  made: oneOf("", "same", "differ").or(""), objects: list(ObjectPairRow).or([])
});
export type PairRow = Read<typeof PairRow>;
export const ComparisonRow = record({
  id: text, left: text.or(""), right: text.or(""), unasked: boolean.or(false), same: boolean.or(false),
  shared: integer.where(number => number >= 0).or(0), pairs: list(PairRow).or([]), text: nullable(ChangeRow).or(null)
});
export type ComparisonRow = Read<typeof ComparisonRow>;
export const DifferenceRow = record({ id: text, unknown: text.or(""), parts: list(PartRow).or([]) });
export type DifferenceRow = Read<typeof DifferenceRow>;
export const GraphNode = record({
  kind: oneOf("object", "call", "fold", "reference", "branch").or("object"), row: text.or(""), x: number.or(0), y: number.or(0),
  width: number.or(112), height: number.or(84), label: text.or(""), detail: text.or(""),
  state: oneOf("ran", "waits", "approved", "running", "failed", "rejected", "answered", "interrupted", "unknown").or("ran"),
  edited: boolean.or(false), stale: boolean.or(false), muted: boolean.or(false), dashed: boolean.or(false), flag: text.or(""),
  input: boolean.or(false)
});
export type GraphNode = Read<typeof GraphNode>;
export const GraphEdge = record({
  tail: integer, head: integer, path: text.where(text => /^[Mch\d\s.,-]*$/.test(text)).or(""), label: text.or(""), label_x: number.or(0),
  label_y: number.or(0), muted: boolean.or(false), dashed: boolean.or(false)
});
export type GraphEdge = Read<typeof GraphEdge>;
export const GraphRow = record({
  id: text.or("graph"), width: number.or(0), height: number.or(0), nodes: list(GraphNode).or([]), edges: list(GraphEdge).or([]),
  until: integer.or(0), earlier: integer.or(0), selected: text.or(""), compact: boolean.or(false), error: text.or("")
});
export type GraphRow = Read<typeof GraphRow>;
export const Mark = record({ name: text, right: boolean });
export type Mark = Read<typeof Mark>;
export const GuessRow = record({
  turn: integer.or(0), guess: nullable(Written).or(null), came: nullable(Written).or(null), step: integer.or(0), calls: integer.or(0),
  marks: list(Mark).or([]), tool: boolean.or(false), right: integer.or(0), of: integer.or(0)
});
export type GuessRow = Read<typeof GuessRow>;
export const ArgumentAnswer = record({ name: text, values: list(text.or("")).or([]), optional: boolean.or(false) });
export type ArgumentAnswer = Read<typeof ArgumentAnswer>;
export const CallAnswer = record({ call: Written, step: integer.or(0), arguments: list(ArgumentAnswer).or([]) });
export type CallAnswer = Read<typeof CallAnswer>;
export const ReplyAnswer = record({ turn: YourTurn, calls: list(CallAnswer).or([]) });
export type ReplyAnswer = Read<typeof ReplyAnswer>;
export const Task = record({ title: text, says: text.or(""), passed: boolean.or(false) });
export type Task = Read<typeof Task>;
export const TeachingRow = record({
  id: oneOf("teaching"), turn: nullable(YourTurn).or(null), score: text.or(""), guesses: list(GuessRow).or([]),
  answers: list(ReplyAnswer).or([]), task: nullable(Task).or(null)
});
export type TeachingRow = Read<typeof TeachingRow>;
export const ExtensionRow = TeachingRow;
export type ExtensionRow = Read<typeof ExtensionRow>;
export const Drop = record({ table: oneOf("objects", "branches", "comparisons"), id: text });
export type Drop = Read<typeof Drop>;
export const Rows = tables({
  session: SessionRow, calls: CallRow, objects: ObjectRow, tools: ToolRow, messages: MessageRow, turns: TurnRow, branches: BranchRow,
  comparisons: ComparisonRow, differences: DifferenceRow, graph: GraphRow, extensions: ExtensionRow, drop: Drop
});
export type Rows = Read<typeof Rows>;
export const Whole = record({ rows: Rows, live: boolean.or(true), version: integer.or(4), type: oneOf("whole") });
export type Whole = Read<typeof Whole>;
export const Delta = record({ rows: Rows, number: integer, type: oneOf("delta") });
export type Delta = Read<typeof Delta>;
export const Refused = record({ command: text, reason: text, fields: mapping(text).orEmpty(), type: oneOf("refused") });
export type Refused = Read<typeof Refused>;
export const Shown = record({ turn: integer, text: text, type: oneOf("shown") });
export type Shown = Read<typeof Shown>;
export const Exported = record({ to: text, text: text, name: text.or(""), type: oneOf("exported") });
export type Exported = Read<typeof Exported>;
export const Displayed = record({ object: text, preview: Preview, type: oneOf("displayed") });
export type Displayed = Read<typeof Displayed>;
export const RuleOffer = record({
  condition: text.or(""), past: text.or(""), wrong: text.or(""), seen: list(text.or("")).or([]),
  squares: list(oneOf("ran", "rejected", "asks")).or([]), left_out: text.or("")
});
export type RuleOffer = Read<typeof RuleOffer>;
export const Offered = record({ call: text, offers: list(RuleOffer), type: oneOf("offered") });
export type Offered = Read<typeof Offered>;
export const Previewed = record({
  call: text, approval_digest: text.or(""), number: integer.or(0), says: text.or(""), error: text.or(""), parts: list(PartRow).or([]),
  object: Preview.orEmpty(), type: oneOf("previewed")
});
export type Previewed = Read<typeof Previewed>;
export const Notice = union(Whole, Delta, Refused, Shown, Exported, Displayed, Offered, Previewed);
export type Notice = Read<typeof Notice>;

export interface RuleParts { name: string; decision?: "run" | "ask" | "refuse"; arguments?: Readonly<Record<string, unknown>>; scope?: "" | "session" | "notebook" | "computer"; until?: "run" | "today" | "removed" }

export interface ShownCall { call: string; approval_digest: string }

/** What the panel sends: the fields of each command, by its type. */
export interface Commands {
  add_budget: { tokens?: number; cost?: number; calls?: number };
  add_rule: ShownCall & { number: number; scope?: "session" | "notebook" | "computer"; until?: "run" | "today" | "removed" };
  answer: ShownCall & { result: unknown; reason?: string };
  approve: ShownCall;
  approve_after_edit: ShownCall;
  approve_all: { calls: readonly ShownCall[] };
  ask: { turn: number };
  begin_new: object;
  break: { tool: string; on?: boolean };
  change_rule: { number: number; name: string; change: "pause" | "resume" | "remove" | "up" | "down" | "renew" };
  check: object;
  checkout: { branch: string };
  compare: { left?: string; right?: string; on?: boolean };
  draft: { calls: readonly Written[]; anyway?: boolean; send?: boolean; text?: string };
  draw_graph: { until?: number; selected?: string; page?: number; compact?: boolean };
  edit: ShownCall & { arguments: Readonly<Record<string, unknown>>; reason?: string; left_out?: readonly string[]; tool?: string };
  edit_rule: { number: number; name: string; edit: RuleParts; save?: boolean };
  export: { to: string };
  fork: { call: string };
  guess: { tool?: string; arguments?: Readonly<Record<string, unknown>> };
  hello: object;
  hide_branch: { branch: string; hidden?: boolean };
  keep_result: ShownCall & { rest?: boolean };
  name_branch: { branch: string; name: string };
  offer_rules: { call: string };
  reject: ShownCall & { reason?: string };
  reject_all: { calls: readonly ShownCall[]; reason?: string };
  replay: { call: string };
  retry: ShownCall & { unchanged?: boolean };
  run: object;
  say: { text?: string; calls?: readonly Written[] };
  show_difference: { left: string; right: string };
  show_object: { object: string };
  show_request: { turn: number };
  skip_guess: { rest?: boolean };
  step: object;
  stop: object;
  try_edit: ShownCall & { number: number; arguments: Readonly<Record<string, unknown>>; left_out?: readonly string[] };
  undo: { call: string };
}
export type Command = { [Type in keyof Commands]: { type: Type } & Commands[Type] }[keyof Commands];
