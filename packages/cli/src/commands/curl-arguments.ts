import { readFileSync, statSync } from 'node:fs';
import { type CurlOption, curlOptions, type ValueRule } from './curl-options.ts';

/** The facts of the base URL that decide which way the token may take. */
export interface Reach {
  /** Every path of the host is under the base URL. */
  readonly isWholeHost: boolean;
  readonly isHttps: boolean;
}

interface Argument {
  /** As it is written: `-L`, `--location`. Undefined: it is no option, so an address. */
  readonly name: string | undefined;
  readonly value: string | undefined;
}

/** Splits the arguments as curl does, up to the first option that is not known: nobody knows whether it takes a value. */
function splitArguments(args: readonly string[]): Argument[] {
  const found: Argument[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] ?? '';
    if (!argument.startsWith('-') || argument === '-') {
      found.push({ name: undefined, value: undefined });
    } else if (argument.startsWith('--')) {
      const option = optionOf(argument);
      found.push({ name: argument, value: option?.value && args[++index] });
      if (!option) return found;
    } else {
      // Short options may share a hyphen: -sSfL, -XPOST.
      for (const [at, letter] of [...argument].entries()) {
        if (at === 0) continue;
        const name = `-${letter}`;
        const option = optionOf(name);
        const attached = [...argument].slice(at + 1).join('');
        found.push({ name, value: option?.value && (attached === '' ? args[++index] : attached) });
        if (!option) return found;
        if (option.value) break;
      }
    }
  }
  return found;
}

/** `--no-` switches off what takes no value. */
function optionOf(name: string): CurlOption | undefined {
  const option = curlOptions.get(name);
  if (option || !name.startsWith('--no-')) return option;
  const reversed = curlOptions.get(name.replace('--no-', '--'));
  // Brackets in the address must not make several addresses of it.
  return reversed?.value || name === '--no-globoff' ? undefined : reversed;
}

/** The problems of arguments for curl: what could send the token elsewhere, or write it down. */
export function refusedArguments(args: readonly string[], { isWholeHost, isHttps }: Reach): string[] {
  const given = splitArguments(args);
  const hasOwnAuthority = given.some(({ name }) => name === '--cacert' || name === '--capath');
  return given.flatMap(({ name, value }) => {
    if (name === undefined) return ['after -- come options of curl only; PATH is the one address that gets the token'];
    const option = optionOf(name);
    if (!option) return [problemOfUnknown(name)];
    if (option.isRoute && !isHttps) {
      return [`${name} of curl needs https, where the certificate proves that the token reaches the host`];
    }
    if (option.namesServer && hasOwnAuthority) {
      return [`${name} of curl and --cacert or --capath exclude each other: together they could name any server`];
    }
    if ((name === '-L' || name === '--location') && !isWholeHost) {
      return [`${name} of curl follows redirects to the whole host, but SERVICE_BASE_URL is only a part of it`];
    }
    const problem = value !== undefined && option.value && problemOf[option.value](value);
    return problem ? [`${name} of curl ${problem}`] : [];
  });
}

function problemOfUnknown(name: string): string {
  // A value that is attached to the name may be secret.
  const [shown = name] = name.split('=');
  const isBeginning = shown.length > 2 && [...curlOptions.keys()].some((known) => known.startsWith(shown));
  if (isBeginning) return `${shown} is only the beginning of the name of an option, or an option that is not allowed`;
  return `${shown} of curl is not allowed, because it could send the token elsewhere, replace it or write it down; for such a call there is service-auth token --format header | curl -H @- URL`;
}

const lineBreak = /[\r\n]/;

// Curl writes these values into the head of the request as they are.
const problemOf: Readonly<Record<ValueRule, (value: string) => string | undefined>> = {
  any: () => undefined,
  line: (value) => (lineBreak.test(value) ? 'has a line break in its value' : undefined),
  header: problemOfHeader,
  // Curl appends the last part of the name to an address that ends with a slash, and resolves dots after that.
  upload: (value) =>
    value !== '.' && /(^|[/\\])\.\.?$|[\r\n]/.test(value)
      ? 'must name a file, whose name curl appends to PATH'
      : undefined,
  method: (value) =>
    /^[\w!#$%&'*+.^`|~-]+$/.test(value) && !/^(trace|connect)$/i.test(value)
      ? undefined
      : 'must be a method of the API; TRACE sends the token back, and CONNECT opens another way',
};

function problemOfHeader(value: string): string | undefined {
  const lines = value.startsWith('@') ? linesOf(value.slice(1)) : [value];
  if (lines === undefined) return 'names no file whose headers can be checked before they are sent';
  if (lines.some((line) => lineBreak.test(line))) return 'has a line break in its value';
  const [name] = lines.flatMap((line) => /^\s*(host|authorization)\s*([:;]|$)/i.exec(line)?.[1] ?? []);
  return name && `may not set ${name}: the token is for the host of the address`;
}

/** The lines of a file. Undefined: what is read here, such as a pipe, could not be read again by curl. */
function linesOf(file: string): string[] | undefined {
  try {
    return statSync(file).isFile() ? readFileSync(file, 'latin1').split(/\r?\n/) : undefined;
  } catch {
    return undefined;
  }
}

/** True if curl shows the head of its request. */
export function showsRequest(args: readonly string[]): boolean {
  return splitArguments(args).some(({ name }) => name === '-v' || name === '--verbose');
}

// A hyphen as a value (-T -, -T-), after @ or < (-d @-, -F a=<-;type=text), or the dot of -T.
const standardInput = /^(\.|-[a-zA-Z]?-?)$|[@<]-(;|$)/;

/** True if an argument makes curl read standard input. A doubtful one counts: then a shell is needed, and nothing else changes. */
export function readsStandardInput(args: readonly string[]): boolean {
  return args.some((argument) => standardInput.test(argument) && !/^-[a-zA-Z]$/.test(argument));
}
