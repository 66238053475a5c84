import { Logger, type OnApplicationBootstrap, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Clock, isServiceAuthError, ServiceAuthError, type ServiceAuthOptions } from '@service-auth/core';
import { eventLog } from './event-log.ts';
import type { ServiceAuth } from './service-auth.ts';
import { type SharedClient, shareClient } from './shared-clients.ts';

// This is also core's default.
const defaultTimeoutMs = 30_000;

/** Opens and closes the client of one module together with its application. */
export interface ClientLifecycle extends OnModuleInit, OnApplicationBootstrap, OnApplicationShutdown {
  open(options: ServiceAuthOptions, warmUp: boolean): ServiceAuth;
}

/**
 * Creates no client before `open()`, so a test that overrides the client creates and warms up no other one.
 * It needs no `onModuleDestroy`: core has no timer to stop, because calls of `getToken()` start the renewals.
 */
export function createClientLifecycle(name: string | undefined): ClientLifecycle {
  const context = name === undefined ? 'ServiceAuth' : `ServiceAuth:${name}`;
  let shared: SharedClient | undefined;
  let warmUpFirst: (() => Promise<void>) | undefined;

  return {
    open(options, warmUp) {
      shared = openClient(name, () => shareClient(options, eventLog(context)));
      const { client } = shared;
      if (warmUp) warmUpFirst = () => warmUpOnce(client, options, new Logger(context));
      return client;
    },
    // Nest calls this for one module after the other. It begins the warm-ups of all clients before it waits for the first of them.
    onModuleInit() {
      void warmUpFirst?.();
    },
    async onApplicationBootstrap() {
      await warmUpFirst?.();
    },
    // Close the client no earlier: until now the HTTP server has answered requests, which may need a token.
    async onApplicationShutdown() {
      await shared?.release();
    },
  };
}

const warmUps = new WeakMap<ServiceAuth, Promise<void>>();

/** Begins the warm-up of a client, or returns the one that has begun: modules may share a client. */
function warmUpOnce(client: ServiceAuth, options: ServiceAuthOptions, logger: Logger): Promise<void> {
  const started = warmUps.get(client) ?? warmedUp(client, options, logger);
  warmUps.set(client, started);
  return started;
}

/** Waits for a token, at most `timeoutMs`. The time-out ends only this wait: the client's token request continues, and the first caller joins it. */
async function warmedUp(
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

/** Adds the name of the client to an error about its options. */
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
