export { raced } from '../raced.ts';
export type { AwsCommand } from '../server-time.ts';
export { answerTimeOf, timeOfDate } from '../server-time.ts';
export { onePerConnection } from './one-store.ts';
