import { Inject, Injectable, Optional } from '@nestjs/common';
import * as terminus from '@nestjs/terminus';
import type { ServiceAuth as Client } from '@service-auth/core';
import { ServiceAuth } from '@service-auth/nestjs';
import { healthOf } from './health.ts';

// Terminus 10 has none. As a peer it is allowed all the same, or whoever has it could not install this package for anything else.
if (!('HealthIndicatorService' in terminus)) {
  throw new Error('[service-auth/nestjs] The health indicator needs @nestjs/terminus 11 or 12; Nest 10 takes 11.');
}

/** Options of {@link ServiceAuthHealthIndicator.isHealthy}. */
export interface ServiceAuthHealthOptions {
  /** Which client to look at. Default: the one without a name. */
  client?: Client | undefined;
  /** `degraded` when at most this many tokens are left in the window. Default: a tenth of the usable ones. */
  lowBudget?: number | undefined;
}

/** Tells `@nestjs/terminus` how a client is. List it in the `providers` of the module that has the health controller. */
export class ServiceAuthHealthIndicator {
  readonly #indicators: terminus.HealthIndicatorService;
  readonly #client: ServiceAuth | undefined;

  constructor(indicators: terminus.HealthIndicatorService, client?: ServiceAuth) {
    this.#indicators = indicators;
    this.#client = client;
  }

  /**
   * `down`: whoever asks for a token now gets none. `degraded`: tokens are to be had, but the budget is low, the last request for one failed, or the
   * store does not answer. `up` otherwise, also before the first token. Never has a token issued.
   * Terminus 11 knows no `degraded`: there it is `up` with `degraded: true`, because the application still works.
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

/** Since terminus 12. */
function canDegrade(session: object): boolean {
  return 'degraded' in session;
}

// Decorators as plain calls: these sources also run unbuilt, and Node strips types but not decorators.
Injectable()(ServiceAuthHealthIndicator);
Inject(terminus.HealthIndicatorService)(ServiceAuthHealthIndicator, undefined, 0);
Inject(ServiceAuth)(ServiceAuthHealthIndicator, undefined, 1);
Optional()(ServiceAuthHealthIndicator, undefined, 1);
