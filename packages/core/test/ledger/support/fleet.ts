import fc from 'fast-check';
import { compact } from '../../../src/ledger/compact.ts';
import { countOf } from '../../../src/ledger/count.ts';
import { decide } from '../../../src/ledger/decide.ts';
import { type Limits, limitsFor, termLimits, withStatement } from '../../../src/ledger/limits.ts';
import { withCompromise, withRetry, withStated } from '../../../src/ledger/orders.ts';
import { present } from '../../../src/ledger/present.ts';
import { type LedgerRecord, newRecord, type Spent, type Term, tokenOf } from '../../../src/ledger/record.ts';
import { type Answer, settle } from '../../../src/ledger/settle.ts';
import { day, hour, minute, noon, second } from '../../support/instants.ts';
import { ambiguous, issued, refused, situationOf, unreachable } from './records.ts';

/** A request has its effect within this time, or never. */
const effectMs = 5 * minute;
/** A process enforces the limits that others stated within this time. */
const statedMs = hour;

/** One token request, as the provider saw it. */
interface Request {
  readonly id: string;
  readonly reservedAt: number;
  /** When the provider heard of it. Undefined: not yet, or never. */
  readonly heardAt?: number;
  /** When the provider issued a token. */
  readonly issuedAt?: number;
  /** It can't have an effect any more. */
  readonly isOver: boolean;
}

/** A request whose outcome a process knows. */
interface Answered {
  readonly reserved: Spent;
  readonly answer: Answer;
  readonly process: number;
}

/** A fleet with one record, and the truth: what the provider issued, and what people said. */
export interface Fleet {
  readonly record: LedgerRecord;
  readonly now: number;
  /** The limits of each process. */
  readonly limits: readonly Limits[];
  /** When each process stated its limits last. */
  readonly statedAt: readonly number[];
  readonly requests: readonly Request[];
  readonly underWay: readonly { readonly reserved: Spent; readonly process: number }[];
  /** Outcomes that are not written yet, and those that were. */
  readonly unwritten: readonly Answered[];
  readonly written: readonly Answered[];
  /** What people said was spent elsewhere. */
  readonly said: readonly { readonly at: number; readonly tokens: number }[];
  /** The tokens that were reset. */
  readonly reset: ReadonlySet<string>;
  /** Distinguishes the ids of two copies that go different ways. */
  readonly copy: string;
}

type How = 'issued' | 'issued, and the reply is lost' | 'failed' | 'refused' | 'later' | 'unreachable' | 'unsent';

/** A step that the ledger allows. Numbers choose among what there is at that moment. */
export type Step =
  | { readonly kind: 'pass'; readonly ms: number }
  | {
      readonly kind: 'ask';
      readonly process: number;
      readonly from: number;
      readonly names: number;
      readonly reason: 'cold' | 'refresh' | 'rejected';
    }
  | { readonly kind: 'serve'; readonly process: number; readonly from: number; readonly names: number }
  | { readonly kind: 'answer'; readonly which: number; readonly requests: number; readonly how: How }
  | { readonly kind: 'settle'; readonly which: number; readonly outcomes: number }
  | { readonly kind: 'settle again'; readonly which: number }
  | { readonly kind: 'die'; readonly which: number }
  | { readonly kind: 'reset'; readonly which: number }
  | { readonly kind: 'retry' }
  | { readonly kind: 'say'; readonly tokens: number };

interface Doing {
  readonly isHeard: boolean;
  readonly isIssued: boolean;
  /** What the process hears. Undefined: the token. */
  readonly heard: Answer | undefined;
}

/** What the provider does with a request. */
const answers: Readonly<Record<How, Doing>> = {
  issued: { isHeard: true, isIssued: true, heard: undefined },
  'issued, and the reply is lost': { isHeard: true, isIssued: true, heard: ambiguous() },
  failed: { isHeard: true, isIssued: false, heard: ambiguous() },
  refused: { isHeard: true, isIssued: false, heard: refused(401)() },
  later: { isHeard: true, isIssued: false, heard: refused(429, { retryAfterMs: minute })() },
  unreachable: { isHeard: false, isIssued: false, heard: unreachable() },
  unsent: { isHeard: false, isIssued: false, heard: { kind: 'unsent' } },
};

