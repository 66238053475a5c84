import type { ConnectHttpClient } from '../../src/index.ts';
import type { Mistake } from '../support/controls.ts';
import { failureMistakes } from './http-clients/failures.ts';
import { originMistakes } from './http-clients/origins.ts';
import { rejectionMistakes } from './http-clients/rejections.ts';
import { verdictMistakes } from './http-clients/verdicts.ts';

/** Mistakes that HTTP adapters make. Every case of `httpClientContract` is in `caughtBy` of at least one. */
export const httpClientMistakes: readonly Mistake<ConnectHttpClient>[] = [
  ...originMistakes,
  ...rejectionMistakes,
  ...failureMistakes,
  ...verdictMistakes,
];
