// The options of curl that may follow `--`. An option is in the list if it cannot send the token anywhere but to the address, nor write it to a file,
// nor replace it. What a newer curl adds is refused until somebody has looked at it.

/** The condition that the value of an option must meet. */
export type ValueRule = 'any' | 'line' | 'header' | 'method' | 'upload';

export interface CurlOption {
  /** Undefined: the option takes no value. */
  readonly value?: ValueRule;
  /** The option changes the way to the host. With https the certificate proves that the host is at its end, or whom the authority of `--cacert` takes for it. */
  readonly isRoute?: true;
  /** The option names another server for the host. An authority of the caller's own could certify any server. */
  readonly namesServer?: true;
}

const words = (text: string): string[] => text.trim().split(/\s+/);

const listed = (names: string, option: CurlOption) => words(names).map((name) => [name, option] as const);

/** Every option that is allowed. Long names are whole: curl takes the beginning of a name for the option, and which one depends on its version. */
export const curlOptions: ReadonlyMap<string, CurlOption> = new Map([
  ...listed(
    `-# -0 -4 -6 -f -g -G -i -I -j -J -L -N -O -R -s -S -v
    --alpn --buffer --ca-native --cert-status --clobber --compressed --create-dirs --crlf --fail --fail-early
    --fail-with-body --form-escape --get --globoff --head --http1.0 --http1.1 --http2 --http2-prior-knowledge --http3
    --http3-only --ignore-content-length --include --ipv4 --ipv6 --junk-session-cookies --keepalive --location --post301
    --post302 --post303 --progress-bar --progress-meter --raw --remote-header-name --remote-name --remote-time
    --remove-on-error --retry-all-errors --retry-connrefused --sessionid --show-error --silent --styled-output
    --suppress-connect-headers --tcp-fastopen --tcp-nodelay --tlsv1.2 --tlsv1.3 --tr-encoding --verbose`,
    {},
  ),
  ...listed(
    `-A -b -c -C -D -e -E -m -o -r -y -Y -z
    --cacert --capath --cert --cert-type --ciphers --connect-timeout --continue-at --cookie --cookie-jar
    --create-file-mode --crlfile --curves --dump-header --etag-compare --etag-save --expect100-timeout
    --happy-eyeballs-timeout-ms --interface --keepalive-time --key --key-type --limit-rate --local-port --max-filesize
    --max-redirs --max-time --output --output-dir --pass --pinnedpubkey --range --rate --referer --retry --retry-delay
    --retry-max-time --speed-limit --speed-time --time-cond --tls-max --tls13-ciphers --user-agent`,
    { value: 'line' },
  ),
  ...listed(
    `-d -F -w --data --data-ascii --data-binary --data-raw --data-urlencode --form --form-string --json --write-out`,
    { value: 'any' },
  ),
  ...listed('-H --header', { value: 'header' }),
  ...listed('-X --request', { value: 'method' }),
  ...listed('-T --upload-file', { value: 'upload' }),
  ...listed(`-p --proxytunnel --proxy-anyauth --proxy-basic --proxy-digest --proxy-negotiate --proxy-ntlm`, {
    isRoute: true,
  }),
  ...listed(
    `-U -x --noproxy --preproxy --proxy --proxy-cacert --proxy-capath --proxy-cert --proxy-cert-type
    --proxy-header --proxy-key --proxy-key-type --proxy-pass --proxy-user --proxy1.0 --socks4 --socks4a
    --socks5 --socks5-hostname`,
    { value: 'line', isRoute: true },
  ),
  ...listed('--connect-to --resolve', { value: 'line', isRoute: true, namesServer: true }),
]);
