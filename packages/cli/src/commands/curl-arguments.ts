// Curl sends the header to every address of its command line, and after a redirect to every path of the host. So there is one address, which is checked.

const refused: Readonly<Record<string, string>> = {
  '--url': 'names another address',
  '--url-query': 'changes the address; write the query into PATH',
  '--next': 'names another address',
  '-:': 'names another address',
  '--config': 'may name another address',
  '-K': 'may name another address',
  '--location-trusted': 'carries the token to other hosts',
  '--no-globoff': 'makes several addresses of one',
  '--expand-url': 'names another address',
};

interface Argument {
  /** As in the help: `-L`, `--location`. Undefined: it is no option, so an address. */
  readonly name: string | undefined;
  readonly value: string | undefined;
}

/** Splits the arguments as curl does. `takesValue`: the options that take one. */
function splitArguments(args: readonly string[], takesValue: ReadonlySet<string>): Argument[] {
  const found: Argument[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const argument = args[index] ?? '';
    if (!argument.startsWith('-') || argument === '-') found.push({ name: undefined, value: argument });
    else if (argument.startsWith('--')) {
      const name = fullName(argument, takesValue);
      found.push({ name, value: takesValue.has(name) ? args[++index] : undefined });
    } else {
      // Short options may share a hyphen: -sSfL, -XPOST.
      for (let at = 1; at < argument.length; at += 1) {
        const name = `-${argument[at]}`;
        if (!takesValue.has(name)) found.push({ name, value: undefined });
        else {
          const attached = argument.slice(at + 1);
          found.push({ name, value: attached === '' ? args[++index] : attached });
          break;
        }
      }
    }
  }
  return found;
}

/** Older versions of curl take the beginning of a long option for the option, if there is only one. */
function fullName(argument: string, takesValue: ReadonlySet<string>): string {
  if (takesValue.has(argument)) return argument;
  const candidates = [...takesValue, ...Object.keys(refused), '--location'].filter((name) => name.startsWith(argument));
  return new Set(candidates).size === 1 ? (candidates[0] ?? argument) : argument;
}

/** The problems of arguments for curl: what would send the token elsewhere. `mayFollow`: every path of the host is under the base URL. */
export function refusedArguments(
  args: readonly string[],
  takesValue: ReadonlySet<string>,
  mayFollow: boolean,
): string[] {
  return splitArguments(args, takesValue).flatMap(({ name }) => {
    if (name === undefined) return ['after -- come options of curl only; PATH is the one address that gets the token'];
    if (Object.hasOwn(refused, name)) return [`${name} of curl ${refused[name]}`];
    if ((name === '-L' || name === '--location') && !mayFollow) {
      return [`${name} of curl follows redirects to the whole host, but SERVICE_BASE_URL is only a part of it`];
    }
    return [];
  });
}

// A hyphen as a value (-T -, -T-), after @ or < (-d @-, -F a=<-;type=text), or the dot of -T.
const standardInput = /^(\.|-[a-zA-Z]?-?)$|[@<]-(;|$)/;

/** True if an argument makes curl read standard input. A doubtful one counts: then a shell is needed, and nothing else changes. */
export function readsStandardInput(args: readonly string[]): boolean {
  return args.some((argument) => standardInput.test(argument) && !/^-[a-zA-Z]$/.test(argument));
}
