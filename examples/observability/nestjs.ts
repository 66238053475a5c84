// Metrics and traces of a NestJS application: the two lines are in `instrument()`.
import type { INestApplication } from '@nestjs/common';
import { ServiceAuth } from '@service-auth/nestjs';
import { type InstrumentationOptions, instrumentServiceAuth } from '@service-auth/opentelemetry';

export function instrument(app: INestApplication, options?: InstrumentationOptions): () => void {
  const auth = app.get(ServiceAuth);
  return instrumentServiceAuth(auth, options);
}
