import { type Attributes, type Span, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { ServiceAuthEvent, ServiceAuthEventListener } from '@service-auth/core';
import { errorType } from './token-metrics.ts';

type Started = Extract<ServiceAuthEvent, { type: 'acquisition_started' }>;

interface Acquisition {
  readonly started: Started;
  readonly span: Span | undefined;
}

/**
 * Makes a span of each acquisition: an attempt to get a token. It is a child of the span of the
 * caller that began it and waits. An acquisition that nobody waits for has a trace of its own, and
 * reading the record in the background has none.
 */
export function acquisitionSpans(
  tracer: Tracer,
  attributesOf: (event: ServiceAuthEvent) => Attributes,
): { readonly listener: ServiceAuthEventListener; readonly end: () => void } {
  const acquisitions = new Map<number, Acquisition>();

  function start(started: Started): Span | undefined {
    if (started.callers === 0 && started.reason === 'revalidate') return undefined;
    const attributes = { ...attributesOf(started), 'service_auth.reason': started.reason };
    return tracer.startSpan('service_auth.acquire', { root: started.callers === 0, startTime: started.at, attributes });
  }

  function tell(name: string, attributes: Attributes): void {
    for (const { span } of acquisitions.values()) span?.addEvent(name, attributes);
  }

  /**
   * Adds an event to the spans of the acquisitions that send a token request: those that only read
   * the record send none.
   */
  function tellIssuing(name: string, attributes: Attributes): void {
    for (const { span, started } of acquisitions.values()) {
      if (started.reason !== 'revalidate') span?.addEvent(name, attributes);
    }
  }

  function end(): void {
    for (const { span } of acquisitions.values()) span?.end();
    acquisitions.clear();
  }

  const listener: ServiceAuthEventListener = (event) => {
    switch (event.type) {
      case 'acquisition_started':
        acquisitions.set(event.acquisition, { started: event, span: start(event) });
        break;
      case 'acquisition_ended': {
        const span = acquisitions.get(event.acquisition)?.span;
        acquisitions.delete(event.acquisition);
        span?.setAttributes({ 'service_auth.outcome': event.outcome, 'service_auth.callers': event.callers });
        if (event.outcome === 'failed') {
          span?.setStatus({ code: SpanStatusCode.ERROR, ...(event.code && { message: event.code }) });
          if (event.code) span?.setAttribute('error.type', event.code);
        }
        span?.end();
        break;
      }
      case 'store_called':
        if (event.outcome !== 'done') tell(`store ${event.outcome}`, { 'service_auth.operation': event.operation });
        break;
      case 'token_issued':
        tellIssuing('token issued', { 'service_auth.used': event.used });
        break;
      case 'token_request_failed':
        tellIssuing('token request failed', {
          'error.type': errorType(event),
          ...(event.retryAt !== undefined && { 'service_auth.retry_after': (event.retryAt - event.at) / 1_000 }),
        });
        break;
      case 'issuance_over_limit':
        tellIssuing('issuance over limit', { 'service_auth.used': event.used });
        break;
      case 'issuance_refused':
        tellIssuing('issuance refused', {
          'service_auth.retry_after': (event.retryAt - event.at) / 1_000,
          'service_auth.refusals': event.count,
        });
        break;
    }
  };
  return { listener, end };
}
