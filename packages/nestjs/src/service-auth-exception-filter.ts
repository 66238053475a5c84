import { type ArgumentsHost, Catch, type ExceptionFilter, ServiceUnavailableException } from '@nestjs/common';
import { serviceUnavailable } from '@service-auth/core/http';

/** The part of a response that Express and Fastify share. */
interface HttpResponse {
  readonly headersSent?: boolean;
  readonly sent?: boolean;
  status(code: number): this;
  header(name: string, value: string): this;
  send(body: unknown): unknown;
}

/**
 * Nest selects filters by `instanceof`, but our errors may come from another copy of core, or be
 * the cause of an error of a client.
 */
const Unavailable = Object.defineProperty(class {}, Symbol.hasInstance, {
  value: (error: unknown): boolean => serviceUnavailable(error) !== undefined,
});

/**
 * Answers 503 with `Retry-After` when a request of a user fails because there is no token. Other
 * errors go to your other filters, or to Nest. The answer has Nest's usual body and no message of
 * ours. It is for HTTP with Express or Fastify.
 *
 * Register it with `app.useGlobalFilters(new ServiceAuthExceptionFilter())`, with
 * `{ provide: APP_FILTER, useClass: ServiceAuthExceptionFilter }`, or with
 * `@UseFilters(ServiceAuthExceptionFilter)`.
 */
export class ServiceAuthExceptionFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const unavailable = serviceUnavailable(error);
    if (!unavailable || host.getType() !== 'http') throw error;
    const response = host.switchToHttp().getResponse<HttpResponse>();
    if (response.headersSent || response.sent) throw error;
    for (const [name, value] of Object.entries(unavailable.headers)) response.header(name, value);
    response.status(unavailable.status).send(new ServiceUnavailableException().getResponse());
  }
}

// The decorator is a plain call, because these sources also run without a build, and Node strips
// types but not decorators.
Catch(Unavailable)(ServiceAuthExceptionFilter);
