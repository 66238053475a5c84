import type { StoreDurability } from '@service-auth/core';
import { availability } from './availability.ts';
import { budget } from './budget.ts';
import { doubtsOf } from './doubts.ts';
import { paragraph, room, section } from './section.ts';
import {
  forecast,
  holdSentence,
  isUnlimited,
  lastSpent,
  nextSlots,
  quotaSentences,
  spentElsewhereSentence,
} from './sentences.ts';
import { legend, spenders } from './spenders.ts';
import { type Colour, clockTime, coloured, cut, duration, instant, type Style, table, together, zone } from './text.ts';
import type { Failure, Usage } from './usage.ts';

export interface Scene {
  readonly client: string;
  readonly authUrl: string;
  readonly store: string;
  readonly durability: StoreDurability;
  /** False if no program has written anything there. */
  readonly hasRecord: boolean;
  readonly failures: readonly Failure[];
}

const newest = 8;
const top = 10;

const durabilities: Readonly<Record<StoreDurability, string>> = {
  process: 'loses the record when the process ends',
  durable: 'keeps what it confirmed',
  replicated: 'may lose its newest writes at a failover',
};

export function usageScreen(usage: Usage, scene: Scene, style: Style): string[] {
  const { now } = style;
  const { issuances, tokens, holds, resets, warnings } = usage;
  const hidden = issuances.length - newest;
  const told = (label: string, text: string, colour?: Colour) => section(style, label, paragraph(style, text), colour);
  const doubt = doubtsOf(usage, scene.failures, now).length > 0 ? 'yellow' : undefined;
  const outlook = isUnlimited(usage) ? [lastSpent] : [lastSpent, forecast, nextSlots];
  return [
    coloured(style, 'bold', cut(`${scene.client} at ${scene.authUrl}`, style.columns)),
    coloured(
      style,
      'dim',
      cut(`${clockTime(now, now)}; all times are ${zone(now)}, as on this machine`, style.columns),
    ),
    '',
    ...(scene.hasRecord ? [] : told('Record', `There is none: ${noRecord}`, 'yellow')),
    ...section(style, 'Budget', budget(usage, style)),
    ...told('Now', availability(usage, scene.failures, now), usage.refusedUntil === undefined ? doubt : 'red'),
    ...told('Forecast', together(outlook.map((sentence) => sentence(usage, now)))),
    ...holds.flatMap((hold) => told('On hold', holdSentence(hold, now), 'yellow')),
    '',
    ...(issuances.length === 0 ? [] : spent(usage, style)),
    ...section(style, 'Newest', [
      ...newestIssuances(usage, style),
      ...(hidden > 0 ? [`and ${hidden} more`] : []),
      ...(issuances.length === 0 ? ['no token was issued'] : []),
    ]),
    '',
    ...section(style, 'In use', tokens.length === 0 ? ['no token'] : tokensInUse(usage, style)),
    ...(resets.length === 0 ? [] : ['', ...section(style, 'Resets', resetLines(usage, style))]),
    ...(usage.spentElsewhere ? ['', ...told('Elsewhere', spentElsewhereSentence(usage, now))] : []),
    ...(usage.quota ? ['', ...told('Provider', quotaSentences(usage, now), usage.foreign ? 'yellow' : undefined)] : []),
    '',
    ...told('Store', storeSentences(usage, scene)),
    ...warnings.flatMap((warning) => told('Warning', warning, 'yellow')),
  ];
}

function spent(usage: Usage, style: Style): string[] {
  return [
    ...section(style, 'Spent by', [
      ...spenders(usage, ({ instance }) => instance, 'instance', top, room(style)),
      ...paragraph(style, legend(usage)).map((line) => coloured(style, 'dim', line)),
    ]),
    '',
    ...section(
      style,
      'Spent for',
      spenders(usage, (one) => one.audience, 'audience', top, room(style)),
    ),
    '',
  ];
}

function newestIssuances({ issuances }: Usage, style: Style): string[] {
  const rows = issuances
    .slice(0, newest)
    .map(({ at, reason, instance, audience, pending }) => [
      instance,
      reason,
      clockTime(at, style.now),
      audience,
      pending ? 'pending' : '',
    ]);
  return table(rows, room(style), [0, 3]);
}

function tokensInUse({ tokens }: Usage, style: Style): string[] {
  const rows = tokens
    .slice(0, top)
    .map(({ id, audience, issuedAt, expiresAt }) => [
      audience,
      expiresAt > style.now ? `expires in ${duration(expiresAt - style.now)}` : 'expired',
      `${duration(style.now - issuedAt)} old`,
      id,
    ]);
  return [...table(rows, room(style)), ...(tokens.length > top ? [`and ${tokens.length - top} more`] : [])];
}

function resetLines({ resets }: Usage, style: Style): string[] {
  const shown = resets.slice(0, 5).flatMap(({ at, audience, tokenId, instance, reason }) => {
    const token = tokenId === undefined ? 'no token' : `token ${tokenId}`;
    const why = reason === undefined ? 'no reason given' : `"${reason}"`;
    return paragraph(style, `${instant(at, style.now)} ${token} of ${audience}, by ${instance}: ${why}`);
  });
  return resets.length > 5 ? [...shown, `and ${resets.length - 5} more`] : shown;
}

/** Advice for a place where no program has written anything. */
export const noRecord =
  'if programs run already, they use another store, prefix, table, database, SERVICE_AUTH_URL or client id. A program without a configured store keeps its record in its memory, which this command cannot read.';

function storeSentences({ storeAheadMs }: Usage, { store, durability }: Scene): string {
  const seconds = Math.round(storeAheadMs / 1_000);
  const clock =
    Math.abs(seconds) < 2
      ? 'Its clock agrees with this machine.'
      : `Its clock is ${duration(Math.abs(storeAheadMs))} ${seconds > 0 ? 'ahead of' : 'behind'} this machine.`;
  return `${store}; it ${durabilities[durability]}. ${clock}`;
}
