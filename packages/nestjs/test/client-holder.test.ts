import { Test } from '@nestjs/testing';
import { ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { expect, onTestFinished, test } from 'vitest';
import { boot, recordingLogger, testService } from './support/boot.ts';

test('an application starts without a request', async () => {
  const service = await testService();
  await boot({ imports: [ServiceAuthModule.forRoot(service.options)] });
  expect(service.counts.tokenRequests).toBe(0);
});

test.each(['beside the factory', 'from the factory'])('with warmUp %s it starts with a token', async (place) => {
  const service = await testService();
  const beside = place === 'beside the factory';
  const options = { ...service.options, ...(!beside && { warmUp: true }) };
  const app = await boot({ imports: [ServiceAuthModule.forRootAsync({ useFactory: () => options, warmUp: beside })] });
  expect(app.get(ServiceAuth).peekToken()).toBeDefined();
  expect(service.counts.issued).toBe(1);
});

test('a warm-up that fails is a warning, and the application starts', async () => {
  const service = await testService();
  service.tokenEndpoint.always({ status: 503 });
  const logger = recordingLogger();
  await boot({ imports: [ServiceAuthModule.forRoot({ ...service.options, name: 'billing', warmUp: true })] }, logger);
  expect(logger.lines).toContainEqual(
    expect.stringMatching(/^warn \[ServiceAuth:billing\] No token at start; the first request asks again\. .*503/),
  );
  expect(service.findSecrets(logger.lines.join('\n'))).toEqual([]);
});

test('an application that is closed while it warms up does not wait for the token', async () => {
  const service = await testService();
  const { arrived } = service.tokenEndpoint.hold();
  const imports = [ServiceAuthModule.forRoot({ ...service.options, warmUp: true })];
  const module = await Test.createTestingModule({ imports }).compile();
  const started = module.init();
  await arrived;
  const logger = recordingLogger();
  module.useLogger(logger);
  const closed = module.close();
  await started;
  expect(logger.lines).toEqual([]);
  service.tokenEndpoint.clear();
  await closed;
});

test('where a test overrides the client no other one is made, whatever the options say', async () => {
  const service = await testService();
  const useValue = { peekToken: () => undefined };
  const module = await Test.createTestingModule({
    imports: [
      ServiceAuthModule.forRootAsync({ useFactory: () => ({ ...service.options, clientId: '' }), warmUp: true }),
    ],
  })
    .overrideProvider(ServiceAuth)
    .useValue(useValue)
    .compile();
  onTestFinished(() => module.close());
  await module.init();
  expect(module.get(ServiceAuth)).toBe(useValue);
  expect(service.counts.tokenRequests).toBe(0);
});
