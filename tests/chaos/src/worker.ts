// One process of the fleet: its callers ask for tokens as fast as they get them, until it is killed.
import { flushCompileCache } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { createServiceAuth, fetchTransport, isServiceAuthError } from '@service-auth/core';
import { createRandom } from '../../protocol/src/random.ts';
import { wrongClients } from '../../protocol/src/wrong-clients.ts';
import { type Customer, changed, changing, greedy, steady, timeoutMs } from './customers.ts';
import { openStore, type StoreKind } from './stores.ts';

export interface WorkerOptions {
  readonly kind: StoreKind;
  readonly address: string;
  readonly serviceUrl: string;
  readonly instance: string;
  readonly seed: number;
  /** With the other agreement of the customer whose agreement changes. */
  readonly isChanged: boolean;
  /** Replaces the record whatever became of it in the meantime: for the test of this test. */
  readonly blind: boolean;
}

/** The messages of a process. */
export type WorkerMessage =
  /** Its callers begin. */
  | { readonly type: 'ready' }
  /** A token request is about to be sent. */
  | { readonly type: 'sending' }
  /** The process has no token yet. `what` is the reason. */
  | { readonly type: 'denied'; readonly what: string }
  /** The answer to any message: the API took the steady customer's token. */
  | { readonly type: 'served' }
  /** It read and wrote a record with the other agreement. */
  | { readonly type: 'declared' }
  /** Something that must not happen. */
  | { readonly type: 'unexpected'; readonly what: string };

/** The errors that callers may get while everything fails. */
const expected = ['ERR_STORE', 'ERR_TOKEN_ENDPOINT', 'ERR_TOKEN_RESPONSE', 'ERR_ISSUANCE_LIMIT'];

const options = JSON.parse(process.argv[2] ?? '') as WorkerOptions;
// Node writes its compile cache when a process exits, and this process is always killed.
flushCompileCache();
const random = createRandom(`${options.seed}`);
const { store } = await openStore(options.kind, options.address, options.seed);
const wrong = options.blind ? wrongClients['a store that compares nothing'] : undefined;
const create = wrong?.change(createServiceAuth) ?? createServiceAuth;
const say = (message: WorkerMessage) => process.send?.(message);
const send = fetchTransport();

function connect({ clientId, clientSecret, issuanceLimit }: Customer, audience: string) {
  return create({
    ...{ audience, clientId, clientSecret, issuanceLimit, store, timeoutMs, instance: options.instance },
    authUrl: options.serviceUrl,
    transport(request) {
      say({ type: 'sending' });
      return send(request);
    },
    onEvent({ type }) {
      if (type === 'ledger_lost') say({ type: 'unexpected', what: type });
    },
  });
}

async function tolerating<Result>(
  call: Promise<Result>,
  onDenied = (_message: string) => {},
): Promise<Result | undefined> {
  try {
    return await call;
  } catch (error) {
    if (!isServiceAuthError(error)) say({ type: 'unexpected', what: `${error}` });
    else if (!expected.includes(error.code)) say({ type: 'unexpected', what: error.code });
    else onDenied(error.message);
    return undefined;
  }
}

const [audience = ''] = steady.audiences;
const auth = connect(steady, audience);

async function callSteadily(): Promise<void> {
  for (;;) {
    const askedAt = Date.now();
    const token = await tolerating(auth.getToken());
    // Do not compare it with the current time: this process may have been stopped since.
    if (token && token.expiresAt <= askedAt) say({ type: 'unexpected', what: 'an expired token' });
    await delay(random.integer(10, 60));
  }
}

async function callGreedily(): Promise<void> {
  for (;;) {
    const customer = random.pick([...greedy, options.isChanged ? changed : changing]);
    const token = await tolerating(connect(customer, random.pick(customer.audiences)).getToken());
    if (token && customer === changed) say({ type: 'declared' });
    await delay(random.integer(10, 60));
  }
}

async function serve(): Promise<void> {
  for (;;) {
    const token = await tolerating(auth.getToken(), (what) => say({ type: 'denied', what }));
    const headers = { authorization: token?.authorization ?? '' };
    const answer = token && (await fetch(`${options.serviceUrl}/api/v1/`, { headers }));
    if (answer?.ok) {
      say({ type: 'served' });
      return;
    }
    // It may have expired on the way: a process of a busy machine is stopped longer than a token of four seconds allows for.
    if (answer) say({ type: 'denied', what: `the API answered ${answer.status}` });
    await delay(50);
  }
}

process.on('message', serve);
say({ type: 'ready' });
process.on('disconnect', () => process.exit());
await Promise.all([callSteadily(), callSteadily(), callGreedily()]);