const anyIndex = fc.nat({ max: 999 });
const anyName = fc.nat({ max: 600 });
const how = fc.oneof(
  { arbitrary: fc.constant('issued' as const), weight: 6 },
  { arbitrary: fc.constantFrom(...(Object.keys(answers) as How[])), weight: 3 },
);
const few = fc.oneof({ arbitrary: fc.integer({ min: 1, max: 4 }), weight: 2 }, fc.integer({ min: 5, max: 30 }));

/** `names`: how many a step concerns. `serves`: how often several names are served at once. */
function stepOf(maxPassMs: number, names: fc.Arbitrary<number>, serves: number): fc.Arbitrary<Step> {
  const step = <Kind extends Step['kind']>(kind: Kind, members: object, weight: number) => ({
    arbitrary: fc.record({ kind: fc.constant(kind), ...members }) as unknown as fc.Arbitrary<Step>,
    weight,
  });
  const reason = fc.constantFrom('cold', 'refresh', 'rejected');
  const ms = fc.oneof(fc.integer({ min: second, max: 4 * minute }), fc.integer({ min: second, max: maxPassMs }));
  return fc.oneof(
    step('pass', { ms }, 6),
    step('ask', { process: anyIndex, from: anyName, names, reason }, 8),
    step('serve', { process: anyIndex, from: anyName, names }, serves),
    step('answer', { which: anyIndex, requests: names, how }, 8),
    step('settle', { which: anyIndex, outcomes: names }, 8),
    step('settle again', { which: anyIndex }, 2),
    step('die', { which: anyIndex }, 1),
    step('reset', { which: anyIndex }, 2),
    step('retry', {}, 1),
    step('say', { tokens: fc.integer({ min: 1, max: 20 }) }, 1),
  );
}

const manySteps = { maxLength: 50, size: 'max' } as const;

/** Few enough steps that two copies of a record still know all of them one by one. */
export const fewSteps: fc.Arbitrary<Step[]> = fc.array(stepOf(4 * minute, fc.integer({ min: 1, max: 6 }), 4), {
  maxLength: 12,
  size: 'max',
});

/** A fleet before its first step. Each of up to three processes states some of the windows. */
const fleetWith = (tokens: fc.Arbitrary<number>): fc.Arbitrary<Fleet> =>
  fc
    .record({
      windows: fc.uniqueArray(fc.record({ tokens, windowMs: fc.constantFrom(10 * minute, hour, 6 * hour, day) }), {
        minLength: 1,
        maxLength: 3,
        selector: ({ windowMs }) => windowMs,
      }),
      counts: fc.constantFrom(undefined, undefined, 'requests' as const),
      shares: fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 3 }),
      reserve: fc.constantFrom(undefined, undefined, 0, 1),
      durability: fc.constantFrom('process', 'durable', 'replicated'),
    })
    .map(({ windows, counts, shares, reserve, durability }) => {
      const limits = shares.map((share) => {
        const stated = windows.filter((_, index) => ((share + 1) >> index) & 1);
        const terms = (stated.length > 0 ? stated : windows).map((window) => ({
          ...window,
          ...(counts && { counts }),
        }));
        return limitsFor(terms, reserve, durability);
      });
      const started = limits.reduce(
        (record, each, index) => withStatement(situationOf(record, noon, each), `process ${index}`),
        newRecord('record', noon - 30 * day),
      );
      const nothing = { requests: [], underWay: [], unwritten: [], written: [], said: [] };
      const statedAt = limits.map(() => noon);
      return { record: started, now: noon, limits, statedAt, ...nothing, reset: new Set<string>(), copy: '' };
    });

/** A fleet and its steps: of some days, or so many tokens that the record adds up what is old. */
export const anyHistory: fc.Arbitrary<[Fleet, Step[]]> = fc.oneof(
  {
    arbitrary: fc.tuple(
      fleetWith(fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 31, max: 300 }))),
      fc.array(stepOf(9 * hour, few, 2), manySteps),
    ),
    weight: 5,
  },
  {
    arbitrary: fc.tuple(
      fleetWith(fc.constantFrom(700, 900)),
      fc.array(stepOf(2 * hour, fc.integer({ min: 1, max: 40 }), 16), { ...manySteps, minLength: 30 }),
    ),
    weight: 1,
  },
);

