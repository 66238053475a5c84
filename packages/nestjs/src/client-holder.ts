import { Logger, type OnApplicationShutdown, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { isServiceAuthError, type ServiceAuthOptions } from '@service-auth/core';
import { eventLog } from './event-log.ts';
import type { ServiceAuth } from './service-auth.ts';
import { type SharedClient, shareClient } from './shared-clients.ts';

/** Ties the client of one module node to the life of its application. */
export interface ClientHolder extends OnModuleInit, OnModuleDestroy, OnApplicationShutdown {
  open(options: ServiceAuthOptions, warmUp: boolean): ServiceAuth;
}

/**
 * Holds nothing before `open()`: where a test overrides the client, no other one is made, and none is warmed up.
 * No timer needs stopping, for core has none: callers set off renewals.
 */
export function createClientHolder(name: string | undefined): ClientHolder {
  const context = name === undefined ? 'ServiceAuth' : `ServiceAuth:${name}`;
  const destroyed = new AbortController();
  let held: SharedClient | undefined;
  let toWarmUp: ServiceAuth | undefined;

  return {
    open(options, warmUp) {
      held = shareClient(options, eventLog(context));
      if (warmUp) toWarmUp = held.client;
      return held.client;
    },
    async onModuleInit() {
      try {
        await toWarmUp?.getToken({ signal: destroyed.signal });
      } catch (error) {
        if (destroyed.signal.aborted) return;
        const why = isServiceAuthError(error) ? error.message : 'Unexpected error.';
        new Logger(context).warn(`No token at start; the first request asks again. ${why}`);
      }
    },
    onModuleDestroy() {
      destroyed.abort();
    },
    // Not earlier: until now the HTTP server answered requests, which may need a token.
    async onApplicationShutdown() {
      await held?.release();
    },
  };
}
