export { abortable } from '../platform/pause.ts';
export type { Reason } from './explain.ts';
export { explain } from './explain.ts';
export { onePerConnection } from './one-store.ts';
export { timeOfDate } from './server-time.ts';
export { storeError } from './store-error.ts';
