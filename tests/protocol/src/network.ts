import type {
  Store,
  StoreChange,
  StoreDurability,
  StoreSnapshot,
  StoreSwapResult,
  Transport,
  TransportResponse,
} from '@service-auth/core';
import { brokenConnection, neverConnected, thrownAnswer } from './connection-errors.ts';
import type { CallFault, Dice } from './faults.ts';
import type { Judge } from './judge/judge.ts';
import type { Ending, SentRequest } from './judge/sights.ts';
import { second } from './judge/units.ts';
import type { Machine } from './machine.ts';
import type { Provider } from './provider.ts';
import type { Service } from './service.ts';
import type { Side, SimulatedStore } from './simulated-store.ts';
import type { World } from './world.ts';

/** The network between the machines, the store and the service. */
export interface Network {
  storeOf(machine: Machine, side: Side): Store;
  transportOf(machine: Machine): Transport;
  /** Until when the endpoint has told those who asked to wait. */
  readonly toldToWaitUntil: number;
  /** The machines that were given the record. */
  readonly readers: ReadonlySet<string>;
  /** No machine reaches it, or only this machine does not. */
  readonly broken: {
    store: boolean;
    /** The store keeps no write. */
    discards: boolean;
    endpoint: EndpointState;
    cutOff: string | undefined;
    some: FailingAudiences | undefined;
  };
}

/** The behaviour of the token endpoint towards all requests. `slow`: it issues tokens, and answers after most of those who ask have died. `unavailable`: it says for how long. */
export type EndpointState =
  | 'up'
  | 'slow'
  | 'silent'
  | 'unreachable'
  | 'failing'
  | 'page'
  | 'missing'
  | 'forbidden'
  | 'limited'
  | 'unavailable';

/** From then on the endpoint is in this state towards the requests for these audiences. */
export interface FailingAudiences {
  readonly fromMs: number;
  readonly audiences: readonly string[];
  readonly state: EndpointState;
}

/** The watcher of the calls. */
type CallWatch = Pick<
  Judge,
  'looked' | 'wrote' | 'outgrew' | 'discarded' | 'sending' | 'arrived' | 'answered' | 'mayHaveIssued' | 'wasHandedOut'
>;

interface Reach {
  readonly maxFreezeMs: number;
  readonly maxQueueMs: number;
  readonly scale: number;
  readonly durability: StoreDurability;
  readonly maxRecordBytes?: number;
}

