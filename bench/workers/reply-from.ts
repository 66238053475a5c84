import { loadPeerModule } from '../contenders/peers.ts';

interface Peer {
  startReplyFrom(apiOrigin: string, token: string): Promise<string>;
}

/** The proxy of @fastify/reply-from for an API. */
export default async function replyFrom(apiOrigin: string): Promise<{ readonly url: string; readonly pid: number }> {
  const { startReplyFrom } = await loadPeerModule<Peer>('reply-from');
  return { url: await startReplyFrom(apiOrigin, 'x'.repeat(754)), pid: process.pid };
}
