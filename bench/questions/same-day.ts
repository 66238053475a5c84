import { startRedis } from '@service-auth/test-tools/servers/redis';
import { defaultSettings } from '../../docs/.vitepress/budget/settings.ts';
import { timetableOf } from '../../docs/.vitepress/budget/timetable.ts';
import { rowOf } from '../contenders/peers.ts';
import { type Answer, atMost, type Kind, type Scope } from '../harness/answer.ts';
import { spreadOf } from '../harness/statistics.ts';
import { type Contender, type Played, playDay, withoutQuietCalls } from '../scenarios/same-day.ts';
import { byHand, byHandSpaced, naive, ours } from '../workers/same-day.ts';

const contenders: readonly (Contender & { readonly kind: Kind })[] = [
  { name: ours, kind: 'ours' },
  { name: byHand, kind: 'handwritten' },
  { name: byHandSpaced, kind: 'handwritten' },
  { name: '@scienta/axios-oauth2', kind: 'peer', authentication: 'client_secret_post' },
  { name: '@badgateway/oauth2-client', kind: 'peer', authentication: 'client_secret_basic' },
  { name: 'auth0', kind: 'peer', authentication: 'client_secret_post' },
  { name: 'axios-auth-refresh', kind: 'peer' },
  { name: naive, kind: 'limit' },
];
const atOnce = 4;
// It takes four minutes on two busy processors.
const maxMs = 420_000;

/** The day of the start page, in real processes over loopback. Its clocks go from one step of the day to the next. */
export default async function sameDay({ quick }: Scope): Promise<Answer> {
  await using redis = await startRedis({ appendonly: 'yes' });
  const steps = withoutQuietCalls(await timetableOf(defaultSettings));
  const signal = AbortSignal.timeout(maxMs);
  const playing = contenders.filter(({ kind }) => kind !== 'peer' || !quick);
  const played = new Map<string, Played>();
  const queue = playing.entries();
  const playNext = async () => {
    for (const [index, contender] of queue)
      played.set(contender.name, await playDay(contender, steps, `${redis.url}/${index}`, signal));
  };
  await Promise.all(Array.from({ length: atOnce }, playNext));

  const rows = playing.map(({ name, kind }) => {
    const { tokens = Number.NaN, lockedOutAt, goesOn = false } = played.get(name) ?? {};
    const revoked = goesOn ? 'goes on' : lockedOutAt === undefined ? 'fails until it expires' : 'locked out';
    const cells = [`${tokens}`, lockedOutAt === undefined ? 'no' : `since ${timeText(lockedOutAt)}`, revoked];
    return rowOf(name, cells, kind);
  });
  return {
    tables: [
      {
        title: `a day with ${defaultSettings.processes} processes`,
        columns: ['tokens', 'locked out', 'its token is revoked'],
        rows,
      },
    ],
    goals: [
      atMost('tokens in a day with 20 minutes of 401s', 10, spreadOf([played.get(ours)?.tokens ?? Number.NaN]), 0),
    ],
  };
}

/** `11:10` of milliseconds since midnight. */
function timeText(ms: number): string {
  return new Date(ms).toISOString().slice(11, 16);
}
