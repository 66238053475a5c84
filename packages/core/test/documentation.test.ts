import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { authenticationVariables, secretVariables, serveVariables, variables } from '../src/contract/variables.ts';
import { ServiceAuthError, type ServiceAuthErrorCode, type ServiceAuthEventType } from '../src/index.ts';

// The compiler sees to it that these lists are complete.
const codes: Record<ServiceAuthErrorCode, true> = {
  ERR_CONFIG: true,
  ERR_ISSUANCE_LIMIT: true,
  ERR_CLIENT_SECRET: true,
  ERR_CREDENTIALS_REJECTED: true,
  ERR_RATE_LIMITED: true,
  ERR_TOKEN_ENDPOINT: true,
  ERR_TOKEN_RESPONSE: true,
  ERR_STORE: true,
  ERR_STORE_INTEGRITY: true,
  ERR_TOKEN_PENDING: true,
  ERR_TOKEN_REJECTED: true,
  ERR_CLOSED: true,
};
const events: Record<ServiceAuthEventType, true> = {
  token_issued: true,
  token_adopted: true,
  token_request_failed: true,
  token_rejected: true,
  issuance_refused: true,
  issuance_over_limit: true,
  client_secret_failed: true,
  store_failed: true,
  store_recovered: true,
  store_warning: true,
  ledger_lost: true,
  clock_anomaly: true,
  token_unavailable: true,
  store_called: true,
  acquisition_started: true,
  acquisition_ended: true,
  agreement_differs: true,
  token_reset: true,
  token_bypassed: true,
  store_damaged: true,
  quota_observed: true,
};

const root = new URL('../../../', import.meta.url);
const documented = readFileSync(new URL('docs/errors.md', root), 'utf8');
const rows = (pattern: RegExp) => [...documented.matchAll(pattern)].map(([, name]) => name);

test('docs/errors.md has a part for every error code, and no other', () => {
  expect(rows(/^### `(ERR_\w+)`$/gm).sort()).toEqual(Object.keys(codes).sort());
});

test('docs/errors.md lists every event, and no other', () => {
  expect(rows(/^\| `([a-z]+_[a-z_]+)` \|/gm).sort()).toEqual(Object.keys(events).sort());
});

test('the message of each code ends with a link to the part of the documentation about that code', () => {
  const { homepage } = JSON.parse(readFileSync(new URL('packages/core/package.json', root), 'utf8')) as {
    homepage: string;
  };
  const [repository] = homepage.split('/tree/');
  for (const code of Object.keys(codes) as ServiceAuthErrorCode[]) {
    const link = new ServiceAuthError(code, 'x').message.split(' ').at(-1) ?? '';
    const [address = '', anchor] = link.split('#');
    expect(address.startsWith(`${repository}/blob/main/docs/`)).toBe(true);
    const page = readFileSync(new URL(address.slice(`${repository}/blob/main/`.length), root), 'utf8');
    expect(anchor).toBe(code.toLowerCase());
    expect(page).toContain(`\n### \`${code}\`\n`);
  }
});

test('docs/variables.md explains every variable, and no other', () => {
  const page = readFileSync(new URL('docs/variables.md', root), 'utf8');
  const explained = [...page.matchAll(/^\| (`SERVICE_[^|]*) \|/gm)].flatMap(
    ([, cell = '']) => cell.match(/\w+/g) ?? [],
  );
  const named = [variables, authenticationVariables, serveVariables].flatMap((each) => Object.values(each));
  expect(explained.sort()).toEqual([...named, ...secretVariables.map((name) => `${name}_FILE`)].sort());
});

test('docs/variables.md names the option that each variable sets', () => {
  const page = readFileSync(new URL('docs/variables.md', root), 'utf8');
  const cells = [...page.matchAll(/^\| `(SERVICE_\w+)`[^|]* \| `([\w.]+)` \|/gm)];
  const options = new Map(cells.map(([, variable = '', option = '']) => [variable, option]));
  for (const [option, variable] of Object.entries(variables)) {
    if (option !== 'store') expect(options.get(variable), variable).toBe(option.replace(/\.tokens$/, ''));
  }
});
