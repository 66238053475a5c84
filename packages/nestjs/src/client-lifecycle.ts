import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { type Clock, isServiceAuthError, ServiceAuthError, type ServiceAuthOptions } from '@service-auth/core';
import { eventLog } from './event-log.ts';
import type { ServiceAuth } from './service-auth.ts';
import { type SharedClient, shareClient } from './shared-clients.ts';

// As in core.
const defaultTimeoutMs = 30_000;

/** Ties the client of one module node to the life of its application. */
export interface ClientLifecycle extends OnModuleInit, OnApplicationShutdown {
  open(options: ServiceAuthOptions, warmUp: boolean): ServiceAuth;
}

/**
 * Holds nothing before `open()`: where a test overrides the client, no other one is made, and none is warmed up.
 * There is no `onModuleDestroy`, for core keeps no timer that would have to be stopped: callers set off renewals.
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
    async onModuleInit() {
      await warmUpFirst?.();
    },
    // Not earlier: until now the HTTP server answered requests, which may need a token.
    async onApplicationShutdown() {
      await shared?.release();
    },
  };
}

const warmUps = new WeakMap<ServiceAuth, Promise<void>>();

/** Modules that share a client wait together, and not one after the other. */
function warmUpOnce(client: ServiceAuth, options: ServiceAuthOptions, logger: Logger): Promise<void> {
  const started = warmUps.get(client) ?? warmedUp(client, options, logger);
  warmUps.set(client, started);
  return started;
}

/** Waits for a token, `timeoutMs` at most. Only this wait ends then: what the client has begun goes on, and the first request joins it. */
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
