import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  type Clock,
  createServiceAuth,
  isServiceAuthError,
  ServiceAuthError,
  type ServiceAuthOptions,
} from '@service-auth/core';
import { trackCondition } from './condition.ts';
import { eventLog } from './event-log.ts';
import type { ServiceAuth } from './service-auth.ts';

// This is also core's default.
const defaultTimeoutMs = 30_000;

/** Opens and closes the client of one module together with its application. */
export interface ClientLifecycle extends OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  open(options: ServiceAuthOptions, warmUp: boolean): ServiceAuth;
}

/**
 * Creates no client before `open()`, so a test that overrides the client creates and warms up no
 * other one. It needs no `onModuleDestroy`: core has no timer to stop, because calls of
 * `getToken()` start the renewals.
 */
export function createClientLifecycle(name: string | undefined): ClientLifecycle {
  const context = name === undefined ? 'ServiceAuth' : `ServiceAuth:${name}`;
  let client: ServiceAuth | undefined;
  let warmUpFirst: (() => Promise<void>) | undefined;

  return {
    open(options, warmUp) {
      const opened = openClient(name, options);
      client = opened;
      trackCondition(opened, options.clock);
      opened.subscribe(eventLog(context));
      let warmedUp: Promise<void> | undefined;
      if (warmUp) {
        warmUpFirst = () => {
          warmedUp ??= warmUpClient(opened, options, new Logger(context));
          return warmedUp;
        };
      }
      return opened;
    },
    // Nest calls this for one module after the other. It begins the warm-ups of all clients before
    // it waits for the first of them.
    onModuleInit() {
      void warmUpFirst?.();
    },
    async onApplicationBootstrap() {
      await warmUpFirst?.();
    },
    // Close the client no earlier: until now the HTTP server has answered requests, which may need
    // a token.
    async onApplicationShutdown() {
      await client?.close();
    },
  };
}

/**
 * Waits for a token, at most `timeoutMs`. The time-out ends only this wait: the client's token
 * request continues, and the first caller joins it.
 */
async function warmUpClient(
  client: ServiceAuth,
  { timeoutMs = defaultTimeoutMs, clock }: ServiceAuthOptions,
  logger: Logger,
): Promise<void> {
  const deadline = new AbortController();
  const cancel = startTimer(() => deadline.abort(), timeoutMs, clock);
  try {
    await client.getToken({ signal: deadline.signal });
  } catch (error) {
    if (deadline.signal.aborted) {
      logger.warn(
        `No token at start within ${timeoutMs} ms; the application starts, and its first request waits for one.`,
      );
      return;
    }
    const why = isServiceAuthError(error) ? error.message : 'Unexpected error.';
    logger.warn(`No token at start; the first request asks again. ${why}`);
  } finally {
    cancel();
  }
}

function startTimer(callback: () => void, delayMs: number, clock: Clock | undefined): () => void {
  if (clock) return clock.setTimer(callback, delayMs);
  const timer = setTimeout(callback, delayMs);
  return () => clearTimeout(timer);
}

/** Creates a client. Adds its name to an error about its options. */
function openClient(name: string | undefined, options: ServiceAuthOptions): ServiceAuth {
  try {
    return createServiceAuth(options);
  } catch (error) {
    if (name === undefined || !isServiceAuthError(error) || error.code !== 'ERR_CONFIG') throw error;
    const { problems } = error;
    const list = problems.map(({ option, message }) => `${option} ${message}`).join('; ');
    throw new ServiceAuthError('ERR_CONFIG', `Wrong options of the client ${name}: ${list}.`, { problems });
  }
}
