import type { Transport, TransportRequest, TransportResponse } from '@service-auth/core';
import { brokenConnection, neverConnected, thrownAnswer } from './connection-errors.ts';
import { type CallFault, interrupt } from './faults.ts';
import { isRefusal } from './judge/numbers.ts';
import type { Ending, SentRequest } from './judge/sights.ts';
import { day, second } from './judge/units.ts';
import type { Machine } from './machine.ts';
import type { Run } from './parts.ts';
import type { Provider } from './provider.ts';
import type { Random } from './random.ts';
import type { EndpointState, FailingAudiences } from './settings.ts';

/** What the endpoint says in the states in which it always says the same. */
const answersIn: Partial<Record<EndpointState, TransportResponse>> = {
  failing: status(503),
  page: { ...status(200), body: '<html>We will be back soon.' },
  missing: status(404),
  forbidden: status(403),
  limited: status(429),
  unavailable: { ...status(503), headers: { 'retry-after': '60' } },
};

/** No machine reaches it, or only this machine does not. */
export interface Broken {
  store: boolean;
  /** The store keeps no write. */
  discards: boolean;
  endpoint: EndpointState;
  cutOff: string | undefined;
  some: FailingAudiences | undefined;
}

export const working: Readonly<Broken> = {
  store: false,
  discards: false,
  endpoint: 'up',
  cutOff: undefined,
  some: undefined,
};

/** The way to the token endpoint, and what it says. */
export interface Endpoint {
  transportOf(machine: Machine): Transport;
  /** Until when it has told those who asked to wait. */
  readonly toldToWaitUntil: number;
}

/** The ways to say that the same request may succeed later. */
const laterAnswers: readonly TransportResponse[] = [
  status(429),
  { ...status(400), body: '{"__type":"TooManyRequestsException"}' },
  { ...status(401), body: '{"error":"slow_down"}' },
  { ...status(403), body: '{"error":"too_many_requests"}' },
  { ...status(400), body: '{"error":"temporarily_unavailable"}' },
];

