import type { Promised } from './promised.ts';
import { day } from './units.ts';

/** Nothing is sent to the token endpoint but token requests. */
export const nothingIsSentButTokenRequests: Promised = (_, violated) => ({
  sending({ machine, hasCredentials }) {
    if (!hasCredentials) violated(machine);
  },
});

/** All processes may start at once and need one token for each audience. */
export const oneProcessAsksForAll: Promised = ({ service, settings }, violated) => ({
  stampeded() {
    const { length } = service().issued;
    if (length !== settings.audiences.length) violated(`${length} asked`);
  },
});

/** At most one and a half tokens a day for each audience, after its first one. */
export const aHealthyFleetNeedsFewTokens: Promised = ({ service, settings }, violated) => {
  const days = settings.faultsForMs / day;
  const most = settings.audiences.length * (1 + 1.5 * days);
  let answers = 0;
  return {
    happened(_asker, { type }) {
      if (type === 'token_issued') answers += 1;
    },
    faultsEnded() {
      if (Object.keys(settings.rates).length > 0) return;
      const { length } = service().issued;
      if (length > most) violated(`${length} in ${days} days`);
      // Each answer of an endpoint that repeats its token counts as one.
      if (settings.repeatsToken && answers > 6 * most) violated(`${answers} answers with ${length} tokens`);
    },
  };
};

/** All resets that report one token cost one token. A process that serves none means whatever the fleet uses. */
export const oneAlarmCostsOneToken: Promised = ({ settings, facts: { resets } }, violated) => {
  let replaced = 0;
  return {
    happened(_asker, event) {
      if (event.type === 'token_issued' && event.reason === 'reset') replaced += 1;
    },
    faultsEnded() {
      if (!settings.rates.reset_by_all) return;
      const meant = new Set(resets.all.map(({ reported }) => reported ?? Symbol('whatever the fleet uses')));
      if (replaced > meant.size) violated(`${replaced} for ${meant.size}`);
    },
  };
};
