import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { paceSentence, scopeSentences } from '../src/explain/course.ts';
import { explain, isUnusual, otherHolds } from '../src/explain/explain.ts';
import type { Cause, Finding } from '../src/explain/finding.ts';
import { holdSentence } from '../src/report/sentences.ts';
import { instant } from '../src/report/text.ts';
import type { Usage } from '../src/report/usage.ts';
import { hour, minute, names, now, series, usageOf } from './journals.ts';

/** A fleet that renews its token once a day. */
const regular = series(2, 20 * 60, { reason: 'refresh' });

/** Tokens of one audience under so many keys. */
function inUse(count: number): Usage['tokens'] {
  return Array.from({ length: count }, (_, index) => ({
    id: `token-${index}`,
    audience: 'https://api.example/',
    issuedAt: now - hour,
    expiresAt: now + 23 * hour,
  }));
}

const journals: Readonly<Record<Cause, { readonly usage: Usage; readonly says: readonly (string | RegExp)[] }>> = {
  '401-storm': {
    usage: usageOf(
      [...series(61, 4, { reason: 'rejected', instance: 'api-7f9c' }), ...series(31, 40, { reason: 'refresh' }, 250)],
      {
        holds: [{ kind: 'rejections', until: now + 30 * minute }],
      },
    ),
    says: [
      '61 of the 92 tokens of the last 24 h were issued because the API rejected the one before (401) within 5 minutes',
      /^For https:\/\/api\.example\/, by instance api-7f9c: first at .* \(4 h 1 min ago\), last at .* \(1 min ago\)\. It goes on\. 61 /,
      /let through at .* \(in 30 min\)/,
    ],
  },
  'credentials-rejected': {
    usage: usageOf(regular, {
      holds: [{ kind: 'credentials', until: now + 5 * minute, audience: 'https://api.example/', status: 401 }],
      refusedUntil: now + 5 * minute,
      refusedBecause: 'credentials',
    }),
    says: ['For https://api.example/. The token endpoint rejected the credentials (401).', 'another secret at once'],
  },
  deaths: {
    usage: usageOf(series(5, 3, { reason: 'cold', pending: true }, 2), {
      holds: [{ kind: 'deaths', until: now + 8 * minute }],
      availableNow: 0,
      unknown: 0,
    }),
    says: [
      /^For https:\/\/api\.example\/, by instance api-1: first at .* \(14 min ago\), last at .* \(2 min ago\)\. It goes on\. 5 token requests had no end/,
      '(in 8 min), for any audience',
    ],
  },
  'dying-tokens': {
    usage: usageOf(
      [...series(8, 61, { reason: 'rejected', died: true }, 30), ...series(1, 1, { reason: 'cold' }, 30 + 8 * 61)],
      {
        tokens: inUse(1),
      },
    ),
    says: [
      'Tokens die after about 61 min, though the token endpoint says 24 h: 8 of the 9 tokens of the last 24 h replaced one that the API had accepted.',
    ],
  },
  'different-keys': {
    usage: usageOf(
      names(40).flatMap((instance, index) => series(1, 1, { reason: 'cold', instance }, 1 + 6 * index)),
      { tokens: inUse(40) },
    ),
    says: [
      /^For https:\/\/api\.example\/, by 39 instances, such as .* It goes on\. 40 tokens are in use for https:\/\/api\.example\/; programs with one key share one\. 39/,
      '39 of the 40 tokens',
      '39 instances did so, each of them once',
      'The usual time between two of them is 6 min',
    ],
  },
  'low-limit': {
    usage: usageOf(regular, { limit: 10, usable: 5, remaining: 3, availableNow: 3, windowMs: hour }),
    says: ['Of the limit of 10 tokens in 1 h only 5 are usable; 5 are in reserve'],
  },
  'not-enforced': {
    usage: usageOf(series(20, 30, { reason: 'expired', overLimit: true }), { limit: 12, usable: 10, enforce: false }),
    says: ['The limit is not enforced. It would have refused 20 tokens of 24 h.'],
  },
  'many-audiences': {
    usage: usageOf([
      ...regular,
      ...series(20, 30, { reason: 'expired', audience: 'https://reports.example/', instance: 'reports' }),
    ]),
    says: [
      'Only 2 of the 22 tokens of the last 24 h were for https://api.example/',
      '20 were for https://reports.example/',
      /^For https:\/\/reports\.example\/, by instance reports: first at /,
    ],
  },
  'new-record': {
    usage: usageOf(regular, { newRecord: { allowed: 28, remaining: 4, until: now + 20 * minute } }),
    says: [`it allows 28 tokens until ${instant(now + 20 * minute, now)}. 4 of them are left.`],
  },
  'other-programs': {
    usage: usageOf(regular, {
      holds: [{ kind: 'rate_limited', until: now + 3 * hour, status: 429 }],
      refusedUntil: now + 3 * hour,
      refusedBecause: 'rate_limited',
    }),
    says: ['For all audiences. The token endpoint answered 429, but this record counts only 2 of 150 tokens'],
  },
  outage: {
    usage: usageOf(regular, {
      holds: [{ kind: 'backoff', until: now + minute, status: 503 }],
      refusedUntil: now + minute,
      refusedBecause: 'backoff',
    }),
    says: ['For all audiences. The token endpoint answered 503'],
  },
  resets: {
    usage: usageOf([...regular, ...series(12, 20, { reason: 'reset', instance: 'cron' })], {
      resets: [
        {
          at: now - minute,
          audience: 'https://api.example/',
          tokenId: 'token-1',
          instance: 'cron',
          reason: 'error in the job',
        },
      ],
    }),
    says: [
      '12 of the 14 tokens of the last 24 h replaced tokens that were reset',
      /^For https:\/\/api\.example\/, by instance cron: first at .* \(3 h 41 min ago\), last at/,
      'cron called reset() last, with the reason "error in the job"',
    ],
  },
  restarts: {
    usage: usageOf([...regular, ...series(24, 5, { reason: 'cold', instance: 'api-7f9c' })]),
    says: ['24 of the 26 tokens', 'instance api-7f9c started and found no token that it could use, one every 5 min'],
  },
  'short-tokens': {
    usage: usageOf(series(90, 9, { reason: 'refresh' }), {
      tokens: [{ id: 'x', audience: 'https://api.example/', issuedAt: now - minute, expiresAt: now + 9 * minute }],
    }),
    says: ['Tokens live for 10 min', 'takes about 170 of the 120 usable tokens'],
  },
  'terms-differ': {
    usage: usageOf(regular, {
      windows: [
        {
          tokens: 150,
          windowMs: 24 * hour,
          usable: 120,
          used: 2,
          pending: 0,
          remaining: 118,
          nextFreeAt: undefined,
          own: true,
        },
        {
          tokens: 50,
          windowMs: 24 * hour,
          usable: 40,
          used: 2,
          pending: 0,
          remaining: 38,
          nextFreeAt: undefined,
          own: false,
        },
      ],
    }),
    says: ['Programs of the fleet state different limits: 50 in 24 h'],
  },
  'unknown-outcomes': {
    usage: usageOf([...regular, ...series(14, 30, { reason: 'expired', pending: true, instance: 'api-2' })]),
    says: [
      '14 of the 16 tokens that count were perhaps never issued',
      /^For https:\/\/api\.example\/, by instance api-2: /,
    ],
  },
};

