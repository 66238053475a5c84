export type { InstrumentationOptions } from './instrument-service-auth.ts';
export { eventChannelName, instrumentServiceAuth } from './instrument-service-auth.ts';
