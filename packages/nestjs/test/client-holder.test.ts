import { Test } from '@nestjs/testing';
import type { Clock } from '@service-auth/core';
import { ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { startService } from '@service-auth/test-support/service';
import { createTestClock } from '@service-auth/testing';
import { expect, test } from 'vitest';
import { boot, recordingLogger } from './support/boot.ts';

test('an application starts without a request', async () => {
  const service = await startService();
  await boot({ imports: [ServiceAuthModule.forRoot(service.options)] });
  expect(service.counts.tokenRequests).toBe(0);
});

test.each(['beside the factory', 'from the factory'])('with warmUp %s it starts with a token', async (place) => {
  const service = await startService();
  const beside = place === 'beside the factory';
  const options = { ...service.options, ...(!beside && { warmUp: true }) };
  const app = await boot({ imports: [ServiceAuthModule.forRootAsync({ useFactory: () => options, warmUp: beside })] });
  expect(app.get(ServiceAuth).peekToken()).toBeDefined();
  expect(service.counts.issued).toBe(1);
});

test('a warm-up that fails is a warning, and the application starts', async () => {
  const service = await startService();
  service.tokenEndpoint.always({ status: 503 });
  const logger = recordingLogger();
  await boot({ imports: [ServiceAuthModule.forRoot({ ...service.options, name: 'billing', warmUp: true })] }, logger);
  expect(logger.lines).toContainEqual(
    expect.stringMatching(/^warn \[ServiceAuth:billing\] No token at start; the first request asks again\. .*503/),
  );
  expect(service.findSecrets(logger.lines.join('\n'))).toEqual([]);
});

test('what is unexpected at start is not repeated in the log', async () => {
  const service = await startService();
  let isBroken = false;
  const clock: Clock = {
    ...createTestClock(),
    monotonic() {
      if (isBroken) throw new Error(service.credentials.clientSecret);
      return 0;
    },
  };
  const breakClock = () => {
    isBroken = true;
  };
  const logger = recordingLogger();
  const imports = [ServiceAuthModule.forRoot({ ...service.options, clock, warmUp: true })];
  await boot({ imports, providers: [{ provide: 'broken', inject: [ServiceAuth], useFactory: breakClock }] }, logger);
  isBroken = false;
  expect(logger.lines).toContain(
    'warn [ServiceAuth] No token at start; the first request asks again. Unexpected error.',
  );
});

test('where a test overrides the client no other one is made, whatever the options say', async () => {
  const service = await startService();
  const useValue = { peekToken: () => undefined };
  const logger = recordingLogger();
  const module = await Test.createTestingModule({
    imports: [
      ServiceAuthModule.forRootAsync({ useFactory: () => ({ ...service.options, clientId: '' }), warmUp: true }),
    ],
  })
    .overrideProvider(ServiceAuth)
    .useValue(useValue)
    .setLogger(logger)
    .compile();
  await module.init();
  expect(module.get(ServiceAuth)).toBe(useValue);
  await module.close();
  // Nest 12 logs what goes wrong at shutdown, and goes on.
  expect(logger.lines.filter((line) => line.startsWith('error'))).toEqual([]);
  expect(service.counts.tokenRequests).toBe(0);
});
