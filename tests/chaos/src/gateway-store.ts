import type { Store } from '@service-auth/core';
import type { GatewayCall } from './gateway.ts';

/** The Durable Object behind the Worker at `address`. */
export function gatewayStore(address: string): Store {
  async function ask<Answer>(call: GatewayCall, signal: AbortSignal | undefined): Promise<Answer> {
    const response = await fetch(address, { method: 'POST', body: JSON.stringify(call), signal: signal ?? null });
    if (!response.ok) throw Object.assign(new Error('refused'), { name: await response.text() });
    return (await response.json()) as Answer;
  }
  return {
    durability: 'durable',
    load: (key, { signal } = {}) => ask({ key }, signal),
    swap: (key, change, { signal } = {}) => ask({ key, change }, signal),
  };
}
