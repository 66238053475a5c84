import { Inject, Injectable, Optional } from '@nestjs/common';
import * as terminus from '@nestjs/terminus';
import type { ServiceAuth as Client } from '@service-auth/core';
import { ServiceAuth } from '@service-auth/nestjs';
import { healthOf } from './health.ts';

// Terminus 10 does not export it. The peer range allows version 10 all the same, so that its users
// can install this package for its other parts.
if (!('HealthIndicatorService' in terminus)) {
  throw new Error('[service-auth/nestjs] The health indicator needs @nestjs/terminus 11 or 12; Nest 10 takes 11.');
}

/** Options of {@link ServiceAuthHealthIndicator.isHealthy}. */
export interface ServiceAuthHealthOptions {
  /** The client to check. Default: the one without a name. */
  client?: Client | undefined;
  /**
   * The status is `degraded` when at most this many tokens are left in the window. Default: a tenth
   * of the usable tokens.
   */
  lowBudget?: number | undefined;
}

/**
 * Reports the health of a client to `@nestjs/terminus`. List it in the `providers` of the module
 * that has the health controller.
 */
export class ServiceAuthHealthIndicator {
  readonly #indicators: terminus.HealthIndicatorService;
  readonly #client: ServiceAuth | undefined;

  constructor(indicators: terminus.HealthIndicatorService, client?: ServiceAuth) {
    this.#indicators = indicators;
    this.#client = client;
  }

  /**
   * `down`: a caller that asks for a token now gets none. `degraded`: tokens are available, but the
   * budget is low, the last token request failed, or the store does not answer. `up` otherwise,
   * also before the first token. The check never has a token issued. Terminus 11 has no status
   * `degraded`: the status is then `up` with `degraded: true`, because the application still works.
   * @throws Error if there is no client without a name and `options.client` is missing
   */
  async isHealthy<Key extends string>(
    key: Key,
    options: ServiceAuthHealthOptions = {},
  ): Promise<terminus.HealthIndicatorResult<Key>> {
    const client = options.client ?? this.#client;
    if (!client)
      throw new Error('[service-auth/nestjs] There is no client without a name; give isHealthy() one: { client }.');
    const { status, details } = await healthOf(client, options.lowBudget);
    const session = this.#indicators.check(key);
    if (status === 'up') return session.up(details);
    if (status === 'down') return session.down(details);
    return canDegrade(session) ? session.degraded(details) : session.up({ ...details, degraded: true });
  }
}

/** True if terminus has the status `degraded`, which exists since version 12. */
function canDegrade(session: object): boolean {
  return 'degraded' in session;
}

// The decorators are plain calls, because these sources also run without a build, and Node strips
// types but not decorators.
Injectable()(ServiceAuthHealthIndicator);
Inject(terminus.HealthIndicatorService)(ServiceAuthHealthIndicator, undefined, 0);
Inject(ServiceAuth)(ServiceAuthHealthIndicator, undefined, 1);
Optional()(ServiceAuthHealthIndicator, undefined, 1);
