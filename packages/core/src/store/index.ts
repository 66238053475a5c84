/**
 * What stores on a server have in common. A store can be written without it.
 *
 * @experimental It follows what our own stores need, and may change in a minor version.
 * @module
 */

export { abortable } from '../platform/pause.ts';
export type { Reason } from './explain.ts';
export { explain } from './explain.ts';
export { onePerConnection } from './one-store.ts';
export { timeOfDate } from './server-time.ts';
export { storeError } from './store-error.ts';
