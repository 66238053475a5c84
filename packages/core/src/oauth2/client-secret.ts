import type { ClientAuthentication } from '../contract/client-authentication.ts';
import { toBase64 } from '../platform/bytes.ts';
import { ownProperties } from '../platform/untrusted.ts';
import { formEncoded, formOf } from './form.ts';
import { unknownOptions } from './unknown-options.ts';

/** Options of {@link clientSecretBasic}. */
export interface ClientSecretBasicOptions {
  /**
   * How the id and the secret are written before they are joined. `'form'`: form-encoded (RFC 6749
   * section 2.3.1). `'none'`: unchanged, for servers that do not decode them. Both are the same if
   * id and secret consist of letters, digits and `*-._`. Default `'form'`.
   */
  encoding?: 'form' | 'none' | undefined;
}

/**
 * Sends the client id and the client secret in the header `Authorization: Basic`
 * (`client_secret_basic`, RFC 6749 section 2.3.1). Its options are checked by `createServiceAuth`.
 */
export function clientSecretBasic(options: ClientSecretBasicOptions = {}): ClientAuthentication {
  const { encoding = 'form' } = ownProperties(options);
  const encode = encoding === 'form' ? formEncoded : (value: string) => value;
  return {
    usesSecret: true,
    problems(client) {
      const problems = unknownOptions(options, ['encoding']);
      if (encoding !== 'form' && encoding !== 'none')
        problems.push({ option: 'clientAuthentication.encoding', message: "must be 'form' or 'none'" });
      if (encoding === 'none' && String(client['clientId']).includes(':'))
        problems.push({ option: 'clientId', message: "must not contain a colon with the encoding 'none'" });
      return problems;
    },
    credentialId: ({ clientSecret }) => `client_secret_basic ${encoding} ${clientSecret}`,
    write({ clientId, clientSecret = '', parameters }) {
      const pair = new TextEncoder().encode(`${encode(clientId)}:${encode(clientSecret)}`);
      return formOf(parameters, { authorization: `Basic ${toBase64(pair)}` });
    },
  };
}

/**
 * Sends the client id and the client secret in the form (`client_secret_post`, RFC 6749 section
 * 2.3.1).
 */
export function clientSecretPost(): ClientAuthentication {
  return {
    usesSecret: true,
    problems: () => [],
    credentialId: ({ clientSecret }) => `client_secret_post ${clientSecret}`,
    write: ({ clientId, clientSecret = '', parameters }) =>
      formOf([...parameters, ['client_id', clientId], ['client_secret', clientSecret]]),
  };
}

/** Options of {@link tlsClientAuth}. */
export interface TlsClientAuthOptions {
  /**
   * The certificate of the client as PEM. It is not sent: after a refusal, clients with this
   * certificate wait, and clients with another one do not. Default: none, and all clients of one id
   * wait.
   */
  certificate?: string | undefined;
}

/**
 * Sends the client id alone (`tls_client_auth` and `self_signed_tls_client_auth`, RFC 8705 section
 * 2). The transport has the certificate that authenticates the client: `fetchTransport({ fetch })`
 * with a fetch of undici and an agent with `connect: { key, cert }`.
 */
export function tlsClientAuth(options: TlsClientAuthOptions = {}): ClientAuthentication {
  const { certificate } = ownProperties(options);
  return {
    usesSecret: false,
    problems() {
      const problems = unknownOptions(options, ['certificate']);
      if (certificate !== undefined && !/^-----BEGIN CERTIFICATE-----/.test(certificate))
        problems.push({ option: 'clientAuthentication.certificate', message: 'must be a certificate as PEM' });
      return problems;
    },
    credentialId: () => `tls_client_auth ${certificate}`,
    write: ({ clientId, parameters }) => formOf([...parameters, ['client_id', clientId]]),
  };
}
