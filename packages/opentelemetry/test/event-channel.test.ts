import { channel } from 'node:diagnostics_channel';
import type { ServiceAuthEvent } from '@service-auth/core';
import { createAuth, startService } from '@service-auth/test-support/service';
import { expect, onTestFinished, test } from 'vitest';
import { eventChannelName, instrumentServiceAuth } from '../src/index.ts';

test('subscribers of the channel get each event, until it ends', async () => {
  const auth = createAuth(await startService());
  const heard: ServiceAuthEvent[] = [];
  const listener = (event: unknown) => void heard.push(event as ServiceAuthEvent);
  channel(eventChannelName).subscribe(listener);
  onTestFinished(() => void channel(eventChannelName).unsubscribe(listener));
  const end = instrumentServiceAuth(auth);
  await auth.getToken();
  const types = heard.map(({ type }) => type);
  expect(types).toContain('token_issued');
  expect(types[0]).toBe('acquisition_started');
  end();
  await auth.reset();
  expect(heard).toHaveLength(types.length);
});