/** Returns the sentences of `explain` about a finding, up to what to do. */
function printed(finding: Finding, usage: Usage): string {
  const { evidence } = finding;
  return [scopeSentences(finding, usage, now), evidence, paceSentence(finding, usage, now)].join(' ').trim();
}

test.for(Object.entries(journals))(
  '%s is the first cause that is named, with its evidence',
  ([cause, { usage, says }]) => {
    const [first, ...others] = explain(usage, { now, audiences: ['https://api.example/'], failures: [] });
    expect(first?.cause).toBe(cause);
    for (const part of says) expect(first && printed(first, usage)).toMatch(part);
    expect(first?.remedy.length).toBeGreaterThan(40);
    // One disturbance is not explained in five ways.
    expect(others.length, others.map(({ cause }) => cause).join()).toBeLessThanOrEqual(1);
  },
);

test.each([
  [undefined, 'For all audiences. The provider counts at least 60 tokens that this record does not know.'],
  [{ allowed: 28, remaining: 20, until: now + hour }, 'does not know: they may have been issued before it began.'],
])('tokens that the provider counts and the record does not know are those of other programs', (newRecord, says) => {
  const figures = { windowMs: 24 * hour, tokens: 150, remaining: 88, observedAt: now - hour, resetAt: now + hour };
  const usage = usageOf(regular, { foreign: 60, quota: [{ ...figures, foreign: 60 }], newRecord });
  const [first, ...others] = explain(usage, { now, audiences: [], failures: [] });
  expect([first?.cause, others]).toEqual(['other-programs', []]);
  expect(first && printed(first, usage)).toContain(says);
  expect(explain({ ...usage, foreign: 0 }, { now, audiences: [], failures: [] })).toEqual([]);
});

