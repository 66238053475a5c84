import type { ContractCase } from './contract-case.ts';
import { abortCases } from './http-client-contract/aborts.ts';
import { caseDefiner } from './http-client-contract/bench.ts';
import { bodyCases } from './http-client-contract/bodies.ts';
import { connectionCases } from './http-client-contract/connections.ts';
import { failureCases } from './http-client-contract/failures.ts';
import { originCases } from './http-client-contract/origins.ts';
import { redirectCases } from './http-client-contract/redirects.ts';
import { rejectionCases } from './http-client-contract/rejections.ts';
import { sendingCases } from './http-client-contract/sending.ts';
import type { ConnectHttpClient, HttpClientTraits } from './http-client-contract/subject.ts';

/**
 * All that an HTTP adapter has to do, as data for any test runner. Each case starts a service of its own on loopback and asks `connect`
 * for a client; it measures by what the service and a foreign host received, not by what the client says.
 */
export function httpClientContract(connect: ConnectHttpClient, traits: HttpClientTraits = {}): ContractCase[] {
  const define = caseDefiner(connect, traits);
  return [
    ...sendingCases(define),
    ...rejectionCases(define),
    ...connectionCases(define),
    ...originCases(define),
    ...redirectCases(define, traits),
    ...bodyCases(define, traits),
    ...abortCases(define),
    ...failureCases(define),
  ];
}
