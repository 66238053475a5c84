import { type Attributes, context, type Span, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { ServiceAuthEvent, ServiceAuthEventListener } from '@service-auth/core';
import { errorType } from './token-metrics.ts';

type Started = Extract<ServiceAuthEvent, { type: 'acquisition_started' }>;

interface Attempt {
  readonly started: Started;
  span: Span | undefined;
}

/**
 * Makes a span of each attempt to get a token. It is a child of the span of the caller that began it and waits, and has a link to each caller that
 * waits. An attempt that nobody waits for has a trace of its own, and reading the record in the background has none.
 */
export function acquisitionSpans(
  tracer: Tracer,
  attributesOf: (event: ServiceAuthEvent) => Attributes,
): ServiceAuthEventListener {
  const attempts = new Map<number, Attempt>();

  function start({ started }: Attempt): Span {
    const attributes = { ...attributesOf(started), 'service_auth.reason': started.reason };
    return tracer.startSpan('service_auth.acquire', { root: started.callers === 0, startTime: started.at, attributes });
  }

  function wait(attempt: Attempt): void {
    attempt.span ??= start(attempt);
    const caller = trace.getSpanContext(context.active());
    if (caller) attempt.span.addLink({ context: caller });
  }

  function tell(name: string, attributes: Attributes): void {
    for (const { span } of attempts.values()) span?.addEvent(name, attributes);
  }

  return (event) => {
    switch (event.type) {
      case 'acquisition_started': {
        const attempt: Attempt = { started: event, span: undefined };
        attempts.set(event.acquisition, attempt);
        if (event.callers > 0) wait(attempt);
        else if (event.reason !== 'revalidate') attempt.span = start(attempt);
        break;
      }
      case 'acquisition_joined': {
        const attempt = attempts.get(event.acquisition);
        if (attempt) wait(attempt);
        break;
      }
      case 'acquisition_ended': {
        const span = attempts.get(event.acquisition)?.span;
        attempts.delete(event.acquisition);
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
        tell('token issued', { 'service_auth.used': event.used });
        break;
      case 'token_request_failed':
        tell('token request failed', {
          'error.type': errorType(event),
          ...(event.retryAt !== undefined && { 'service_auth.retry_after': (event.retryAt - event.at) / 1_000 }),
        });
        break;
      case 'issuance_refused':
        tell('issuance refused', { 'service_auth.retry_after': (event.retryAt - event.at) / 1_000 });
        break;
    }
  };
}
