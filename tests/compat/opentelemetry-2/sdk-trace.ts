// The names of SDK 3, for tests that run with SDK 2.
import {
  BasicTracerProvider,
  SimpleSpanProcessor as Processor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';

export { InMemorySpanExporter } from '@opentelemetry/sdk-trace-base';

export class TracerProvider extends BasicTracerProvider {}

export class SimpleSpanProcessor extends Processor {
  constructor({ exporter }: { readonly exporter: SpanExporter }) {
    super(exporter);
  }
}
