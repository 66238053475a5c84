import type { Limits } from '../ledger/limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Lifeline } from '../platform/lifeline.ts';
import type { Emit, EmitRepeated } from './events.ts';
import type { ServiceAuthOptions } from './options.ts';
import type { Store } from './store.ts';
import type { Transport } from './transport.ts';

/** The checked options that clients have in common, with defaults. Clients with equal options share one frozen object. */
export interface CommonSettings extends Lifeline, Addresses {
  readonly audience: string;
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

/** Everything that an attempt of a client needs to know. */
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

export interface Addresses {
  readonly tokenUrl: string;
  /** The name of the token endpoint. All spellings of `tokenUrl` have one name. */
  readonly endpoint: string;
  readonly baseUrl: string | undefined;
  readonly covers: (url: string | URL) => boolean;
}
