import type { ServiceAuthEventListener } from '@service-auth/core';

interface Channel {
  readonly hasSubscribers: boolean;
  publish(message: unknown): void;
}

interface ChannelRuntime {
  readonly process?: {
    getBuiltinModule?: (id: string) => { channel(name: string): Channel } | undefined;
  };
}

/** The name of the channel of `node:diagnostics_channel` on which each event of an instrumented client is published, where the runtime has channels. */
export const eventChannelName = 'service-auth:event';

/** Publishes each event for whoever subscribes to the channel. A runtime without channels has nobody who does. */
export function eventChannel(): ServiceAuthEventListener {
  const channel = openChannel();
  return (event) => {
    if (channel?.hasSubscribers) channel.publish(event);
  };
}

function openChannel(): Channel | undefined {
  try {
    const { process } = globalThis as ChannelRuntime;
    return process?.getBuiltinModule?.('node:diagnostics_channel')?.channel(eventChannelName);
  } catch {
    // The edge runtime of Next.js throws.
    return undefined;
  }
}
