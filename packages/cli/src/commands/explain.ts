import { shownNameOf } from '@service-auth/core/record';
import { audiencesOf, settingsOf } from '../configuration/environment.ts';
import { absenceIn, openReader, requestedTokens } from '../configuration/reader.ts';
import { paceSentence, scopeSentences } from '../explain/course.ts';
import { explain, isUnusual, otherHolds } from '../explain/explain.ts';
import type { Finding } from '../explain/finding.ts';
import type { Context } from '../line/command.ts';
import { exitCodes } from '../line/exit.ts';
import { styleOf } from '../line/style.ts';
import { wrapped } from '../line/wrapped.ts';
import { availability } from '../report/availability.ts';
import { doubtsOf } from '../report/doubts.ts';
import { noRecord } from '../report/screen.ts';
import {
  forecast,
  heldBack,
  holdSentence,
  isUnlimited,
  lastSpent,
  quotaSentences,
  spentElsewhereSentence,
  spentOf,
} from '../report/sentences.ts';
import { meanings } from '../report/spenders.ts';
import { coloured, counted, countedBy, ranked, type Style, together, windowName, zone } from '../report/text.ts';
import type { Failure, Hold, Usage } from '../report/usage.ts';
import { joined } from '../report/whose.ts';
import { type Diagnosis, warning } from '../stores/diagnosis.ts';

const runbook = 'https://github.com/service-auth/service-auth/blob/main/docs/runbook.md';

export async function run(context: Context): Promise<number> {
  const reader = await openReader(context);
  const { usage, scene } = await reader.read();
  const style = styleOf(context);
  const { failures, hasRecord } = scene;
  // A person on call may have no audience, and asks about all of them.
  const requested = audiencesOf(reader.env).length > 0 ? requestedTokens(reader.env) : [];
  const findings = explain(usage, {
    now: style.now,
    audiences: requested.map(shownNameOf),
    failures,
    settings: settingsOf(reader.env),
  });
  const problems = await reader.problemsOfStore();
  const absent = warning(absenceIn(reader.env, scene), noRecord);
  const missing = hasRecord ? [] : [...inStore(absent, style).slice(1), ''];
  const holds = otherHolds(usage, findings);
  const isQuiet = hasRecord && findings.length + problems.length === 0;
  const isDoubtful = doubtsOf(usage, failures, style.now).length > 0;
  const isHealthy = isQuiet && holds.length === 0 && !isUnusual(usage) && !isDoubtful;
  const lines = [
    ...missing,
    ...(hasRecord ? summary(usage, failures, holds, isHealthy, style) : []),
    ...findings.flatMap((finding) => described(finding, usage, style)),
    ...problems.flatMap(({ message, advice }) => inStore(warning(`In this store ${message}`, advice), style)),
    ...(isHealthy || (isQuiet && isUnusual(usage)) ? ending(usage, style) : []),
  ];
  context.stdout.write(`${lines.join('\n')}\n`);
  return exitCodes.success;
}

function summary(
  usage: Usage,
  failures: readonly Failure[],
  holds: readonly Hold[],
  isHealthy: boolean,
  style: Style,
): string[] {
  const { used, usable, windowMs } = usage;
  const { now } = style;
  const held = heldBack(usage, now);
  const rest = held.length === 0 ? '' : `, with ${joined(held)}`;
  const healthy = isHealthy ? ['Nothing is unusual.'] : [];
  const limited = `${used} of ${counted(usable, `usable ${countedBy(usage)}`)} ${used === 1 ? 'is' : 'are'} spent in ${windowName(windowMs)}${rest}.`;
  const spent = isUnlimited(usage) ? `${spentOf(usage)}.` : limited;
  const times = `Times are ${zone(now)}, as on this machine.`;
  const sentences = [
    ...healthy,
    availability(usage, failures, now),
    ...holds.map((hold) => holdSentence(hold, now)),
    spent,
    lastSpent(usage, now),
    spentElsewhereSentence(usage, now),
    quotaSentences(usage, now),
    ...(isUnlimited(usage) ? [] : [forecast(usage, now)]),
    times,
  ];
  return wrapped(together(sentences), style.columns);
}

function inStore({ message, advice = '' }: Diagnosis, style: Style): string[] {
  const sentences = [`${message}.`, `What to do: ${advice}`];
  return ['', coloured(style, 'bold', 'the store'), ...sentences.flatMap((text) => indented(text, style))];
}

function indented(text: string, style: Style): string[] {
  return wrapped(text, style.columns - 2).map((line) => `  ${line}`);
}

function described(finding: Finding, usage: Usage, style: Style): string[] {
  const { cause, evidence, remedy } = finding;
  const sentences = [scopeSentences(finding, usage, style.now), evidence, paceSentence(finding, usage, style.now)];
  return [
    '',
    coloured(style, 'bold', cause.replaceAll('-', ' ')),
    ...indented(together(sentences), style),
    ...indented(`What to do: ${remedy}`, style),
    coloured(style, 'dim', `  ${runbook}#${cause}`),
  ];
}

function ending(usage: Usage, style: Style): string[] {
  const text = isUnusual(usage)
    ? `The record shows no cause that this program knows. Look at service-auth usage: which instance or audience spent most, and for which reason? ${runbook}#no-cause-found`
    : `${regularity(usage)}If a program is refused all the same, it uses another store, prefix, table or client id: run service-auth doctor in its environment. If the provider counts more tokens, some program has another store, which this record does not show.`;
  return ['', ...wrapped(text, style.columns)];
}

function regularity(usage: Usage): string {
  const { issuances } = usage;
  if (issuances.length === 0) return '';
  const list = ranked(issuances, ({ reason }) => reason)
    .map(([reason, group]) => `${group.length} ${reason} (${meanings[reason]})`)
    .join(', ');
  const programs = new Set(issuances.map(({ instance }) => instance)).size;
  return `${counted(issuances.length, 'token')} for ${counted(programs, 'instance')}: ${list}. `;
}
