// Logs the events of a client with pino.
import { eventLevel, type ServiceAuth } from '@service-auth/core';
import type { Logger } from 'pino';

export function logEvents(auth: ServiceAuth, logger: Logger): () => void {
  return auth.subscribe((event) => {
    const { type, ...fields } = event;
    logger[eventLevel(event)](fields, `service-auth: ${type}`);
  });
}
