// Logs the events of a client with winston.
import type { ServiceAuth } from '@service-auth/core';
import type { Logger } from 'winston';
import { levelOf } from './levels.ts';

export function logEvents(auth: ServiceAuth, logger: Logger): () => void {
  return auth.subscribe(({ type, ...fields }) => void logger.log(levelOf(type), `service-auth: ${type}`, fields));
}