test('programs that restart and jobs with names of their own are told apart, and both are named', () => {
  const jobs = names(20).flatMap((instance, index) => series(1, 1, { reason: 'cold', instance }, 3 + 6 * index));
  const usage = usageOf([...series(24, 5, { reason: 'cold', instance: 'api-7f9c' }), ...jobs]);
  const findings = explain(usage, { now, audiences: [], failures: [] });
  expect(findings.map(({ cause }) => cause)).toEqual(['restarts', 'different-keys']);
  expect(findings.map(({ evidence }) => evidence)).toEqual([
    expect.stringContaining('24 of the 44 tokens'),
    expect.stringContaining('19 of the 44 tokens'),
  ]);
  // Nothing is called possible that the record excludes: all of them are in this store.
  for (const { remedy } of findings) expect(remedy).toContain('this record');
});

test('programs that died are not taken for an endpoint that fails, and a few tokens of others are nothing unusual', () => {
  const died = usageOf([...regular, ...series(9, 25, { reason: 'cold', pending: true, instance: 'job' })]);
  const failures = [{ kind: 'deaths', count: 8, retryAt: now - hour }] as const;
  const findings = explain(died, { now, audiences: [], failures });
  expect(findings).toMatchObject([
    { cause: 'deaths', evidence: expect.stringMatching(/^9 token requests had no end/) },
  ]);
  const others = series(4, 300, { reason: 'refresh', audience: 'https://reports.example/' });
  const healthy = usageOf([...others, ...regular]);
  expect(explain(healthy, { now, audiences: ['https://api.example/'], failures: [] })).toEqual([]);
});

test.each([
  [408, 'timeoutMs'],
  [503, 'timeoutMs'],
  [404, 'a mistake in an address'],
  [200, 'a login page'],
])('an endpoint that answers %i: the remedy names %s', (status, says) => {
  const usage = usageOf(regular, { holds: [{ kind: 'backoff', until: now + minute, status }] });
  const [finding] = explain(usage, { now, audiences: [], failures: [] });
  expect(finding).toMatchObject({ cause: 'outage', remedy: expect.stringContaining(says) });
});

