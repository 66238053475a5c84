import type { Mutant } from './mutant.ts';

/** Mutants of what a transport shows that sends again, or throws answers. */
export const transportMutants: readonly Mutant[] = [
  {
    name: 'a repeated request costs nothing',
    about: 'a request that was sent and lost is forgotten when the transport repeats it and cannot connect',
    file: 'endpoint/connection-evidence.ts',
    find: 'else if (!answers.has(request)) watch.hidden ||= 1;',
    replace: '',
    modes: ['repeated'],
  },
  {
    name: 'a thrown 5xx costs nothing',
    about: 'a 5xx that a transport throws as an error counts as a connection that was never made',
    file: 'endpoint/connection-evidence.ts',
    find: 'if (status >= 500 || status === 408 || status === 425) watch.hidden ||= 1;',
    replace: '',
    also: {
      file: 'endpoint/token-endpoint.ts',
      find: "if (answer) return interpret(answer, '', clock);",
      replace:
        "if (answer) return answer.status < 500 ? interpret(answer, '', clock) : { kind: 'released', cause: 'unreachable', error: '' };",
    },
    modes: ['resent'],
  },
];
