import axios, { type AxiosError, type AxiosInstance, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { redactError } from './errors.ts';

/** The settings that replace those of the configuration that left the interceptors. */
export type Changes = Partial<InternalAxiosRequestConfig>;

/** The result of a request. */
export interface Ending {
  readonly response: AxiosResponse | undefined;
  /** The error with which the adapter rejected. Its only reason may be the status of `response`. */
  readonly error?: unknown;
}

/**
 * Sends requests with the adapters of one axios instance. A process that uses ESM and CommonJS has
 * two copies of axios, each with adapters of its own.
 */
export interface Dispatch {
  /**
   * Runs the adapter of `config` alone, without interceptors and transformations. Never rejects.
   */
  send(config: InternalAxiosRequestConfig, changes?: Changes): Promise<Ending>;
  /** Creates an AxiosError of the instance's copy of axios. */
  failure(config: InternalAxiosRequestConfig, message: string, code: string, cause?: unknown): Promise<AxiosError>;
}

/**
 * Creates the dispatch of an axios instance. `bare`: an instance without interceptors, which that
 * instance created for this purpose.
 */
export function createDispatch(bare: AxiosInstance): Dispatch {
  // Every configuration already contains the defaults, or the application removed them on purpose.
  for (const name of Object.keys(bare.defaults)) delete (bare.defaults as Record<string, unknown>)[name];

  const isThisCopy = bare.interceptors.request.constructor === axios.interceptors.request.constructor;

  function run(config: InternalAxiosRequestConfig, changes?: Changes): Promise<AxiosResponse> {
    const { adapter } = config;
    if (isThisCopy || typeof adapter === 'function') {
      const final = changes ? copy(Object.create(Object.getPrototypeOf(config)), config, changes) : config;
      return axios.getAdapter(adapter || axios.defaults.adapter, final)(final);
    }
    // Only the other copy can resolve its adapters by name. It gets the configuration in its last
    // step before the adapter: if it got the configuration at the start, it would merge and
    // normalise everything again, which takes a fifth of the time of a request.
    function complete(this: InternalAxiosRequestConfig): unknown {
      return copy(this, config, { ...changes, transformResponse: [] }).data;
    }
    return bare.request({ transformRequest: [complete] });
  }

  return {
    async send(config, changes) {
      try {
        const response = await run(config, changes);
        response.config = config;
        return { response };
      } catch (error) {
        redactError(error, config);
        return { response: Object(error).response, error: error ?? null };
      }
    },
    async failure(config, message, code, cause) {
      // The instance does not export its AxiosError, so a request that must fail provides one.
      const failed: AxiosError = await bare.request({ adapter: 'none' }).catch((error) => error);
      const Failure = failed.constructor as typeof AxiosError;
      return Object.assign(new Failure(message, code, config), cause !== undefined && { cause });
    },
  };
}

/**
 * Copies in a loop, because spreading axios's configurations, which have no prototype, takes four
 * times as long.
 */
function copy(target: object, config: InternalAxiosRequestConfig, changes?: Changes): InternalAxiosRequestConfig {
  const copied = target as Record<string, unknown>;
  for (const name of Object.keys(config)) copied[name] = config[name as keyof InternalAxiosRequestConfig];
  return Object.assign(target as InternalAxiosRequestConfig, changes);
}

/** Returns or throws, as axios would have done. */
export function settled({ response, error }: Ending): AxiosResponse {
  if (error !== undefined) throw error;
  return response as AxiosResponse;
}
