import type { AnyServiceAuthError } from '@service-auth/core';
import { variables } from '@service-auth/core/record';

/** The exit codes of the program. `check` has those of Nagios instead. */
export const exitCodes = {
  success: 0,
  failure: 1,
  /** Wrong usage or configuration. */
  usage: 2,
  credentialsRejected: 4,
  /** EX_UNAVAILABLE of sysexits.h: the store cannot be reached or read. */
  store: 69,
  /** EX_TEMPFAIL of sysexits.h: try again later. */
  tryLater: 75,
} as const;

/** Ends a command with a sentence on standard error and this exit code. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failure) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Wrong usage or configuration. It lists all problems that are known. */
export class UsageError extends Failure {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'), exitCodes.usage);
    this.problems = [...new Set(problems)];
  }
}

const codes: Readonly<Record<AnyServiceAuthError['code'], number>> = {
  ERR_CONFIG: exitCodes.usage,
  ERR_CREDENTIALS_REJECTED: exitCodes.credentialsRejected,
  ERR_ISSUANCE_LIMIT: exitCodes.tryLater,
  ERR_RATE_LIMITED: exitCodes.tryLater,
  ERR_STORE: exitCodes.store,
  ERR_STORE_INTEGRITY: exitCodes.store,
  ERR_CLIENT_SECRET: exitCodes.failure,
  ERR_CLOSED: exitCodes.failure,
  ERR_TOKEN_ENDPOINT: exitCodes.failure,
  ERR_TOKEN_PENDING: exitCodes.failure,
  ERR_TOKEN_REJECTED: exitCodes.failure,
  ERR_TOKEN_RESPONSE: exitCodes.failure,
};

export function exitCodeOf({ code }: AnyServiceAuthError): number {
  return codes[code];
}

/** What a shell has in place of options and functions. Names of one word stay: they are words. */
const names: ReadonlyMap<string, string> = new Map([
  ...Object.entries(variables).filter(([option]) => /[A-Z]/.test(option)),
  ['issuanceLimit', variables['issuanceLimit.tokens']],
  ['getUsage()', 'service-auth usage'],
  ['reset()', 'service-auth reset'],
]);

/** The message of an error of core, as a sentence of this program. */
export function sentenceOf({ message }: Error): string {
  const sentence = message.replace(/^\[service-auth[^\]]*\] /, '');
  const translated = sentence.replace(/\b[a-z]\w*(\(\))?/gi, (name) => names.get(name) ?? name);
  // Core names some variables beside their options.
  return translated.replace(/\b(\w+) \(\1\)/g, '$1');
}
