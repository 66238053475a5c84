import type { AccessToken } from '@service-auth/core';
import type { Environment } from '../configuration/environment.ts';
import { tokenJson } from '../report/token-json.ts';

export type FormatName = 'raw' | 'header' | 'env' | 'json' | 'exec-credential';

type Format = (token: AccessToken, env: Environment) => string;

const supportedVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

export const formats: Readonly<Record<FormatName, Format>> = {
  raw: ({ value }) => value,
  header: ({ authorization }) => `Authorization: ${authorization}`,
  // A program that gives `sh` what it says must quote everything.
  env: ({ value, expiresAt }) =>
    `export SERVICE_AUTH_TOKEN=${quoted(value)}\nexport SERVICE_AUTH_TOKEN_EXPIRES_AT=${quoted(iso(expiresAt))}`,
  json: (token, env) => JSON.stringify(tokenJson(token, env['SERVICE_AUTH_AUDIENCE'])),
  // https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
  'exec-credential': ({ value, expiresAt }, env) =>
    JSON.stringify({
      kind: 'ExecCredential',
      apiVersion: requestedVersion(env['KUBERNETES_EXEC_INFO']),
      status: { expirationTimestamp: iso(expiresAt).replace(/\.\d+Z$/, 'Z'), token: value },
    }),
};

export function isFormat(name: string): name is FormatName {
  return Object.hasOwn(formats, name);
}

function iso(instant: number): string {
  return new Date(instant).toISOString();
}

/** Quotes a text for `sh`: nothing within single quotes is special but the single quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** kubectl says which version it expects, and refuses any other one. */
function requestedVersion(info: string | undefined): string | undefined {
  try {
    const { apiVersion = '' } = JSON.parse(info ?? '') as { apiVersion?: string };
    if (supportedVersions.includes(apiVersion)) return apiVersion;
  } catch {}
  return supportedVersions[0];
}
