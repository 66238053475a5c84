import type { Promised } from './promised.ts';
import type { Issuer } from './scene.ts';
import type { Figure } from './sights.ts';
import { minute } from './units.ts';

/** A process may stand still for so long before it reports what it was told. */
const standstillMs = 7 * 60 * minute;

interface Said extends Figure {
  readonly at: number;
}

type Quoted = Pick<Figure, 'windowMs' | 'tokens' | 'remaining' | 'foreign'>;

/** Remembers what the provider said, and finds what a quotation may rest on. */
function memoryOf(world: { readonly now: number }) {
  const said: Said[] = [];
  return {
    remember(figures: readonly Figure[]) {
      said.push(...figures.map((figure) => ({ ...figure, at: world.now })));
    },
    sourcesOf: (quoted: Quoted) =>
      said.filter(({ windowMs, tokens, remaining, at }) => {
        const isSame = windowMs === quoted.windowMs && tokens === quoted.tokens && remaining === quoted.remaining;
        return isSame && at > world.now - windowMs - standstillMs;
      }),
  };
}

/** What a process reports of the provider's count, and what `getUsage()` shows of it, are the provider's own words, and end with its window. */
export const theProviderIsQuotedAsItSpoke: Promised = ({ world, store }, violated) => {
  const { remember, sourcesOf } = memoryOf(world);
  const judge = (quoted: Quoted) => {
    if (sourcesOf(quoted).length === 0) violated(`${quoted.tokens - quoted.remaining} of ${quoted.tokens}`);
  };
  return {
    quotaSaid: remember,
    happened(_asker, event) {
      if (event.type === 'quota_observed' && event.of === 'client') judge({ ...event, foreign: event.foreign ?? 0 });
    },
    counted({ quota = [] }) {
      for (const { resetAt, ...quoted } of quota) {
        judge(quoted);
        if (resetAt <= store().now()) violated('the window has ended');
      }
    },
  };
};

/** Nobody else is suspected of having a token that the fleet has. */
export const noTokenOfTheFleetIsForeign: Promised = ({ world, facts: { usages } }, violated) => {
  const { remember, sourcesOf } = memoryOf(world);
  const judge = (quoted: Quoted) => {
    const most = Math.max(0, ...sourcesOf(quoted).map(({ foreign }) => foreign));
    if (usages.areComparable && quoted.foreign > most) violated(`${quoted.foreign}, ${most} are`);
  };
  return {
    quotaSaid: remember,
    happened(_asker, event) {
      if (event.type === 'quota_observed' && event.foreign !== undefined) judge({ ...event, foreign: event.foreign });
    },
    counted({ quota = [], foreign }) {
      quota.forEach(judge);
      const largest = quota.length > 0 ? Math.max(...quota.map((quoted) => quoted.foreign)) : undefined;
      if (foreign !== largest) violated(`${foreign} of ${largest}`);
    },
  };
};

/** If nothing fails and the provider is right, all tokens are noticed that somebody without the store got, but for those that may have been issued to the fleet. */
export const foreignTokensAreNoticed: Promised = ({ world, settings, service }, violated) => {
  const { remember, sourcesOf } = memoryOf(world);
  return {
    quotaSaid: remember,
    happened(_asker, event) {
      if (!settings.quota?.isTrue || Object.keys(settings.rates).length > 0) return;
      if (event.type !== 'quota_observed' || event.foreign === undefined) return;
      const sources = sourcesOf({ ...event, foreign: event.foreign });
      const doubtful = (beganAt: number) =>
        issuedWithin(service(), beganAt - 2 * minute, beganAt) +
        issuedWithin(service(), world.now - 2 * minute, world.now);
      const least = Math.min(...sources.map(({ foreign, beganAt }) => foreign - doubtful(beganAt)));
      if (event.foreign < least) violated(`${event.foreign}, ${least} are`);
    },
  };
};

function issuedWithin({ issued }: Issuer, from: number, to: number): number {
  return issued.filter(({ issuedAt }) => issuedAt > from && issuedAt <= to).length;
}
