import { secretCanary } from '@service-auth/test-tools/canaries';
import fc from 'fast-check';

/** The description from which an error of a transport is made. */
export interface Failure {
  readonly code: string | undefined;
  readonly syscall: string | undefined;
  readonly message: string;
  readonly cause: Failure | undefined;
  readonly errors: readonly Failure[];
}

const handshake = 'Client network socket disconnected before secure TLS connection was established';
// `…Before` proves that there was no connection. `…OfBoth` occurs on established connections, too.
const codesBefore = ['UND_ERR_CONNECT_TIMEOUT', 'ERR_PROXY_TUNNEL', 'CERT_HAS_EXPIRED', 'SELF_SIGNED_CERT_IN_CHAIN'];
const codesOfBoth = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ECONNRESET', 'EPROTO', 'ERR_SSL_BAD_RECORD_TYPE'];
const callsBefore = ['connect', 'getaddrinfo'];
const callsAfter = ['read', 'write', 'shutdown', 'Connect', 'connect ', ''];
const messagesBefore = [handshake, 'bad port', 'x (https://h): client error (Connect): x'];
const messagesOfBoth = ['', secretCanary, 'connect ECONNREFUSED', 'client error (SendRequest)', 'no bad port'];

const { failure } = fc.letrec<{ failure: Failure }>((tie) => ({
  failure: fc.record({
    code: fc.option(fc.constantFrom(...codesBefore, ...codesOfBoth, ...codesOfBoth), { nil: undefined }),
    syscall: fc.option(fc.constantFrom(...callsBefore, ...callsAfter), { nil: undefined }),
    message: fc.constantFrom(...messagesBefore, ...messagesOfBoth, ...messagesOfBoth),
    cause: fc.option(tie('failure'), { nil: undefined, maxDepth: 3 }),
    errors: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(tie('failure'), { maxLength: 3 }) },
    ),
  }),
}));

/** Errors with causes and errors within, of codes and texts that real ones have. */
export const failures: fc.Arbitrary<Failure> = failure;

export function errorOf({ code, syscall, message, cause, errors }: Failure): Error {
  const error = new Error(message, cause && { cause: errorOf(cause) });
  if (errors.length > 0) Object.assign(error, { errors: errors.map(errorOf) });
  return Object.assign(error, code !== undefined && { code }, syscall !== undefined && { syscall });
}

/** True if the error proves that nothing was sent. This states the rule a second time, independently of core. */
export function wasNeverSent({ code = '', syscall = '', message, cause, errors }: Failure, depth = 0): boolean {
  if (depth === 8) return false;
  if (errors.length > 0) return errors.every((each) => wasNeverSent(each, depth + 1));
  const itself = callsBefore.includes(syscall) || codesBefore.includes(code) || messagesBefore.includes(message);
  // A call that failed on a connection says more than its cause.
  return itself || (syscall === '' && cause !== undefined && wasNeverSent(cause, depth + 1));
}
