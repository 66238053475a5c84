import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { debianProgram } from '@service-auth/test-tools/servers/debian';
import { onPath } from '@service-auth/test-tools/servers/tools';
import { type Browser, chromium } from 'playwright-core';
import { dist, fileAt, readBase } from './dist.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** The built site on loopback. */
export interface SiteServer {
  readonly origin: string;
  /** The address of the start page, with a slash at its end. */
  readonly url: string;
  /** The number of requests. */
  readonly requests: number;
  /** The compressed bytes that it has sent. */
  readonly sentBytes: number;
  close(): void;
}

/** Serves the built site as GitHub Pages does: compressed, to be kept for ten minutes, and with `/errors` for `errors.html`. */
export async function serveSite(): Promise<SiteServer> {
  const base = readBase();
  // A page is loaded dozens of times.
  const compressed = new Map<string, Buffer>();
  let requests = 0;
  let sentBytes = 0;
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const file = fileAt(pathname, base);
    requests += 1;
    if (!file) {
      response.writeHead(404).end();
      return;
    }
    const body = compressed.get(file) ?? gzipSync(readFileSync(join(dist, file)));
    compressed.set(file, body);
    sentBytes += body.length;
    response.writeHead(200, {
      'content-type': types[extname(file)] ?? 'application/octet-stream',
      'content-encoding': 'gzip',
      'cache-control': 'max-age=600',
    });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: origin + base,
    get requests() {
      return requests;
    },
    get sentBytes() {
      return sentBytes;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Starts the Chromium of the machine, or else that of Debian, which is unpacked into the cache of this repository. */
export async function startBrowser(): Promise<Browser> {
  // The sandbox needs a user namespace, which containers do not have. The browser opens only the built site.
  const args = ['--no-sandbox'];
  const installed = onPath('chromium', 'chromium-browser');
  if (installed) return chromium.launch({ executablePath: installed, args });
  const packages = ['chromium', 'fonts-dejavu-core'];
  const { command, env } = await debianProgram('chromium', 'usr/lib/chromium/chromium', packages);
  // Chromium loads a library of PulseAudio, which has a folder of its own.
  const libraries = (env['LD_LIBRARY_PATH'] ?? '').split(':').flatMap((folder) => [folder, join(folder, 'pulseaudio')]);
  const environment = { ...process.env, LD_LIBRARY_PATH: libraries.join(':') };
  return chromium.launch({ executablePath: command, env: environment, args });
}