/** The members of a list from one place on, so many of them. */
function some<Member>(members: readonly Member[], which: number, count: number): readonly Member[] {
  if (members.length === 0) return [];
  const from = which % members.length;
  return [...members.slice(from), ...members.slice(0, from)].slice(0, count);
}

/** The record as a process reads it. */
function readBy({ record, now, limits }: Fleet, process: number): LedgerRecord {
  const { record: whole } = present(record, undefined, now, 'another record');
  return withStatement(situationOf(whole, now, limitsOf(limits, process)), `process ${process}`);
}

function limitsOf(limits: readonly Limits[], process: number): Limits {
  return limits[process] as Limits;
}

/** The fleet after a process wrote the record. */
function writtenBy(fleet: Fleet, process: number, next: LedgerRecord): Fleet {
  const compacted = compact(situationOf(next, fleet.now, limitsOf(fleet.limits, process)));
  const record = { ...compacted, sequence: fleet.record.sequence + 1 };
  return { ...fleet, record, statedAt: fleet.statedAt.with(process, fleet.now) };
}

/** Takes a step, if it is possible at that moment. `onReserved`: called after each reservation. */
export function after(fleet: Fleet, step: Step, onReserved: (fleet: Fleet, process: number) => void = () => {}): Fleet {
  switch (step.kind) {
    case 'pass': {
      const now = fleet.now + step.ms;
      const requests = fleet.requests.map((request) => {
        return request.reservedAt + effectMs > now ? request : { ...request, isOver: true };
      });
      return {
        ...fleet,
        now,
        requests,
        underWay: fleet.underWay.filter(({ reserved }) => reserved.at + effectMs > now),
      };
    }
    case 'ask': {
      const process = step.process % fleet.limits.length;
      let next = fleet;
      for (let name = step.from; name < step.from + step.names; name++) {
        const known = step.reason === 'cold' ? undefined : some(next.record.tokens, name, 1)[0];
        const asked = asking(next, process, known?.name ?? `name ${name}`, step.reason);
        if (asked === next) continue;
        next = asked;
        onReserved(next, process);
      }
      return next;
    }
    case 'serve': {
      const asked = after(fleet, { ...step, kind: 'ask', reason: 'cold' }, onReserved);
      return asked.underWay.slice(fleet.underWay.length).reduce((next, { reserved, process }) => {
        const answer = answered(next, reserved, process, 'issued');
        return settledOnce(answer, answer.unwritten.at(-1) as Answered);
      }, asked);
    }
    case 'answer':
      return some(fleet.underWay, step.which, step.requests).reduce(
        (next, { reserved, process }) => answered(next, reserved, process, step.how),
        fleet,
      );
    case 'settle':
      return some(fleet.unwritten, step.which, step.outcomes).reduce(settledOnce, fleet);
    case 'settle again':
      return some(fleet.written, step.which, 1).reduce(settledBy, fleet);
    case 'die': {
      const [gone] = some(fleet.unwritten, step.which, 1);
      return { ...fleet, unwritten: fleet.unwritten.filter((outcome) => outcome !== gone) };
    }
    case 'reset': {
      const [token] = some(fleet.record.tokens, step.which, 1);
      if (!token) return fleet;
      const { name } = token;
      const id = `reset ${fleet.copy}${fleet.record.sequence}`;
      const record = withCompromise(readBy(fleet, 0), fleet.now, { id, name, keyId: 'key', instance: 'process 0' });
      const ended = fleet.record.tokens.filter((other) => other.name === name).map((other) => other.id);
      return { ...writtenBy(fleet, 0, record), reset: new Set([...fleet.reset, ...ended]) };
    }
    case 'retry': {
      const id = `retry ${fleet.copy}${fleet.record.sequence}`;
      return writtenBy(fleet, 0, withRetry(readBy(fleet, 0), fleet.now, { id, by: 'process 0' }));
    }
    case 'say': {
      const { tokens } = step;
      const said = { id: `said ${fleet.copy}${fleet.record.sequence}`, by: 'somebody', reason: 'a count', tokens };
      const record = withStated(situationOf(readBy(fleet, 0), fleet.now, limitsOf(fleet.limits, 0)), said);
      if (!record) return fleet;
      return { ...writtenBy(fleet, 0, record), said: [...fleet.said, { at: fleet.now, tokens }] };
    }
  }
}

