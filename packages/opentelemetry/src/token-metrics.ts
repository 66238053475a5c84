import type { Attributes, Meter } from '@opentelemetry/api';
import type { ServiceAuthEvent, ServiceAuthEventListener } from '@service-auth/core';

/**
 * The upper bounds of durations, in seconds. A token request ends after 30 seconds, if `timeoutMs`
 * is not set.
 */
const boundaries = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The events without a metric of their own. */
type Uncounted =
  | 'acquisition_ended'
  | 'acquisition_started'
  | 'client_secret_failed'
  | 'quota_observed'
  | 'store_failed'
  | 'store_recovered'
  | 'token_adopted'
  | 'token_bypassed'
  | 'token_reset';

/**
 * Counts what happens to tokens, and records how long it took. Each event counts, so nothing is
 * lost between two collections.
 */
export function tokenMetrics(
  meter: Meter,
  attributesOf: (event: ServiceAuthEvent) => Attributes,
): ServiceAuthEventListener {
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(`service_auth.${name}`, { unit, description });
  const histogram = (name: string, description: string) =>
    meter.createHistogram(`service_auth.${name}`, {
      unit: 's',
      description,
      advice: { explicitBucketBoundaries: boundaries },
    });

  const requests = histogram('token.request.duration', 'The duration of token requests');
  const operations = histogram('store.operation.duration', 'The duration of reads and writes of the store');
  const issued = counter('token.issued', '{token}', 'The tokens that were issued to this process');
  const rejected = counter('token.rejected', '{token}', 'The tokens to which the API answered 401');
  const refused = counter('issuance.refused', '{refusal}', 'The tokens that the budget did not allow');
  const overLimit = counter('issuance.over_limit', '{token}', 'The tokens above a limit that is not enforced');
  const unavailable = counter('token.unavailable', '{call}', 'The calls of getToken() that rejected');
  const problems = counter('record.problems', '{problem}', 'The events that say that the record is in danger');

  return (event) => {
    const attributes = attributesOf(event);
    const seconds = 'durationMs' in event ? event.durationMs / 1_000 : 0;
    switch (event.type) {
      case 'token_issued':
        requests.record(seconds, { ...attributes, outcome: 'issued' });
        issued.add(1, { ...attributes, reason: event.reason });
        break;
      case 'token_request_failed':
        requests.record(seconds, {
          ...attributes,
          outcome: event.ambiguous ? 'unknown' : 'failed',
          'error.type': errorType(event),
        });
        break;
      case 'token_rejected':
        rejected.add(1, { ...attributes, outcome: event.outcome });
        break;
      case 'issuance_refused':
        refused.add(event.count, { ...attributes, reason: event.reason });
        break;
      case 'issuance_over_limit':
        overLimit.add(event.count, { ...attributes, reason: event.reason });
        break;
      case 'token_unavailable':
        unavailable.add(event.count, { ...attributes, 'error.type': event.code });
        break;
      case 'store_called':
        operations.record(seconds, {
          ...attributes,
          operation: event.operation,
          outcome: event.outcome,
          ...(event.error && { 'error.type': event.error }),
        });
        break;
      case 'agreement_differs':
      case 'clock_anomaly':
      case 'ledger_lost':
      case 'store_damaged':
      case 'store_warning':
        problems.add(1, { ...attributes, problem: event.type });
        break;
      default:
        event.type satisfies Uncounted;
    }
  };
}

type FailedRequest = Extract<ServiceAuthEvent, { type: 'token_request_failed' }>;

/** The status of the answer, the error without one, or what was wrong with a 2xx answer. */
export function errorType({ status, error, reason, code }: FailedRequest): string {
  return reason ?? error ?? (status === undefined ? code : `${status}`);
}
