// A forward proxy that others would write: Fastify with its own plug-in, and a fixed token.
import replyFrom from '@fastify/reply-from';
import fastify from 'fastify';

/** Resolves with the address of a proxy for the API. */
export async function startReplyFrom(apiOrigin, token) {
  const app = fastify();
  app.register(replyFrom, { base: apiOrigin });
  const rewriteRequestHeaders = (_request, headers) => ({ ...headers, authorization: `Bearer ${token}` });
  app.all('/*', (request, reply) => reply.from(request.url, { rewriteRequestHeaders }));
  return app.listen({ host: '127.0.0.1', port: 0 });
}
