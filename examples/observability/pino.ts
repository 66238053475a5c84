// Logs the events of a client with pino.
import type { ServiceAuth } from '@service-auth/core';
import type { Logger } from 'pino';
import { levelOf } from './levels.ts';

export function logEvents(auth: ServiceAuth, logger: Logger): () => void {
  return auth.subscribe(({ type, ...fields }) => logger[levelOf(type)](fields, `service-auth: ${type}`));
}
