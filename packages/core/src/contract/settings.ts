import type { Limits } from '../ledger/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Lifeline } from '../platform/lifeline.ts';
import type { ClientAuthentication } from './client-authentication.ts';
import type { Emit, EmitRepeated } from './events.ts';
import type { ServiceAuthOptions } from './options.ts';
import type { Store } from './store.ts';
import type { TokenAddress, TokenParameters } from './token-parameters.ts';
import type { Transport } from './transport.ts';

/**
 * The checked options that clients have in common, with defaults. Clients with equal options share
 * one frozen object.
 */
export interface CommonSettings extends Lifeline, Addresses {
  /** The name of the token in the record: the audience, if no more is requested. */
  readonly tokenName: string;
  /** The parameters of the token request that say which token it is for. */
  readonly parameters: TokenParameters;
  readonly scope: string;
  readonly authentication: ClientAuthentication;
  /** The accepted values of `token_type` besides `bearer`, in lower case, joined by commas. */
  readonly tokenTypes: string;
  /** Further headers of the token request. Their names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The word before the token in an `Authorization` header. */
  readonly scheme: string;
  /** The lifetime of a token whose answer states none. */
  readonly lifetimeMs: number | undefined;
  readonly limits: Limits;
  readonly store: Store;
  readonly transport: Transport;
  readonly timeoutMs: number;
  readonly storeKey: string | Uint8Array | undefined;
  readonly onEvent: ServiceAuthOptions['onEvent'];
  readonly clock: Clock;
}

/** The checked options of a client. */
export interface CheckedOptions extends Pick<ServiceAuthOptions, 'clientId' | 'clientSecret' | 'instance'> {
  readonly common: CommonSettings;
}

/** The settings of a client, with its events. */
export interface Settings extends CommonSettings {
  readonly clientId: string;
  readonly clientSecret: ServiceAuthOptions['clientSecret'];
  readonly instance: string;
  readonly emit: Emit;
  readonly emitRepeated: EmitRepeated;
  /** Reports that the store answers again, if its failure was reported. */
  readonly emitRecovered: () => void;
  /** True if anybody listens to the events of operations. */
  readonly observesOperations: boolean;
}

export interface Addresses extends TokenAddress {
  readonly issuer: string | undefined;
  readonly baseUrl: string | undefined;
  readonly covers: (url: string | URL) => boolean;
  /** True if http: is allowed for hosts other than loopback. */
  readonly allowInsecureHttp: boolean;
}
