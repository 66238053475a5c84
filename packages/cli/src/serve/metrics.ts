import { Counter, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { ServiceAuthEvent, Usage } from '@service-auth/core';
import { abortable } from '@service-auth/core/store';
import type { Clients } from './fleet.ts';
import type { DoorName } from './routes.ts';

// Prometheus waits for ten seconds.
const readWithinMs = 2_000;

/** The metrics of `/metrics`, in the text format of Prometheus. */
export interface Metrics {
  event(event: ServiceAuthEvent): void;
  answered(door: DoorName | 'api', status: number | 'aborted'): void;
  /** Reads the record. After two seconds the metrics of the budget are left out. */
  text(
    clients: Pick<Clients, 'auth' | 'audiences' | 'kept' | 'all'>,
  ): Promise<{ readonly text: string; readonly type: string }>;
}

export function createMetrics(): Metrics {
  const registers = [new Registry()];
  const [register] = registers as [Registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `service_auth_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `service_auth_${name}`, help, labelNames, registers });

  const requests = counter('serve_requests_total', 'Answered requests by door and status', ['door', 'status']);
  const issued = counter('token_issued_total', 'Tokens issued to this process', ['reason']);
  const rejected = counter('token_rejected_total', '401 answers of the API that callers reported', ['outcome']);
  const refused = counter('issuance_refused_total', 'Tokens that the budget did not allow', ['reason']);
  const overLimit = counter('issuance_over_limit_total', 'Tokens above a limit that is not enforced', ['reason']);
  const storeFailures = counter('store_failures_total', 'Operations of the store that failed', ['operation']);
  const duration = new Histogram({
    name: 'service_auth_token_request_duration_seconds',
    help: 'Token requests to the provider. error_type is empty for those that succeeded',
    labelNames: ['error_type'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  const ready = gauge('ready', '1 if callers get a token now');
  const expiresIn = gauge('token_expires_in_seconds', 'The remaining life of the present token', ['audience']);
  const storeUp = gauge('store_up', '1 if the record could be read for this answer');
  const budget = {
    limit: gauge('budget_limit', 'Tokens of the window as agreed with the provider'),
    usable: gauge('budget_usable', 'Tokens of the window less the reserve'),
    available: gauge('budget_available', 'Tokens that callers without one can have issued now'),
    usage: gauge('budget_usage', 'Tokens of the window by state', ['state']),
  };

  function readBudget(usage: Usage | undefined): void {
    storeUp.set(usage ? 1 : 0);
    if (!usage) {
      for (const each of [budget.limit, budget.usable, budget.available]) each.remove();
      budget.usage.reset();
      return;
    }
    budget.limit.set(usage.limit);
    budget.usable.set(usage.usable);
    budget.available.set(usage.availableNow);
    const { used, pending, underWay, unknown } = usage;
    const states = { issued: used - pending, under_way: underWay, unknown };
    for (const [state, count] of Object.entries(states)) budget.usage.set({ state }, count);
  }

  return {
    answered: (door, status) => requests.inc({ door, status }),
    event(event) {
      switch (event.type) {
        case 'token_issued':
          issued.inc({ reason: event.reason });
          return duration.observe({ error_type: '' }, event.durationMs / 1_000);
        case 'token_request_failed':
          return duration.observe(
            { error_type: `${event.status ?? event.error ?? event.code}` },
            event.durationMs / 1_000,
          );
        case 'token_rejected':
          return rejected.inc({ outcome: event.outcome });
        case 'issuance_refused':
          return refused.inc({ reason: event.reason }, event.count);
        case 'issuance_over_limit':
          return overLimit.inc({ reason: event.reason }, event.count);
        case 'store_failed':
          return storeFailures.inc({ operation: event.operation }, event.count);
      }
    },
    async text(clients) {
      ready.set(clients.all.every((kept) => kept.leftMs() !== undefined && !kept.isRefused()) ? 1 : 0);
      expiresIn.reset();
      for (const audience of clients.audiences) {
        const leftMs = clients.kept(audience).leftMs();
        if (leftMs !== undefined) expiresIn.set({ audience }, Math.max(0, leftMs / 1_000));
      }
      const usage = abortable(clients.auth.getUsage(), AbortSignal.timeout(readWithinMs));
      readBudget(await usage.catch(() => undefined));
      return { text: await register.metrics(), type: register.contentType };
    },
  };
}
