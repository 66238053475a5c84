import { type Attributes, context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { type HistogramMetricData, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { onTestFinished } from 'vitest';

class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** One measurement of a metric. A histogram has the number of its measurements and their sum. */
export interface Point {
  readonly attributes: Attributes;
  readonly value: number | { readonly count: number; readonly sum: number };
}

interface Metrics {
  readonly meterProvider: MeterProvider;
  /** Collects all metrics, by their names without `service_auth.`. */
  collect(): Promise<Readonly<Record<string, readonly Point[]>>>;
}

/** A provider of metrics, and what it collects. */
export function createMetrics(): Metrics {
  const reader = new Reader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  onTestFinished(() => meterProvider.shutdown());
  return {
    meterProvider,
    async collect() {
      const { resourceMetrics, errors } = await reader.collect();
      if (errors.length > 0) throw errors[0];
      const found = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
      return Object.fromEntries(
        found.map(({ descriptor, dataPoints }) => [
          descriptor.name.replace('service_auth.', ''),
          (dataPoints as HistogramMetricData['dataPoints']).map(({ attributes, value }) => ({
            attributes,
            value: typeof value === 'number' ? value : { count: value.count, sum: value.sum ?? 0 },
          })),
        ]),
      );
    },
  };
}

/** A provider of traces with contexts that follow the calls, and the spans that ended. */
export function createTraces(): { readonly tracerProvider: TracerProvider; ended(): readonly ReadableSpan[] } {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  onTestFinished(() => {
    context.disable();
    return tracerProvider.shutdown();
  });
  return { tracerProvider, ended: () => exporter.getFinishedSpans() };
}
