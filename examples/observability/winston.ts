// Logs the events of a client with winston.
import { eventLevel, type ServiceAuth } from '@service-auth/core';
import type { Logger } from 'winston';

export function logEvents(auth: ServiceAuth, logger: Logger): () => void {
  return auth.subscribe((event) => {
    const { type, ...fields } = event;
    logger.log(eventLevel(event), `service-auth: ${type}`, fields);
  });
}
