export { raced } from '../raced.ts';
export { timeOfDate } from '../server-time.ts';
export { onePerConnection } from './one-store.ts';