test('a token that is refused while its client is not: the remedy begins with what was asked for', () => {
  const audience = 'https://api.example/';
  const failures = [
    { kind: 'credentials', count: 1, retryAt: now + hour, status: 403, audience, about: 'request', failedAt: now },
  ] as const;
  const usage = usageOf([], { holds: [{ kind: 'credentials', until: now + hour, status: 403, audience }] });
  const [finding] = explain(usage, { now, audiences: [audience], failures });
  expect(finding).toMatchObject({
    cause: 'credentials-rejected',
    evidence: expect.stringContaining(`refuses tokens for ${audience} (403`),
    remedy: expect.stringMatching(
      /^Compare audience and scope .* If it gets no others either, compare client id and secret\./,
    ),
  });
});

test('several programs that restart are one finding with their names', () => {
  const entries = ['batch-0', 'batch-1', 'batch-2'].flatMap((instance, index) =>
    series(10, 33, { reason: 'cold', instance }, 1 + 11 * index),
  );
  const [first, ...others] = explain(usageOf(entries), { now, audiences: [], failures: [] });
  expect(first).toMatchObject({ cause: 'restarts' });
  expect(first && scopeSentences(first, usageOf(entries), now)).toMatch(
    /, by 3 instances: batch-\d, batch-\d and batch-\d: first/,
  );
  expect(others).toEqual([]);
});

test.for([
  [12, 12, 'each of them once'],
  [12, 20, '4 of them once, the others several times'],
  [12, 24, 'each of them several times'],
] as const)('of %i names with %i tokens it says how often they came', ([count, tokens, says]) => {
  const list = names(count);
  const entries = Array.from({ length: tokens }, (_, index) => ({
    reason: 'cold' as const,
    instance: list[index % count] ?? '',
    ago: 1 + 5 * index,
  }));
  // A token that was issued long before is the first of the journal.
  const old = { reason: 'refresh' as const, instance: 'api-1', ago: 5 * tokens + 30 };
  const findings = explain(usageOf([...entries, old]), { now, audiences: [], failures: [] });
  expect(findings.find(({ cause }) => cause === 'different-keys')?.evidence).toContain(says);
});

test('a finding says since when it goes on, and what a window takes at this pace', () => {
  const courseOf = (entries: Parameters<typeof usageOf>[0], changes: Partial<Usage> = {}) => {
    const usage = usageOf(entries, changes);
    const [finding] = explain(usage, { now, audiences: [], failures: [] });
    return finding && [scopeSentences(finding, usage, now), paceSentence(finding, usage, now)].join(' ');
  };
  const starts = series(24, 5, { reason: 'cold', instance: 'api-7f9c' });
  expect(courseOf([...regular, ...starts])).toMatch(
    /by instance api-7f9c: first at .* \(1 h 56 min ago\), last at .* \(1 min ago\)\. It goes on\. At this pace it takes 288 tokens in 24 h; 120 are usable\.$/,
  );
  expect(courseOf(series(24, 5, { reason: 'cold', instance: 'api-7f9c' }, 60))).toMatch(
    /last at .*\. None has followed for 60 min, so it may be over\. $/,
  );
  // Renewals after a 401 are spaced, so their pace does not go on.
  expect(courseOf(series(20, 4, { reason: 'rejected' }))).not.toContain('At this pace');
  // Restarts of a few minutes are no pace for a day.
  const loop = series(24, 1, { reason: 'cold', instance: 'api-7f9c' });
  expect(courseOf([...regular, ...loop])).toMatch(/ It goes on\. $/);
  // The first of those that a record lists need not be the first of all.
  expect(courseOf(starts, { used: 100 })).toMatch(/first at .* ago\) or earlier, last at/);
});

test('requests that died in a row are told from older ones, so that no number contradicts another', () => {
  const usage = usageOf([
    ...series(2, 9, { reason: 'cold', pending: true, instance: 'job' }, 200),
    ...series(1, 1, { reason: 'cold' }, 150),
    ...series(8, 9, { reason: 'cold', pending: true, instance: 'job' }, 2),
  ]);
  const failures = [{ kind: 'deaths', count: 8, retryAt: now - hour }] as const;
  const [finding] = explain(usage, { now, audiences: [], failures });
  expect(finding?.evidence).toMatch(
    /^10 token requests had no end.* The last 8 of them came without an issued token in between\.$/,
  );
});

