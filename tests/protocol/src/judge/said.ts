import type { Promised } from './promised.ts';

/** As many callers as `getUsage()` says get a token, the next one gets none, and a caller that is refused gets one at the instant that it says, and not earlier, unless few tokens are usable and it says hours. */
export const whatIsSaidToBeAvailableCanBeHad: Promised = (_, violated) => ({
  tried({ said, asked, served, isHeldUp, refused }) {
    const mayBeMore = isHeldUp && said > 0;
    if (served < Math.min(said, asked) || (served > said && !mayBeMore))
      violated(`${said}, but ${served} of ${asked} were served`);
    if (refused && (refused.before || !refused.atIt))
      violated(
        `refused for ${refused.forMs} ms by ${refused.because}, but ${Number(refused.before)} before and ${Number(refused.atIt)} then were served`,
      );
  },
});
