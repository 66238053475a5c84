import type { ClientAuthentication } from '../contract/client-authentication.ts';
import { clientAssertion } from './client-assertion.ts';
import { clientSecretBasic, clientSecretPost, tlsClientAuth } from './client-secret.ts';
import type { PrivateKey, SigningAlgorithm } from './private-key.ts';
import { privateKeyJwt } from './private-key-jwt.ts';

/** A client authentication as environment variables describe it. */
export interface DescribedAuthentication {
  /** The registered name. Undefined: an assertion is sent. */
  readonly method?: string | undefined;
  readonly keyId?: string | undefined;
  readonly keyAlgorithm?: string | undefined;
  /** Reads the private key, or the assertion. It is called for each request. */
  read(): Promise<string>;
}

/**
 * Creates the client authentication that environment variables describe. Their reader has checked
 * them.
 */
export function authenticationOf({ method, keyId, keyAlgorithm, read }: DescribedAuthentication): ClientAuthentication {
  if (method === 'client_secret_basic') return clientSecretBasic();
  if (method === 'client_secret_post') return clientSecretPost();
  if (method === 'tls_client_auth') return tlsClientAuth();
  return method === 'private_key_jwt'
    ? privateKeyJwt({ key: read as () => Promise<PrivateKey>, keyId, algorithm: keyAlgorithm as SigningAlgorithm })
    : clientAssertion(read);
}
