import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { isServiceAuthError, ServiceAuthError, type ServiceAuthOptions } from '@service-auth/core';
import { eventLog } from './event-log.ts';
import type { ServiceAuth } from './service-auth.ts';
import { type SharedClient, shareClient } from './shared-clients.ts';

/** Ties the client of one module node to the life of its application. */
export interface ClientHolder extends OnModuleInit, OnApplicationShutdown {
  open(options: ServiceAuthOptions, warmUp: boolean): ServiceAuth;
}

/**
 * Holds nothing before `open()`: where a test overrides the client, no other one is made, and none is warmed up.
 * There is no `onModuleDestroy`, for core keeps no timer that would have to be stopped: callers set off renewals.
 */
export function createClientHolder(name: string | undefined): ClientHolder {
  const context = name === undefined ? 'ServiceAuth' : `ServiceAuth:${name}`;
  let held: SharedClient | undefined;
  let toWarmUp: ServiceAuth | undefined;

  return {
    open(options, warmUp) {
      held = openClient(name, () => shareClient(options, eventLog(context)));
      if (warmUp) toWarmUp = held.client;
      return held.client;
    },
    async onModuleInit() {
      try {
        await toWarmUp?.getToken();
      } catch (error) {
        const why = isServiceAuthError(error) ? error.message : 'Unexpected error.';
        new Logger(context).warn(`No token at start; the first request asks again. ${why}`);
      }
    },
    // Not earlier: until now the HTTP server answered requests, which may need a token.
    async onApplicationShutdown() {
      await held?.release();
    },
  };
}

/** Of several clients, says which one has the wrong options. */
function openClient(name: string | undefined, open: () => SharedClient): SharedClient {
  try {
    return open();
  } catch (error) {
    if (name === undefined || !isServiceAuthError(error) || error.code !== 'ERR_CONFIG') throw error;
    const { problems } = error;
    const list = problems.map(({ option, message }) => `${option} ${message}`).join('; ');
    throw new ServiceAuthError('ERR_CONFIG', `Wrong options of the client ${name}: ${list}.`, { problems });
  }
}
