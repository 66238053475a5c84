import axios, { type AxiosError, type AxiosInstance, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { redactError } from './redact-error.ts';

/** What differs from the configuration that left the interceptors. */
export type Changes = Partial<InternalAxiosRequestConfig>;

/** How a request ended. */
export interface Ending {
  readonly response: AxiosResponse | undefined;
  /** What the adapter rejected with, be it only for the status of `response`. */
  readonly error?: unknown;
}

/** Sends requests by the adapters of one axios instance, and of its copy of axios: a process that uses ESM and CommonJS has two. */
export interface Dispatch {
  /** Runs the adapter of `config` alone, without interceptors and transformations. Never rejects. */
  send(config: InternalAxiosRequestConfig, changes?: Changes): Promise<Ending>;
  /** An AxiosError of that copy. */
  failure(config: InternalAxiosRequestConfig, message: string, code: string, cause?: unknown): Promise<AxiosError>;
}

/** `bare`: an instance without interceptors, created from the one to serve, for this alone. */
export function createDispatch(bare: AxiosInstance): Dispatch {
  // The defaults are in every configuration already, or were removed on purpose.
  for (const name of Object.keys(bare.defaults)) delete (bare.defaults as Record<string, unknown>)[name];

  const isThisCopy = bare.interceptors.request.constructor === axios.interceptors.request.constructor;

  function run(config: InternalAxiosRequestConfig, changes?: Changes): Promise<AxiosResponse> {
    const { adapter } = config;
    if (isThisCopy || typeof adapter === 'function') {
      const final = changes ? copy({}, config, changes) : config;
      return axios.getAdapter(adapter || axios.defaults.adapter, final)(final);
    }
    // Only the other copy can resolve its adapters by name. It is given next to nothing to merge, and the whole configuration in its last step
    // before the adapter: handing it over at once would have everything merged and normalised again, and cost a fifth of a request.
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
      // An instance gives its class of errors only by failing.
      const failed: AxiosError = await bare.request({ adapter: 'none' }).catch((error) => error);
      const Failure = failed.constructor as typeof AxiosError;
      return Object.assign(new Failure(message, code, config), cause !== undefined && { cause });
    },
  };
}

/** A loop over names: spreading the prototype-less configurations of axios takes four times as long. */
function copy(target: object, config: InternalAxiosRequestConfig, changes?: Changes): InternalAxiosRequestConfig {
  const copied = target as Record<string, unknown>;
  for (const name of Object.keys(config)) copied[name] = config[name as keyof InternalAxiosRequestConfig];
  return Object.assign(target as InternalAxiosRequestConfig, changes);
}

/** Turns how a request ended into what axios would have done. */
export function settled({ response, error }: Ending): AxiosResponse {
  if (error !== undefined) throw error;
  return response as AxiosResponse;
}
