import { type Attributes, type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api';
import type { ServiceAuth, ServiceAuthEvent } from '@service-auth/core';
import { observeBudget } from './budget.ts';
import { acquisitionSpans } from './spans.ts';
import { tokenMetrics } from './token-metrics.ts';

/** Options of {@link instrumentServiceAuth}. */
export interface InstrumentationOptions {
  /** The provider of the metrics. Default: the global one at the time of the call. */
  meterProvider?: MeterProvider | undefined;
  /** The provider of the traces. Default: the global one. */
  tracerProvider?: TracerProvider | undefined;
  /**
   * Attributes of every measurement and span. If a process has clients of several client ids, give
   * each a name, such as `{ client: 'orders' }`: otherwise the measurements of one replace those of
   * the other. Default: none.
   */
  attributes?: Attributes | undefined;
  /**
   * True if measurements of tokens get the attribute `audience`, and spans `service_auth.audience`.
   * Default false.
   */
  audience?: boolean | undefined;
}

const name = '@service-auth/opentelemetry';

/**
 * Records metrics and traces of a client: `service_auth.token.request.duration`,
 * `service_auth.budget.usage` and others, which docs/observability.md lists. It requests no token.
 * Each collection of metrics reads the record in the store once, for 2 seconds at most.
 * @returns a function that ends it
 */
export function instrumentServiceAuth(
  auth: Pick<ServiceAuth, 'getUsage' | 'peekToken' | 'subscribe'>,
  options: InstrumentationOptions = {},
): () => void {
  const { meterProvider = metrics.getMeterProvider(), tracerProvider = trace.getTracerProvider() } = options;
  const meter = meterProvider.getMeter(name);
  const attributesWith =
    (name: string) =>
    ({ audience }: ServiceAuthEvent): Attributes => ({
      ...options.attributes,
      ...(options.audience && { [name]: audience }),
    });
  const endBudget = observeBudget(auth, meter, options.attributes ?? {});
  const spans = acquisitionSpans(tracerProvider.getTracer(name), attributesWith('service_auth.audience'));
  const listeners = [tokenMetrics(meter, attributesWith('audience')), spans.listener];
  const unsubscribe = listeners.map((listener) => auth.subscribe(listener, { operations: true }));
  return () => {
    endBudget();
    for (const end of unsubscribe) end();
    spans.end();
  };
}
