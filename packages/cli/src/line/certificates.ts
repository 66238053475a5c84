const unknownAuthority = /SELF_SIGNED_CERT|^UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT_LOCALLY)$/;

/**
 * Says what to do about a server whose certificate was not accepted. `remedy`: for one that no
 * known authority has signed. Undefined: the code is of something else.
 */
export function certificateAdvice(code: unknown, remedy: string): string | undefined {
  if (unknownAuthority.test(String(code)))
    return `no authority that this machine knows has signed its certificate: ${remedy}.`;
  if (code === 'CERT_HAS_EXPIRED') return 'its certificate has expired.';
  return code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? 'its certificate is for another name.' : undefined;
}
