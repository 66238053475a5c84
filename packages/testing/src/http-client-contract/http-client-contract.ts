import type { ContractCase } from '../contract/contract-case.ts';
import { abortCases } from './aborts.ts';
import { bodyCases } from './bodies.ts';
import { connectionCases } from './connections.ts';
import { failureCases } from './failures.ts';
import { caseDefiner } from './fixture.ts';
import { originCases } from './origins.ts';
import { redirectCases } from './redirects.ts';
import { rejectionCases } from './rejections.ts';
import { sendingCases } from './sending.ts';
import type { ConnectHttpClient, HttpClientTraits } from './subject.ts';
import { verdictCases } from './verdicts.ts';

/**
 * All that an HTTP adapter has to do, as data for any test runner. Each case starts a service of
 * its own on loopback and asks `connect` for a client; it measures by what the service and a
 * foreign host received, not by what the client says. No option takes a case out: see
 * {@link HttpClientRequest} and {@link HttpClientSubject} for what stands in for what a client
 * cannot do.
 */
export function httpClientContract(connect: ConnectHttpClient, traits: HttpClientTraits = {}): ContractCase[] {
  const define = caseDefiner(connect, traits);
  return [
    ...sendingCases(define),
    ...rejectionCases(define),
    ...connectionCases(define),
    ...originCases(define),
    ...redirectCases(define),
    ...bodyCases(define),
    ...abortCases(define),
    ...failureCases(define),
    ...(traits.isRejected ? verdictCases(define) : []),
  ];
}
