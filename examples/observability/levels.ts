import type { ServiceAuthEventType } from '@service-auth/core';

type Level = 'debug' | 'info' | 'warn' | 'error';

/** Somebody has to act on an error, and should look at a warning the next day. */
const levels: Partial<Record<ServiceAuthEventType, Level>> = {
  token_adopted: 'debug',
  token_issued: 'info',
  store_recovered: 'info',
  token_unavailable: 'error',
  store_damaged: 'error',
  ledger_lost: 'error',
};

export function levelOf(type: ServiceAuthEventType): Level {
  return levels[type] ?? 'warn';
}
