// Verdaccio, on a free port of loopback, until its standard input ends. Arguments: the folder of the tools, the folder for its files, the registry behind it.
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const [tools = '', storage = '', others = ''] = process.argv.slice(2);
const { runServer } = createRequire(join(tools, 'package.json'))('verdaccio') as {
  runServer(configuration: object): Promise<Server>;
};

const server = await runServer({
  self_path: join(storage, 'config.yaml'),
  storage,
  uplinks: { others: { url: others, maxage: '60m', timeout: '60s' } },
  packages: {
    // They come from here alone, and go nowhere else.
    '@service-auth/*': { access: '$all', publish: '$all' },
    '**': { access: '$all', proxy: 'others' },
  },
  auth: { htpasswd: { file: join(storage, 'htpasswd'), max_users: -1 } },
  web: { enable: false },
  log: { type: 'stdout', format: 'pretty', level: 'fatal' },
});
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});
process.stdin.resume().on('end', () => process.exit());
