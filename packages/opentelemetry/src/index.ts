export type { InstrumentationOptions } from './instrument-service-auth.ts';
export { instrumentServiceAuth } from './instrument-service-auth.ts';
