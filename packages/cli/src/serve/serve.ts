import { once } from 'node:events';
import type { Server } from 'node:http';
import { type Clock, eventLevel, type ServiceAuthEvent } from '@service-auth/core';
import { readEnvironment } from '../configuration/environment.ts';
import type { Context } from '../line/command.ts';
import { exitCodes, UsageError } from '../line/exit.ts';
import { createDoors } from './doors.ts';
import { openClients } from './fleet.ts';
import { createForwarder } from './forward.ts';
import { createHttpServer, dropSilent, headWithinMs } from './http-server.ts';
import { listen } from './listen.ts';
import { createLog, type Log } from './log.ts';
import { createMetrics } from './metrics.ts';
import { readKey, readRejectedStatuses, readSettings } from './settings.ts';

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(callback, delayMs) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

export async function run(context: Context): Promise<number> {
  // Without a listener this signal would end the program.
  let isDue = false;
  let reread = () => {
    isDue = true;
  };
  process.on('SIGHUP', () => reread());
  const problems: string[] = [];
  const { places, keyFile, graceMs, log: format } = readSettings(context, problems);
  let key = await readKey(keyFile, problems);
  const rejectedStatuses = readRejectedStatuses((await readEnvironment(context)).env, problems);
  const log = createLog(context.stderr, format);
  const metrics = createMetrics();
  const report = (event: ServiceAuthEvent) => {
    logEvent(log, event);
    metrics.event(event);
  };
  const clients = await openClients(context, report, clock, problems);
  const isEnding = () => context.signal.aborted;
  const answer = createDoors({ clients, key: () => key, isEnding, metrics: () => metrics.text(clients) });
  const forwarder = createForwarder(clients.auth, clients.kept(clients.audiences[0] ?? ''), rejectedStatuses);
  const { answered } = metrics;
  const shared = { log, key: () => key, isEnding, answer, answered };
  const servers = places.map((place) => {
    const { entrance } = place;
    const observes = entrance === 'observe';
    const server = createHttpServer({ ...shared, entrance, forwarder: observes ? undefined : forwarder });
    return { ...place, observes, server };
  });
  const addresses = await Promise.all(servers.map(({ server, ...place }) => listen(server, place)));
  clients.start();
  for (const [index, { entrance, path, observes }] of servers.entries()) {
    const address = addresses[index];
    if (entrance === 'network')
      log.write('warning', 'listens beyond this machine: callers must present the key', { address });
    else if (entrance === 'open' && path === undefined)
      log.write('warning', 'listens without a key: any user of this machine can get the token', { address });
    else log.write('info', observes ? 'shows metrics and probes' : 'listens', { address });
    if (!observes) context.stdout.write(`${address}\n`);
  }

  const attempt = async (name: string, read: () => Promise<void>) => {
    try {
      await read();
      log.write('info', `the ${name} was read again`);
    } catch (error) {
      log.write('warning', `the ${name} was not read again, the one before is kept`, { problems: problemsIn(error) });
    }
  };
  const rereadKey = async () => {
    const wrong: string[] = [];
    const next = await readKey(keyFile, wrong);
    if (wrong.length > 0) throw new UsageError(wrong);
    key = next;
  };
  reread = () => {
    if (keyFile !== undefined) void attempt('key', rereadKey);
    void attempt('secret', clients.rereadSecret);
  };
  if (isDue) reread();
  if (!context.signal.aborted) await once(context.signal, 'abort');
  log.write('info', 'ends', { graceMs });
  const ending = servers.filter(({ observes }) => !observes);
  await end(
    ending.map(({ server }) => server),
    graceMs,
  );
  await Promise.all([clients.close(), forwarder?.close()]);
  return exitCodes.success;
}

/** Ends with the last open request. After `graceMs` those that are left lose their connections. */
async function end(servers: readonly Server[], graceMs: number): Promise<void> {
  const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
  for (const server of servers) dropSilent(server, true);
  const patience = setTimeout(() => {
    for (const server of servers) dropSilent(server, false);
  }, headWithinMs);
  const timer = setTimeout(() => {
    for (const server of servers) server.closeAllConnections();
  }, graceMs);
  await Promise.all(closed);
  clearTimeout(timer);
  clearTimeout(patience);
}

function logEvent(log: Log, event: ServiceAuthEvent): void {
  const { type, at: _at, ...given } = event;
  const level = eventLevel(event);
  const fields = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, readable(name, value)]));
  log.write(level === 'warn' ? 'warning' : level, type, fields);
}

/** Instants as people read them, and durations without fractions of a millisecond. */
function readable(name: string, value: unknown): unknown {
  if (typeof value !== 'number') return value;
  return name.endsWith('At') ? new Date(value).toISOString() : Math.round(value);
}

function problemsIn(error: unknown): readonly string[] {
  return error instanceof UsageError ? error.problems : ['an unexpected error'];
}
