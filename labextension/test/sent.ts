/** What a kernel sends: rows without the fields that have their standards. */
import type * as contract from '../src/generated/contract';

export type BranchRow = (typeof contract.BranchRow)['sent'];
export type CallRow = (typeof contract.CallRow)['sent'];
export type ComparisonRow = (typeof contract.ComparisonRow)['sent'];
export type DifferenceRow = (typeof contract.DifferenceRow)['sent'];
export type GraphEdge = (typeof contract.GraphEdge)['sent'];
export type GraphNode = (typeof contract.GraphNode)['sent'];
export type GraphRow = (typeof contract.GraphRow)['sent'];
export type GuessRow = (typeof contract.GuessRow)['sent'];
export type MessageRow = (typeof contract.MessageRow)['sent'];
export type ObjectRow = (typeof contract.ObjectRow)['sent'];
export type PairRow = (typeof contract.PairRow)['sent'];
export type QuestionRow = (typeof contract.QuestionRow)['sent'];
export type TeachingRow = (typeof contract.TeachingRow)['sent'];
export type TurnRow = (typeof contract.TurnRow)['sent'];
export type YourTurn = (typeof contract.YourTurn)['sent'];

type Tables = (typeof contract.Rows)['rows'];
export type Rows = { [Table in keyof Tables]?: Tables[Table]['sent'][] };
