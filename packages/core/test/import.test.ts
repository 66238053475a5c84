import { expect, test, vi } from 'vitest';

test('core can be imported where the globals of the web are missing, as in the jsdom of Jest', async () => {
  for (const name of ['TextEncoder', 'TextDecoder', 'fetch']) vi.stubGlobal(name, undefined);
  vi.resetModules();
  try {
    const { isServiceAuthError } = await import('@service-auth/core');
    expect(isServiceAuthError(new Error('no token'))).toBe(false);
  } finally {
    vi.unstubAllGlobals();
  }
});
