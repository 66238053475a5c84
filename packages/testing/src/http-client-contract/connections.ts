import assert from 'node:assert/strict';
import process from 'node:process';
import type { ContractCase } from '../contract/contract-case.ts';
import { arrival, type DefineCase, expectIssued, expectSent, expectStatus, type Fixture } from './fixture.ts';

const bodies: readonly (readonly [name: string, body: string])[] = [
  ['no body', ''],
  ['a body of one byte', 'x'],
  ['a body of 20 kB', 'x'.repeat(20_000)],
];

/**
 * Runs `action`, and fails if an exception that nobody caught would have ended the process
 * meanwhile.
 */
async function withoutCrash(action: () => Promise<void>): Promise<void> {
  const uncaught: string[] = [];
  const listener = (error: unknown) => void uncaught.push(String(error));
  // A monitor changes nothing: the test runner still gets to know of the exception.
  process.on('uncaughtExceptionMonitor', listener);
  try {
    await action();
  } finally {
    process.off('uncaughtExceptionMonitor', listener);
  }
  assert.deepEqual(uncaught, [], 'an exception was thrown that nobody caught: the process would have ended');
}

/**
 * Gives the client the time in which the end of a connection reaches it: the end was sent before
 * these requests.
 */
async function letConnectionsEnd({ service }: Fixture): Promise<void> {
  for (let count = 0; count < 20; count++) await (await fetch(`${service.url}/.well-known/jwks.json`)).text();
}

/** The connection ends while the client waits for another token. */
export function connectionCases(define: DefineCase): ContractCase[] {
  return bodies.map(([name, body]) =>
    define(
      `a 401 with ${name} is followed by the resend, if the API ends the connection before there is another token`,
      (fixture) =>
        withoutCrash(async () => {
          const { service } = fixture;
          await fixture.warmUp();
          const paused = service.tokenEndpoint.pauseNext();
          service.api.next({ status: 401, body, headers: { connection: 'close' } });
          const response = fixture.send();
          await arrival(paused, response);
          await letConnectionsEnd(fixture);
          paused.resume();
          expectStatus(await response, 200);
          expectStatus(await fixture.send(), 200);
          expectSent(fixture, 3);
          expectIssued({ service }, 2);
        }),
    ),
  );
}