/** Creates the network of one run. */
export function createNetwork(
  world: World,
  dice: Dice,
  store: SimulatedStore,
  service: Service,
  reach: Reach,
  watch: CallWatch,
  provider?: Provider,
): Network {
  let toldToWaitUntil = 0;
  let laterAnswered = 0;
  const readers = new Set<string>();
  const answers = new Map<string | undefined, { readonly value: string; readonly answer: TransportResponse }>();
  const broken: Network['broken'] = {
    store: false,
    discards: false,
    endpoint: 'up',
    cutOff: undefined,
    some: undefined,
  };

  /** Standing still or dying just before or just after a call leaves. Says whether it leaves. */
  function interrupt(machine: Machine, at: 'call' | 'send', maxMs: number): boolean {
    if (dice.roll(`freeze_at_${at}`)) machine.freeze(dice.of(`freeze_at_${at}`).between(second, maxMs));
    if (dice.roll(`sleep_at_${at}`)) machine.sleep(dice.of(`sleep_at_${at}`).between(second, maxMs));
    if (dice.roll(`blocked_at_${at}`)) machine.block(dice.of(`blocked_at_${at}`).between(1, 30) * second);
    if (!dice.roll(`crash_at_${at}`)) return true;
    machine.kill();
    return dice.of(`crash_at_${at}`).chance(0.6);
  }

  const answersUntil = new Map<string, number>();

  function callStore<Result extends StoreSnapshot | StoreSwapResult>(
    machine: Machine,
    what: string,
    execute: () => Result,
  ): Promise<Result> {
    const latency = dice.of('store_reply_late');
    return new Promise((resolve, reject) => {
      // Before and after a call of the store a process may stand still for any time.
      const maxMs = latency.chance(0.3) ? 6 * 3_600 * second * reach.scale : reach.maxFreezeMs;
      if (!machine.alive || !interrupt(machine, 'call', maxMs)) return;
      const hit = (fault: CallFault) => dice.roll(fault);
      const down = broken.store || broken.cutOff === machine.name;
      const refused = down ? latency.chance(0.5) : hit('store_refused');
      const mayFailOnce = what === 'load' && world.now >= (answersUntil.get(machine.name) ?? 0);
      if (mayFailOnce && hit('load_fails_once')) {
        // Two attempts of one process read the record side by side. One failure is one failure for both.
        answersUntil.set(machine.name, world.now + 600 * second);
        world.at(world.now + latency.between(0.2, 20), () => machine.deliver(() => reject(new Error('once'))));
        return;
      }
      const lost = (down && !refused) || hit('store_request_lost');
      const lateMs = hit('store_request_late') ? latency.between(second, 600 * second * reach.scale) : 0;
      const again = hit('store_duplicated');
      const replyLost = hit('store_reply_lost');
      const replyError = hit('store_reply_error');
      const replyLateMs = hit('store_reply_late') ? latency.between(second, 20 * second) : 0;
      const reply = (delayMs: number, event: () => void) => world.at(world.now + delayMs, () => machine.deliver(event));
      const calledAt = world.now;
      if (refused) {
        reply(latency.between(0.2, 20), () => reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })));
        return;
      }
      if (lost) return;

      // It stands still before the call has left, or after.
      const leavesAt = latency.chance(0.5) ? world.now : Math.max(world.now, machine.frozenUntil);
      const arrivesAt = leavesAt + latency.between(0.2, 8) + lateMs;
      world.at(arrivesAt, () => {
        const result = execute();
        if ('swapped' in result && result.swapped) watch.wrote(machine.name, calledAt);
        world.note(`${machine.name} ${what} ${'swapped' in result ? result.swapped : result.version} ${result.now}`);
        if (replyLost) return;
        reply(latency.between(0.2, 8) + replyLateMs, () => {
          if (replyError) reject(new Error('connection lost'));
          else {
            if (!('swapped' in result)) {
              watch.looked(machine.name);
              readers.add(machine.name);
            }
            resolve(result);
          }
        });
      });
      if (again) world.at(arrivesAt + latency.between(1, 600 * second * reach.scale), execute);
    });
  }

  function storeOf(machine: Machine, side: Side): Store {
    const { durability, maxRecordBytes } = reach;
    return {
      durability,
      maxRecordBytes,
      load: () => callStore(machine, 'load', () => store.load(side)),
      swap: (_key: string, change: StoreChange) => {
        const bytes = Buffer.byteLength(change.record);
        if (bytes > (maxRecordBytes ?? Number.POSITIVE_INFINITY)) watch.outgrew(machine.name, bytes);
        return callStore(machine, 'swap', () => {
          if (!broken.discards) return store.swap(side, change);
          watch.discarded(machine.name);
          return { swapped: false, now: store.load(side).now };
        });
      },
    };
  }

  function transportOf(machine: Machine): Transport {
    return (request) =>
      new Promise((resolve, reject) => {
        if (!machine.alive) return;
        const { audience } = JSON.parse(request.body) as { audience: string };
        const hasCredentials = request.body.includes('client_secret');
        const sent: SentRequest = { machine: machine.name, audience, hasCredentials };
        watch.sending(sent);
        if (!interrupt(machine, 'send', reach.maxFreezeMs)) return;
        const latency = dice.of('token_reply_late');
        const hit = (fault: CallFault) => dice.roll(fault);
        const reply = (delayMs: number, event: () => void) =>
          world.at(world.now + delayMs, () => machine.deliver(event));
        // A transport may honour its signal, or not notice it.
        if (latency.chance(0.8)) request.signal.addEventListener('abort', () => reject(request.signal.reason));
        const down = stateTowards(request.body);
        if (hit('token_unreachable') || down === 'unreachable') {
          const random = dice.of('token_unreachable');
          reply(latency.between(1, 900), () => {
            watch.answered(sent, { status: undefined, hasToken: false, toldMs: 0 });
            reject(neverConnected(random));
          });
          return;
        }
        // Every sent request may have issued a token until an answer shows otherwise.
        watch.mayHaveIssued(1);
        if (hit('token_request_lost') || down === 'silent') return;
        const queuedMs = hit('token_request_late') ? latency.between(second, reach.maxQueueMs) : 0;
        const brokenAfter = hit('token_broken_after');
        const thrown = hit('token_answer_thrown');
        const lost = hit('token_reply_lost');
        const lateMs = hit('token_reply_late') ? latency.between(second, 45 * second) : 0;
        const requestedAt = world.now;
        // The machine may stand still for hours because of another call. But the promises rest on requests that arrive in time, or never.
        const heldMs = Math.min(reach.maxFreezeMs, Math.max(0, machine.frozenUntil - world.now));
        const leavesAt = latency.chance(0.5) ? world.now : world.now + heldMs;
        world.at(leavesAt + latency.between(2, 200) + queuedMs, () => {
          watch.arrived();
          const said = answerInOutage(down) ?? answerOf(machine.name, request.body, requestedAt);
          const headers = { ...(said.headers as Record<string, string>), ...provider?.headers() };
          const answer = { ...said, headers };
          if (lost) return;
          const slowMs = down === 'slow' ? 6 * second : 0;
          reply(latency.between(2, 200) + lateMs + slowMs, () => {
            if (brokenAfter) return reject(brokenConnection(dice.of('token_broken_after')));
            // After its deadline nobody reads the answer.
            if (!request.signal.aborted) watch.answered(sent, endingOf(answer));
            if (isRefusal(answer.status)) watch.mayHaveIssued(-1);
            if (thrown && answer.status !== 200) reject(thrownAnswer(dice.of('token_answer_thrown'), answer));
            else resolve(answer);
          });
        });
      });
  }

  /** The state of the endpoint towards a request. */
  function stateTowards(body: string): EndpointState {
    const { audience } = JSON.parse(body) as { audience?: string };
    return broken.endpoint === 'up' && audience !== undefined && broken.some?.audiences.includes(audience)
      ? broken.some.state
      : broken.endpoint;
  }

  /** Takes turns, so that nothing is drawn, and kept plans stay as they are. */
  function nextLaterAnswer(): TransportResponse {
    laterAnswered += 1;
    return laterAnswers[laterAnswered % laterAnswers.length] as TransportResponse;
  }

  function answerOf(machine: string, body: string, requestedAt: number): TransportResponse {
    if (dice.roll('token_5xx_before')) return status(dice.of('token_5xx_before').pick([500, 502, 503, 408]));
    if (dice.roll('token_refused')) {
      const random = dice.of('token_refused');
      // This text has the form of a code: an endpoint may repeat the secret there.
      const refusal = random.chance(0.5) ? '{"error":"canary_phrase"}' : '';
      return { ...status(random.pick([400, 401, 403, 404, 405])), body: refusal };
    }
    if (dice.roll('token_refusal_endless')) {
      const refusal = status(dice.of('token_refusal_endless').pick([400, 401, 404, 429, 302]));
      return { ...refusal, headers: { 'retry-after': '5' }, body: new Promise(() => {}) };
    }
    if (dice.roll('token_redirected')) return status(302);
    for (const [fault, code] of [['token_rate_limited', 429] as const, ['token_unavailable', 503] as const]) {
      if (!dice.roll(fault)) continue;
      const random = dice.of(fault);
      const answer = code === 429 ? nextLaterAnswer() : status(code);
      if (random.chance(0.5)) return answer;
      const seconds = Math.ceil(random.between(1, 1_800 * reach.scale));
      toldToWaitUntil = Math.max(toldToWaitUntil, world.now + seconds * second);
      return { ...answer, headers: { 'retry-after': `${seconds}` } };
    }
    const { audience } = JSON.parse(body) as { audience?: string };
    // A cache before the endpoint: the request does not arrive. It repeats a token to processes that never had it, after
    // a reset, and after it has expired. Nobody can know a token that no process had.
    const last = answers.get(audience);
    // The record forgets an audience that has asked for no token for a day.
    const isKnown = last && (service.token(last.value)?.issuedAt ?? 0) > world.now - 24 * 3_600 * second;
    if (isKnown && watch.wasHandedOut(last.value) && dice.roll('token_cached')) return last.answer;
    const answer = service.receive(body, requestedAt, machine);
    if (answer.status === 200) {
      const { access_token } = JSON.parse(answer.body) as { access_token: string };
      answers.set(audience, { value: access_token, answer: { ...answer, headers: {} } });
    }
    if (dice.roll('token_5xx_after')) return status(dice.of('token_5xx_after').pick([500, 502, 504, 425]));
    if (dice.roll('token_garbled')) return { ...status(200), body: '<html>CANARY' };
    return { ...answer, headers: { 'content-type': 'application/json' } };
  }

  return {
    readers,
    storeOf,
    transportOf,
    broken,
    get toldToWaitUntil() {
      return toldToWaitUntil;
    },
  };
}