/** A process asks for a token of a name, and reserves a request if it may. */
function asking(fleet: Fleet, process: number, name: string, reason: 'cold' | 'refresh' | 'rejected'): Fleet {
  const record = readBy(fleet, process);
  const stored = tokenOf(record, name, 'key');
  const query = {
    ...{ name, keyId: 'key', secretId: 'secret', instance: `process ${process}`, resetUpTo: 0 },
    ...{ id: `request ${fleet.copy}${fleet.record.sequence}`, leaseMs: 40 * second, reason },
    cached: reason === 'refresh' ? stored : undefined,
    unusable: reason === 'rejected' ? [stored?.id] : [],
  };
  const decision = decide(situationOf(record, fleet.now, limitsOf(fleet.limits, process)), query);
  if (decision.kind !== 'reserve') return fleet;
  const { reserved } = decision;
  const request = { id: query.id, reservedAt: fleet.now, isOver: false };
  return {
    ...writtenBy(fleet, process, decision.record),
    requests: [...fleet.requests, request],
    underWay: [...fleet.underWay, { reserved, process }],
  };
}

function answered(fleet: Fleet, reserved: Spent, process: number, how: How): Fleet {
  const { isHeard, isIssued, heard } = answers[how];
  const { now } = fleet;
  const requests = fleet.requests.map((request) => {
    if (request.id !== reserved.id) return request;
    return { ...request, isOver: true, ...(isHeard && { heardAt: now }), ...(isIssued && { issuedAt: now }) };
  });
  const underWay = fleet.underWay.filter((other) => other.reserved !== reserved);
  const answer = heard ?? issued(reserved, now);
  return { ...fleet, requests, underWay, unwritten: [...fleet.unwritten, { reserved, answer, process }] };
}

function settledOnce(fleet: Fleet, outcome: Answered): Fleet {
  const { unwritten, written } = fleet;
  const left = unwritten.filter((other) => other !== outcome);
  return { ...settledBy(fleet, outcome), unwritten: left, written: [...written, outcome] };
}

function settledBy(fleet: Fleet, { reserved, answer, process }: Answered): Fleet {
  return writtenBy(fleet, process, settle(readBy(fleet, process), fleet.now, reserved, answer));
}

/** A calendar day in which the clocks change has 25 hours. */
const longest = ({ windowMs }: Term) => windowMs + Math.min(hour, windowMs / 24);

/** Returns how many tokens a record counts in a window. */
export function counted(record: LedgerRecord, at: number, term: Term): number {
  return countOf(record.spent, termLimits(term, 'durable'), at);
}

/**
 * What truly belongs to the window that ends at an instant: what was issued, what may yet be
 * issued, and what people said.
 */
export function truth({ requests, said }: Pick<Fleet, 'requests' | 'said'>, at: number, term: Term): number {
  const isInside = (instant: number | undefined) =>
    instant !== undefined && instant > at - longest(term) && instant <= at;
  const spent = requests.filter(({ reservedAt, heardAt, issuedAt, isOver }) => {
    const isPending = !isOver && reservedAt + effectMs > at;
    return isPending || isInside(term.counts === 'requests' ? heardAt : issuedAt);
  });
  return spent.length + Math.max(0, ...said.filter((one) => isInside(one.at)).map(({ tokens }) => tokens));
}

/** Now, and the last moments in which some of the requests are in a window. */
export function moments({ requests, now }: Fleet, term: Term): number[] {
  const heard = requests.flatMap(({ heardAt }) => heardAt ?? []);
  const ends = heard
    .filter((_, index) => index % Math.ceil(heard.length / 4) === 0)
    .map((at) => at + longest(term) - 1);
  return [now, ...ends.filter((at) => at > now)];
}

/** Returns each window that a process must keep: its own, and what others stated lately. */
export function termsFor({ limits, statedAt, now }: Fleet, process: number): Term[] {
  return limits.flatMap(({ terms }, index) => {
    return index === process || (statedAt[index] ?? 0) + statedMs > now ? terms : [];
  });
}

/** Returns each window that any process states. */
export function termsOf({ limits }: Fleet): Term[] {
  const terms = limits.flatMap((each) => each.terms);
  return [...new Map(terms.map((term) => [JSON.stringify(term), term])).values()];
}