test('all audiences whose credentials were rejected are named', () => {
  const held = (audience: string) => ({ kind: 'credentials', until: now + hour, audience, status: 401 }) as const;
  const usage = usageOf(regular, { holds: [held('https://a.example/'), held('https://b.example/')] });
  const [finding] = explain(usage, { now, audiences: [], failures: [] });
  expect(finding && printed(finding, usage)).toMatch(/^For https:\/\/a\.example\/ and https:\/\/b\.example\/\. The/);
});

test('a record that lists only its newest issuances says so, whatever the limit is', () => {
  const listed = series(150, 4, { reason: 'rejected' });
  const evidenceOf = (changes: Partial<Usage>) =>
    explain(usageOf(listed, changes), { now, audiences: [], failures: [] })[0]?.evidence;
  expect(evidenceOf({ limit: 1_000, usable: 800, used: 400 })).toContain('150 of the newest 150 tokens');
  expect(evidenceOf({ limit: 1_000, usable: 800, used: 150 })).toContain('150 of the 150 tokens');
});

test('a healthy fleet has no cause, and neither has one without any token', () => {
  for (const usage of [usageOf(regular), usageOf([]), usageOf([...regular, ...series(1, 1, { reason: 'cold' })])]) {
    expect(explain(usage, { now, audiences: ['https://api.example/'], failures: [] })).toEqual([]);
    expect(isUnusual(usage)).toBe(false);
  }
});

test('a new record matters when little of what it allows is left', () => {
  const usage = usageOf(series(1, 5, { reason: 'cold' }), {
    newRecord: { allowed: 28, remaining: 27, until: now + hour },
  });
  expect(explain(usage, { now, audiences: [], failures: [] })).toEqual([]);
});

test("all audiences of a list are one's own", () => {
  const own = ['https://api.example/', 'https://reports.example/'];
  const usage = usageOf([
    ...series(1, 30, { reason: 'expired' }),
    ...series(20, 30, { reason: 'expired', audience: 'https://reports.example/' }),
  ]);
  const causesFor = (audiences: string[]) => explain(usage, { now, audiences, failures: [] }).map(({ cause }) => cause);
  expect(causesFor(own.slice(0, 1))).toEqual(['many-audiences']);
  expect(causesFor(own)).toEqual([]);
});

test('a pace is not told while something is on hold', () => {
  const usage = usageOf(series(24, 5, { reason: 'cold', instance: 'api-7f9c' }));
  const [finding] = explain(usage, { now, audiences: [], failures: [] });
  expect(paceSentence(finding as Finding, usage, now)).toContain('At this pace it takes');
  const holds = [{ kind: 'deaths' as const, until: now + minute }];
  expect(paceSentence(finding as Finding, { ...usage, holds }, now)).toBe('');
});

test('a budget that is spent by nothing that is known is unusual, but has no cause', () => {
  const usage = usageOf(series(115, 10, { reason: 'refresh', instance: 'api-1' }));
  expect(explain(usage, { now, audiences: ['https://api.example/'], failures: [] })).toEqual([]);
  expect(isUnusual(usage)).toBe(true);
});

test('what refuses callers now is named before what spent tokens', () => {
  const usage = usageOf(series(24, 5, { reason: 'cold', instance: 'api-7f9c' }), {
    holds: [{ kind: 'credentials', until: now + minute, status: 401 }],
    refusedUntil: now + minute,
    refusedBecause: 'credentials',
  });
  expect(explain(usage, { now, audiences: [], failures: [] }).map(({ cause }) => cause)).toEqual([
    'credentials-rejected',
    'restarts',
  ]);
});

