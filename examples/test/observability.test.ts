import { once } from 'node:events';
import { Writable } from 'node:stream';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SeverityNumber } from '@opentelemetry/api';
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { createServiceAuth, memoryStore, type ServiceAuth } from '@service-auth/core';
import { ServiceAuth as Injected, ServiceAuthModule } from '@service-auth/nestjs';
import { startTestService, type TestService } from '@service-auth/testing';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createLogger, transports } from 'winston';
import { instrument } from '../observability/nestjs.ts';
import { logEvents as logToOpenTelemetry } from '../observability/opentelemetry-logs.ts';
import { logEvents as logToPino } from '../observability/pino.ts';
import { logEvents as logToWinston } from '../observability/winston.ts';

async function open(): Promise<{ readonly service: TestService; readonly auth: ServiceAuth }> {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const auth = createServiceAuth({ ...service.options, store: memoryStore() });
  onTestFinished(() => auth.close());
  return { service, auth };
}

/** Gets a token, and after the API and the endpoint reject it, none. */
async function getTokenOnce(auth: ServiceAuth, service: TestService): Promise<void> {
  await auth.getToken();
  service.tokenEndpoint.always({ status: 401, body: '{"error":"invalid_client"}' });
  await auth.reset({ reason: 'it leaked' });
  await auth.getToken().catch(() => {});
}

const told = [
  ['info', 'service-auth: token_issued'],
  ['warn', 'service-auth: token_reset'],
  ['error', 'service-auth: token_request_failed'],
  ['error', 'service-auth: token_unavailable'],
];

function lines(): { readonly stream: Writable; readonly read: () => Record<string, unknown>[] } {
  let text = '';
  const stream = new Writable({
    write(chunk, _encoding, done) {
      text += chunk;
      done();
    },
  });
  const read = () =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { stream, read };
}

test('pino logs each event with a level', async () => {
  const { service, auth } = await open();
  const { stream, read } = lines();
  const logger = pino({ formatters: { level: (level) => ({ level }) } }, stream);
  logToPino(auth, logger);
  await getTokenOnce(auth, service);
  expect(read().map(({ level, msg }) => [level, msg])).toEqual(told);
  expect(read()[3]).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', count: 1, audience: service.options.audience });
});

test('winston logs each event with a level', async () => {
  const { service, auth } = await open();
  const { stream, read } = lines();
  const logger = createLogger({ transports: [new transports.Stream({ stream })] });
  logToWinston(auth, logger);
  await getTokenOnce(auth, service);
  logger.end();
  await once(logger, 'finish');
  expect(read().map(({ level, message }) => [level, message])).toEqual(told);
  expect(read()[3]).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', count: 1, audience: service.options.audience });
});

test('OpenTelemetry gets a log record for each event', async () => {
  const { service, auth } = await open();
  const exporter = new InMemoryLogRecordExporter();
  const provider = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter })] });
  onTestFinished(() => provider.shutdown());
  logToOpenTelemetry(auth, provider);
  await getTokenOnce(auth, service);
  await provider.forceFlush();
  expect(exporter.getFinishedLogRecords()).toMatchObject([
    { eventName: 'service_auth.token_issued', severityNumber: SeverityNumber.INFO, attributes: { reason: 'cold' } },
    { eventName: 'service_auth.token_reset', severityNumber: SeverityNumber.WARN },
    {
      eventName: 'service_auth.token_request_failed',
      severityNumber: SeverityNumber.ERROR,
      attributes: { status: 401 },
    },
    { eventName: 'service_auth.token_unavailable', severityNumber: SeverityNumber.ERROR },
  ]);
});

test('a NestJS application has metrics after two lines', async () => {
  const { service } = await open();
  @Module({ imports: [ServiceAuthModule.forRoot({ ...service.options, store: memoryStore() })] })
  class AppModule {}
  const app = await NestFactory.create(AppModule, { logger: false });
  onTestFinished(() => app.close());
  const exporter = new InMemoryMetricExporter(0);
  const meterProvider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter })] });
  onTestFinished(() => meterProvider.shutdown());
  instrument(app, { meterProvider });
  await app.get(Injected).getToken();
  await meterProvider.forceFlush();
  const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  expect(metrics.map(({ descriptor }) => descriptor.name)).toContain('service_auth.token.issued');
});
