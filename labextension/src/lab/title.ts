/** How a cell's session is called: by its number, and by what was asked. */
import type { ICodeCellModel } from '@jupyterlab/cells';
import { line } from '../view/text';

const MAGIC = /^\s*%%?toolchat\b.*$/m;

export function titleOf({ executionCount, executionState, sharedModel }: ICodeCellModel): string {
  const asked = sharedModel.getSource().replace(MAGIC, '').trim();
  const number = executionState === 'running' ? '*' : (executionCount ?? ' ');
  return `[${number}] ${line(asked.split('\n')[0] ?? '', 60)}`.trim();
}