export function createEndpoint(run: Run, broken: Broken, provider: Provider | undefined): Endpoint {
  const { world, dice, service, judge } = run;
  const { windowMs, maxFreezeMs, maxQueueMs } = run.settings;
  let laterAnswered = 0;
  const answers = new Map<string, { readonly value: string; readonly answer: TransportResponse }>();
  const latency = dice.of('token_reply_late');

  /** What is said in the place of a token, in the order in which it is drawn. */
  const refusals: readonly (readonly [CallFault, (random: Random) => TransportResponse])[] = [
    ['token_5xx_before', (random) => status(random.pick([500, 502, 503, 408]))],
    [
      'token_refused',
      (random) => {
        // This text has the form of a code: an endpoint may repeat the secret there.
        const body = random.chance(0.5) ? '{"error":"canary_phrase"}' : '';
        return { ...status(random.pick([400, 401, 403, 404, 405])), body };
      },
    ],
    [
      'token_refusal_endless',
      (random) => {
        const refusal = status(random.pick([400, 401, 404, 429, 302]));
        return { ...refusal, headers: { 'retry-after': '5' }, body: new Promise(() => {}) };
      },
    ],
    ['token_redirected', () => status(302)],
    [
      'token_rate_limited',
      (random) => {
        // They take turns, so that nothing is drawn, and kept plans stay as they are.
        laterAnswered += 1;
        return maybeTold(random, laterAnswers[laterAnswered % laterAnswers.length] as TransportResponse);
      },
    ],
    ['token_unavailable', (random) => maybeTold(random, status(503))],
  ];

  /** Half of the answers say for how long nobody may ask. */
  function maybeTold(random: Random, answer: TransportResponse): TransportResponse {
    if (random.chance(0.5)) return answer;
    const seconds = Math.ceil(random.between(1, 1_800 * (windowMs / day)));
    endpoint.toldToWaitUntil = Math.max(endpoint.toldToWaitUntil, world.now + seconds * second);
    return { ...answer, headers: { 'retry-after': `${seconds}` } };
  }

  function answerOf(machine: string, audience: string, body: string, requestedAt: number): TransportResponse {
    for (const [fault, refusal] of refusals) if (dice.roll(fault)) return refusal(dice.of(fault));
    // A cache before the endpoint: the request does not arrive. It repeats a token to processes that never had it, after
    // a reset, and after it has expired. Nobody can know a token that no process had.
    const last = answers.get(audience);
    // The record forgets an audience that has asked for no token for a day.
    const isKnown = last && (service.token(last.value)?.issuedAt ?? 0) > world.now - 24 * 3_600 * second;
    if (isKnown && judge.wasHandedOut(last.value) && dice.roll('token_cached')) return last.answer;
    const answer = service.receive(body, requestedAt, machine);
    if (answer.status === 200) {
      const { access_token } = JSON.parse(answer.body) as { access_token: string };
      answers.set(audience, { value: access_token, answer: { ...answer, headers: {} } });
    }
    if (dice.roll('token_5xx_after')) return status(dice.of('token_5xx_after').pick([500, 502, 504, 425]));
    if (dice.roll('token_garbled')) return { ...status(200), body: '<html>CANARY' };
    return { ...answer, headers: { 'content-type': 'application/json' } };
  }

  /** What goes wrong with a request, in the order in which it is drawn. */
  const fateOf = () => ({
    queuedMs: dice.roll('token_request_late') ? latency.between(second, maxQueueMs) : 0,
    isBroken: dice.roll('token_broken_after'),
    isThrown: dice.roll('token_answer_thrown'),
    isLost: dice.roll('token_reply_lost'),
    lateMs: dice.roll('token_reply_late') ? latency.between(second, 45 * second) : 0,
  });

  function send(
    machine: Machine,
    { body, signal }: TransportRequest,
    resolve: (answer: TransportResponse) => void,
    reject: (error: unknown) => void,
  ): void {
    if (!machine.alive) return;
    const { audience } = JSON.parse(body) as { audience: string };
    const sent: SentRequest = { machine: machine.name, audience, hasCredentials: body.includes('client_secret') };
    judge.sending(sent);
    if (!interrupt(dice, machine, 'send', maxFreezeMs)) return;
    const reply = (delayMs: number, event: () => void) => world.at(world.now + delayMs, () => machine.deliver(event));
    // A transport may honour its signal, or not notice it.
    if (latency.chance(0.8)) signal.addEventListener('abort', () => reject(signal.reason));
    const { some } = broken;
    const state = broken.endpoint === 'up' && some?.audiences.includes(audience) ? some.state : broken.endpoint;
    if (dice.roll('token_unreachable') || state === 'unreachable') {
      reply(latency.between(1, 900), () => {
        judge.answered(sent, { status: undefined, hasToken: false, toldMs: 0 });
        reject(neverConnected(dice.of('token_unreachable')));
      });
      return;
    }
    // Every sent request may have issued a token until an answer shows otherwise.
    judge.mayHaveIssued(1);
    if (dice.roll('token_request_lost') || state === 'silent') return;
    const fate = fateOf();
    const requestedAt = world.now;
    // The machine may stand still for hours because of another call. But the promises rest on requests that arrive in time, or never.
    const heldMs = Math.min(maxFreezeMs, Math.max(0, machine.frozenUntil - world.now));
    const leavesAt = latency.chance(0.5) ? world.now : world.now + heldMs;
    world.at(leavesAt + latency.between(2, 200) + fate.queuedMs, () => {
      judge.arrived();
      const said = answersIn[state] ?? answerOf(machine.name, audience, body, requestedAt);
      const headers = { ...(said.headers as Record<string, string>), ...provider?.() };
      const answer = { ...said, headers };
      if (fate.isLost) return;
      const slowMs = state === 'slow' ? 6 * second : 0;
      reply(latency.between(2, 200) + fate.lateMs + slowMs, () => {
        if (fate.isBroken) return reject(brokenConnection(dice.of('token_broken_after')));
        // After its deadline nobody reads the answer.
        if (!signal.aborted) judge.answered(sent, endingOf(answer));
        if (isRefusal(answer.status)) judge.mayHaveIssued(-1);
        if (fate.isThrown && answer.status !== 200) reject(thrownAnswer(dice.of('token_answer_thrown'), answer));
        else resolve(answer);
      });
    });
  }

  const endpoint = {
    transportOf:
      (machine: Machine): Transport =>
      (request) =>
        new Promise((resolve, reject) => send(machine, request, resolve, reject)),
    toldToWaitUntil: 0,
  };
  return endpoint;
}

function endingOf({ status, headers, body }: TransportResponse): Ending {
  const hasToken = status === 200 && String(body).includes('access_token');
  return { status, hasToken, toldMs: Number((headers as Record<string, string>)['retry-after']) * second || 0 };
}

function status(code: number): TransportResponse {
  return { status: code, headers: {}, body: '' };
}
