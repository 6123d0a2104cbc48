/** Where a notebook has sessions: cells and their outputs, read. Only pure functions live here. */
import type { ICodeCellModel, ICellModel } from '@jupyterlab/cells';
import type { INotebookModel } from '@jupyterlab/notebook';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { SESSION } from '../saved';
import { panelIn, type PanelName } from './wire';

/** A cell with a session: its panel, as its kernel told of it, and what is saved of it. */
export interface Found {
  readonly cell: ICodeCellModel;
  readonly live: PanelName | null;
  /** The bundle of the output that is saved, the same object as long as that output stays. */
  readonly saved: ReadonlyPartialJSONObject | null;
}

const isCode = (cell: ICellModel): cell is ICodeCellModel => cell.type === 'code';

/** The session of a cell. A panel counts only where the output is trusted; the saved one comes last. */
export function sessionOf(cell: ICellModel): Found | null {
  if (!isCode(cell)) return null;
  let [live, saved]: [PanelName | null, ReadonlyPartialJSONObject | null] = [null, null];
  for (let at = 0; at < cell.outputs.length; at++) {
    const output = cell.outputs.get(at);
    // Not `output.data`, which is a copy each time.
    const data = (output.toJSON().data ?? {}) as ReadonlyPartialJSONObject;
    if (data[SESSION] !== undefined) saved = data;
    else if (output.trusted) live = panelIn(data) ?? live;
  }
  return live || saved ? { cell, live, saved } : null;
}

/** Every cell with a session, from the top. */
export const sessionsIn = (model: INotebookModel): Found[] =>
  [...model.cells].flatMap(cell => sessionOf(cell) ?? []);

export const panelsIn = (model: INotebookModel): string[] =>
  sessionsIn(model).flatMap(found => found.live?.panel ?? []);

const when = ({ cell }: Found): number =>
  cell.executionState === 'running' ? Infinity : (cell.executionCount ?? 0);

/** The session of the cell that runs, or else of the one that ran last. */
export const newestIn = (model: INotebookModel): Found | null =>
  sessionsIn(model).reduce<Found | null>((last, found) => (last && when(last) > when(found) ? last : found), null);

/** The session of the cell with this id. */
export const sessionAt = (model: INotebookModel, id: string): Found | null =>
  sessionsIn(model).find(found => found.cell.id === id) ?? null;

/** The cell in which a panel stands. */
export const cellOf = (model: INotebookModel, panel: string): ICodeCellModel | null =>
  sessionsIn(model).find(found => found.live?.panel === panel)?.cell ?? null;
