/** The model: what a person may see. */
export { EMPTY, fold, together } from './fold';
export { fullCall, fullObject } from './reading';
export type * from './shapes';