test('every cause has a section in the runbook, with cause, evidence and what to do', () => {
  const runbook = readFileSync(new URL('../../../docs/runbook.md', import.meta.url), 'utf8');
  for (const cause of [...Object.keys(journals), 'no-cause-found']) {
    const section = runbook.split(/^## /m).find((text) => anchorOf(text.split('\n')[0] ?? '') === cause);
    expect(section, cause).toBeDefined();
    if (cause === 'no-cause-found') continue;
    for (const part of ['**Cause.**', '**Evidence.**', '**What to do.**']) expect(section).toContain(part);
  }
});

function anchorOf(heading: string): string {
  return heading.toLowerCase().replaceAll(' ', '-');
}

test('where the provider counts requests, the sentences speak of them', () => {
  const refused = {
    holds: [{ kind: 'credentials', until: now + 5 * minute, audience: 'https://api.example/', status: 401 }],
    refusedUntil: now + 5 * minute,
    refusedBecause: 'credentials',
  } as const;
  const deaths = { holds: [{ kind: 'deaths', until: now + 8 * minute }] } as const;
  const pending = series(5, 3, { reason: 'cold', pending: true }, 2);
  const evidence = (entries: Parameters<typeof usageOf>[0], changes: Partial<Usage>) =>
    explain(usageOf(entries, { counts: 'requests', ...changes }), { now, audiences: [], failures: [] }).map(
      ({ evidence, remedy }) => `${evidence} ${remedy}`,
    );
  expect(evidence(regular, { limit: 10, usable: 5, windowMs: hour }).join()).toContain(
    'the limit of 10 requests in 1 h',
  );
  expect(evidence(regular, refused).join()).toContain('Each such request counts.');
  const died = evidence(pending, { ...deaths, unknown: 5, used: 20 }).join();
  expect(died).toContain('before the answer. Each counts.');
  expect(died).toContain('because each request counts');
  expect(died).toContain('5 of the 20 requests that count perhaps never arrived');
  // Refused requests count and are not listed, so the list has all tokens.
  const storm = series(10, 4, { reason: 'rejected' });
  expect(evidence(storm, { used: 40 }).join()).toContain('10 of the 10 tokens of the last 24 h');
});

test('a low limit without a reserve is told as that', () => {
  const usage = usageOf(regular, { limit: 3, usable: 3, remaining: 1, availableNow: 1 });
  expect(explain(usage, { now, audiences: [], failures: [] })).toMatchObject([
    {
      cause: 'low-limit',
      evidence: 'The limit is only 3 tokens in 24 h, and none is in reserve, so a few restarts or 401s use all of it.',
      remedy: 'Ask the provider for a higher limit.',
    },
  ]);
});

test('an answer that says "later" is told by its status, and names no wrong secret', () => {
  const holds = [{ kind: 'rate_limited' as const, until: now + hour, status: 400 }];
  const [finding] = explain(usageOf(regular, { holds }), { now, audiences: [], failures: [] });
  expect(finding?.cause).toBe('other-programs');
  expect(finding?.evidence).toContain('The token endpoint answered 400 and asked to try again later, but this record');
  expect(holdSentence(holds[0] as (typeof holds)[0], now)).toContain('answered 400 and asked to try again later. No');
  const outage = [{ kind: 'backoff' as const, until: now + hour, status: 400 }];
  const [other] = explain(usageOf(regular, { holds: outage }), { now, audiences: [], failures: [] });
  expect([other?.cause, other?.remedy]).toEqual(['outage', expect.stringContaining('says that it is out of order')]);
});

test('each hold is told: by a finding, or by the sentence that usage has for it', () => {
  const kinds = ['credentials', 'rate_limited', 'backoff', 'deaths', 'rejections', 'renewal'] as const;
  for (const kind of kinds) {
    const usage = usageOf(regular, { holds: [{ kind, until: now + minute }] });
    const findings = explain(usage, { now, audiences: [], failures: [] });
    expect(otherHolds(usage, findings), kind).toHaveLength(1 - findings.length);
  }
});
