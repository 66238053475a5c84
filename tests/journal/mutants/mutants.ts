/** One passage of the source replaced by another. */
export interface Mutant {
  /** The mistake, in words. */
  readonly about: string;
  /** Under `src`. */
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
}

/** Code that is wrong on purpose: each rule of the pace, of the merge, of the clock and of the count is taken away once. */
export const mutants: readonly Mutant[] = [
  {
    about: 'rule 1: an attempt without an outcome is no failure',
    file: 'streaks.ts',
    find: 'if (!outcome) return until <= now;',
    replace: 'if (!outcome) return false;',
  },
  {
    about: 'rule 1: an endpoint that cannot be reached is no failure',
    file: 'streaks.ts',
    find: "outcome.kind === 'unreached' || (!isOther",
    replace: '(!isOther',
  },
  {
    about: 'rule 2: a streak ends with nobody',
    file: 'streaks.ts',
    find: 'if (at > (issuedAt.get(audience) ?? -1)) {',
    replace: 'if (at > 0) {',
  },
  {
    about: 'rule 2: failures at once count one by one',
    file: 'streaks.ts',
    find: 'streak.count = before + 1;',
    replace: 'streak.count += 1;',
  },
  {
    about: 'rule 2: a streak is never over',
    file: 'pace.ts',
    find: 'const own = failing && !isOver(failing, 15 * minute) ? failing : undefined;',
    replace: 'const own = failing;',
  },
  {
    about: 'rule 3: an audience does not wait for its own streak',
    file: 'pace.ts',
    find: 'own ? own.last + ladder(own.count, 15 * minute) : 0',
    replace: '0',
  },
  {
    about: 'rule 3: one failing audience holds all',
    file: 'pace.ts',
    find: 'const several = fleet.failing.size > 1;',
    replace: 'const several = fleet.failing.size > 0;',
  },
  {
    about: 'rule 3: nobody takes turns',
    file: 'pace.ts',
    find: 'if (failing && (shared || isSpared)) {',
    replace: 'if (failing && now < 0) {',
  },
  {
    about: 'rule 3: who had a token within two days is not the first',
    file: 'pace.ts',
    find: 'return hadToken(b) - hadToken(a) || one',
    replace: 'return one',
  },
  {
    about: 'rule 4: all ask at once after an outage',
    file: 'pace.ts',
    find: '(alone ? 1 : glance.maxOpen)',
    replace: 'glance.maxOpen',
  },
  {
    about: 'rule 4: all tokens may be under way',
    file: 'pace.ts',
    find: 'Math.floor(Math.min(...usable) / 4)',
    replace: 'Math.floor(Math.min(...usable))',
  },
  { about: 'rule 5: what the endpoint says holds nobody', file: 'pace.ts', find: '...toldHolds(fleet),', replace: '' },
  {
    about: 'rule 5: an older token ends what the endpoint said',
    file: 'streaks.ts',
    find: 'lastReservedAt = Math.max(lastReservedAt, at);',
    replace: 'lastReservedAt = Math.max(lastReservedAt, outcome.at);',
  },
  {
    about: 'rule 6: an outage spends everything',
    file: 'pace.ts',
    find: 'if (isSpared && spared.until > from) {',
    replace: 'if (isSpared && spared.until > from && now < 0) {',
  },
  {
    about: 'rule 6: the pause does not double from three eighths on',
    file: 'count.ts',
    find: 'ofTerm >= 3 / 8',
    replace: 'ofTerm >= 9',
  },
  {
    about: 'rule 6: probes go on that were answered in vain',
    file: 'pace.ts',
    find: 'askAt = isVain || !probes ?',
    replace: 'askAt = !probes ?',
  },
  {
    about: 'rule 6: probes go on that cost a token',
    file: 'pace.ts',
    find: 'askAt = isVain || !probes ?',
    replace: 'askAt = isVain ?',
  },
  {
    about: 'rule 6: a young record is spared like an old one',
    file: 'count.ts',
    find: 'const budget = mayMissTokens(record, now, term) ? term.newRecordCeiling : term.usable;',
    replace: 'const budget = term.usable;',
  },
  {
    about: 'rule 6: the end of a pause moves with the time',
    file: 'count.ts',
    find: 'Math.min(lastAt + pauseMs, freelyAt, enforcedUntil)',
    replace: 'Math.min(lastAt + Math.min(pauseMs, freelyAt - now), enforcedUntil)',
  },
  {
    about: 'rule 7: refused credentials hold nobody',
    file: 'pace.ts',
    find: '...refusalHolds(record, fleet, caller),',
    replace: '',
  },
  {
    about: 'rule 7: a refusal of the client holds one audience',
    file: 'pace.ts',
    find: 'audience === caller.audience || outcome?.ofClient === true',
    replace: 'audience === caller.audience',
  },
  {
    about: 'rule 7: renewals after 401s are not spaced',
    file: 'pace.ts',
    find: 'const spacedUntil = isOrdered ? 0 :',
    replace: 'const spacedUntil = now > 0 ? 0 :',
  },
  {
    about: 'rule 7: renewals after 401s have no share',
    file: 'pace.ts',
    find: 'rejectedShareAt(record, now, limits, audience));',
    replace: 'Math.min(0, rejectedShareAt(record, now, limits, audience)));',
  },
  {
    about: 'rule 7: an order lets everybody pass',
    file: 'orders.ts',
    find: 'return isTaken ? undefined : last;',
    replace: 'return last;',
  },
  {
    about: 'rule 7: a token that was ordered ends the failures of its audience only',
    file: 'streaks.ts',
    find: 'if (order !== undefined) pardonedAt',
    replace: 'if (order === "") pardonedAt',
  },
  {
    about: 'merge: buckets are added',
    file: 'merge.ts',
    find: 'count: Math.max(one.count, other.count), last',
    replace: 'count: one.count + other.count, last',
  },
  {
    about: 'merge: the first of two buckets stands',
    file: 'merge.ts',
    find: 'count: Math.max(one.count, other.count), last: Math.max(one.last, other.last)',
    replace: 'count: one.count, last: one.last',
  },
  {
    about: 'merge: the first outcome stands',
    file: 'merge.ts',
    find: '? joinedOutcome(one.outcome, other.outcome)',
    replace: '? one.outcome',
  },
  {
    about: 'merge: a reset of one side is undone',
    file: 'merge.ts',
    find: 'revoked: largest(one.revoked, other.revoked),',
    replace: 'revoked: one.revoked,',
  },
  {
    about: 'merge: one generation for all epochs is in buckets',
    file: 'journal.ts',
    find: 'return generation <= (folded[epoch] ?? 0);',
    replace: 'return epoch !== "" && generation <= Math.max(0, ...Object.values(folded));',
  },
  {
    about: 'merge: what is in buckets is forgotten',
    file: 'merge.ts',
    find: 'folded: largest(one.folded, other.folded),',
    replace: 'folded: one.folded,',
  },
  {
    about: 'merge: the token of the first side stands',
    file: 'merge.ts',
    find: 'tokenName, laterToken)',
    replace: 'tokenName, (one) => one)',
  },
  {
    about: 'compaction: an attempt that is under way goes into a bucket',
    file: 'compact.ts',
    find: '|| isOpen(attempt, now) || isYoung',
    replace: '|| isYoung',
  },
  {
    about: 'compaction: what was dropped is taken for known',
    file: 'compact.ts',
    find: 'completeSince: Math.max(record.completeSince, ...gone.map((at) => at + 1)),',
    replace: 'completeSince: record.completeSince,',
  },
  {
    about: 'compaction: a bucket has the earliest instant of what is in it',
    file: 'compact.ts',
    find: 'last: Math.max(one.last, bucket.last)',
    replace: 'last: Math.min(one.last, bucket.last)',
  },
  {
    about: 'compaction: the oldest failure is noted',
    file: 'notes.ts',
    find: 'audience}`, attempt, generation);\n      latest(`known',
    replace: 'audience}`, attempt, () => -attempt.generation);\n      latest(`known',
  },
  {
    about: 'compaction: renewals after 401s are forgotten',
    file: 'notes.ts',
    find: "(reason === 'rejected' && chargeOf(attempt) > 0 && counts(attempt)) ||",
    replace: '',
  },
  {
    about: 'compaction: slots depend on who adds up',
    file: 'compact.ts',
    find: 'slot: Math.floor(at / slotMs),',
    replace: 'slot: Math.floor((at - now) / slotMs) + 3_000_000,',
  },
  {
    about: 'count: notes count',
    file: 'count.ts',
    find: 'if (!isFolded(record, attempt)) add(partOf(attempt, term));',
    replace: 'add(partOf(attempt, term));',
  },
  {
    about: 'count: a late outcome is not clipped',
    file: 'count.ts',
    find: 'return isIssued(attempt) ? Math.min(countsFrom(attempt) + settledMs, unknownUntil) : unknownUntil;',
    replace: 'return isIssued(attempt) ? (attempt.outcome?.at ?? 0) + settledMs : unknownUntil;',
  },
  {
    about: 'count: a late outcome is not clipped in a bucket',
    file: 'count.ts',
    find: 'Math.min(outcome.at, at + latestMs)',
    replace: 'outcome.at',
  },
  {
    about: 'count: a young record may issue everything',
    file: 'count.ts',
    find: 'const newRecordRule: Rule | undefined = mayMissTokens(record, now, term)',
    replace: 'const newRecordRule: Rule | undefined = now < 0',
  },
  {
    about: 'count: an unknown kind costs nothing',
    file: 'journal.ts',
    find: 'return outcome ? outcome.charge : 1;',
    replace: "return outcome ? (['issued', 'unknown', 'unsent'].includes(outcome.kind) ? outcome.charge : 0) : 1;",
  },
  {
    about: 'repair: a record that went back keeps its epoch',
    file: 'repair.ts',
    find: 'epoch: isRegressed ? epoch : present.epoch };',
    replace: 'epoch: present.epoch };',
  },
  {
    about: 'repair: a record that went back is taken for complete',
    file: 'repair.ts',
    find: 'completeSince: isRegressed ? now : completeSince,',
    replace: 'completeSince,',
  },
  {
    about: 'clock: a leap forward empties the window',
    file: 'repair.ts',
    find: 'if (leaptMs > tolerableMs && loaded.era === seen.record.era) {',
    replace: 'if (leaptMs > tolerableMs && now < 0) {',
  },
  {
    about: 'clock: each process that saw a leap moves the record',
    file: 'repair.ts',
    find: 'const movedMs = loaded.leaptMs - seen.record.leaptMs;',
    replace: 'const movedMs = 0;',
  },
  {
    about: 'clock: what is past stays in the future when it was set back',
    file: 'clock.ts',
    find: 'Math.max(0, Math.min(now, Math.ceil(at + byMs)))',
    replace: 'Math.max(0, Math.ceil(at + byMs))',
  },
  {
    about: 'clock: what nobody measured moves back, too',
    file: 'clock.ts',
    find: 'const byMs = isBack && !isSeen(attempt) ? 0 : stepMs;',
    replace: 'const byMs = stepMs;',
  },
  {
    about: 'clock: a token of unknown age lives on',
    file: 'clock.ts',
    find: 'Math.floor(token.expiresAt - step.maxOldNow) : 0;',
    replace: 'Math.floor(token.expiresAt - step.maxOldNow) : token.expiresAt - step.now;',
  },
  {
    about: 'clock: a pause keeps more than an hour when it was set back',
    file: 'clock.ts',
    find: 'Math.min(until - minOldNow, hour)',
    replace: 'until - minOldNow',
  },
  { about: 'codec: row ends are dropped', file: 'attempt-codec.ts', find: '...restOfRow(cells, 16),', replace: '' },
  {
    about: 'codec: unknown members are dropped',
    file: 'codec.ts',
    find: '  const wire = {\n    ...more,',
    replace: '  const wire = {',
  },
];
