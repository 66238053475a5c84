import type { Mistake } from '../../contract/controls.ts';
import type { ConnectHttpClient } from '../subject.ts';
import { failureMistakes } from './failures.ts';
import { originMistakes } from './origins.ts';
import { rejectionMistakes } from './rejections.ts';

/**
 * Mistakes that HTTP adapters make, for {@link controls}: a token for every host, a second order after a redirect, a 401 that is not reported, and
 * so on. Every case of `httpClientContract` is in `caughtBy` of at least one. Some take the place of your adapter and let your client send; two keep
 * connections open with the `fetch` of Node.
 */
export const httpClientMistakes: readonly Mistake<ConnectHttpClient>[] = [
  ...originMistakes,
  ...rejectionMistakes,
  ...failureMistakes,
];
