import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { debianPackages } from '@service-auth/test-tools/servers/debian';
import { onPath } from '@service-auth/test-tools/servers/tools';

/** The command that runs an example, with what its language needs. */
export interface Runner {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const packages = [
  ...['python3-requests-oauthlib', 'python3-authlib', 'golang-go', 'golang-golang-x-oauth2-dev'],
  ...['ruby', 'ruby-oauth2', 'php-cli'],
];

/** The languages of Debian, unpacked into the cache of this repository. What the machine has is taken from there. */
export async function debianRunners(): Promise<Readonly<Record<'python' | 'go' | 'ruby' | 'php' | 'shell', Runner>>> {
  const folder = await debianPackages('languages', onPath('curl') ? packages : [...packages, 'curl']);
  const inFolder = (...patterns: string[]) => patterns.flatMap((pattern) => globSync(join(folder, pattern)));
  const program = (installed: string, unpacked: string) => (existsSync(installed) ? installed : join(folder, unpacked));
  const libraries = { LD_LIBRARY_PATH: inFolder('usr/lib/*-linux-*').join(':') };
  const gems = ['usr/share/rubygems-integration/all/gems/*/lib', 'usr/lib/ruby/vendor_ruby', 'usr/lib/ruby/[0-9]*'];
  const goRoot = existsSync('/usr/bin/go') ? {} : { GOROOT: join(folder, 'usr/lib/go') };
  return {
    python: {
      command: program('/usr/bin/python3', 'usr/bin/python3'),
      args: [],
      env: { ...libraries, PYTHONPATH: join(folder, 'usr/lib/python3/dist-packages'), PYTHONDONTWRITEBYTECODE: '1' },
    },
    go: {
      command: program('/usr/bin/go', 'usr/bin/go'),
      args: ['run'],
      env: {
        ...goRoot,
        GO111MODULE: 'off',
        CGO_ENABLED: '0',
        GOPATH: [join(folder, 'usr/share/gocode'), '/usr/share/gocode'].join(':'),
        GOCACHE: join(folder, 'go-cache'),
      },
    },
    ruby: {
      command: program('/usr/bin/ruby', 'usr/bin/ruby'),
      args: existsSync('/usr/bin/ruby') ? [] : ['--disable-gems'],
      env: { ...libraries, RUBYLIB: inFolder(...gems, 'usr/lib/*/ruby/[0-9]*').join(':') },
    },
    php: { command: program('/usr/bin/php', 'usr/bin/php.default'), args: [], env: libraries },
    shell: {
      command: 'sh',
      args: [],
      env: { ...libraries, PATH: `${process.env['PATH']}:${join(folder, 'usr/bin')}` },
    },
  };
}
