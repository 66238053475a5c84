// The simulator runs in its own process: it reads its certificate from the home directory, and it does not load under the conditions of test runners.
import { createRequire } from 'node:module';
import type { AddressInfo, Server } from 'node:net';

interface Router {
  use(path: string, handler: (request: unknown, response: unknown, next: () => void) => void): void;
}
interface Simulator {
  simulation(options: { extend: { extendRouter(router: Router): void } }): {
    listen(port: number): Promise<{ server: Server }>;
  };
}

// Its ES module cannot sign tokens, its CommonJS one can.
const { simulation } = createRequire(import.meta.url)('@simulacrum/auth0-simulator') as Simulator;
const { server } = await simulation({
  extend: {
    extendRouter: (router) =>
      router.use('/oauth/token', (_request, _response, next) => {
        process.send?.('token request');
        next();
      }),
  },
}).listen(0);
process.on('disconnect', () => process.exit());
process.send?.((server.address() as AddressInfo).port);