/** The ways to say that the same request may succeed later. */
const laterAnswers: readonly TransportResponse[] = [
  status(429),
  { ...status(400), body: '{"__type":"TooManyRequestsException"}' },
  { ...status(401), body: '{"error":"slow_down"}' },
  { ...status(403), body: '{"error":"too_many_requests"}' },
  { ...status(400), body: '{"error":"temporarily_unavailable"}' },
];

function answerInOutage(state: EndpointState): TransportResponse | undefined {
  const page = { ...status(200), body: '<html>We will be back soon.' };
  const answers: Partial<Record<EndpointState, TransportResponse>> = {
    failing: status(503),
    page,
    missing: status(404),
    forbidden: status(403),
    limited: status(429),
    unavailable: { ...status(503), headers: { 'retry-after': '60' } },
  };
  return answers[state];
}

function endingOf(answer: TransportResponse): Ending {
  const hasToken = answer.status === 200 && String(answer.body).includes('access_token');
  return { status: answer.status, hasToken, toldMs: Number(headerOf(answer)) * second || 0 };
}

function headerOf({ headers }: TransportResponse): string | undefined {
  return (headers as Record<string, string>)['retry-after'];
}

function isRefusal(code: number): boolean {
  return code >= 300 && code < 500 && ![408, 425].includes(code);
}

function status(code: number): TransportResponse {
  return { status: code, headers: {}, body: '' };
}
