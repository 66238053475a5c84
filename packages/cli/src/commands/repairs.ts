import { configurationOptions, readerOptions, variableOptions } from '../configuration/options.ts';
import type { Command, Option } from '../line/command.ts';

const yes: Option = { text: 'Does not ask' };

/** The commands that change or move the record. */
export const repairs: readonly Command[] = [
  {
    name: 'reset',
    summary: 'Ends the token of an audience for the whole fleet: it leaked, or the API must not see it again',
    details:
      'Within 30 seconds no process uses the token any more; the next one costs a token of the limit. The reason is kept in the record. The exit code is 1 if there was nothing to reset.',
    options: {
      reason: { value: 'TEXT', text: 'Why: usage shows it to others' },
      yes,
      ...configurationOptions,
    },
    examples: [
      ['After a leak', "service-auth reset --audience https://api.example.com/ --reason 'in the log of api-7f9c'"],
      ['In a script', 'service-auth reset --audience https://api.example.com/ --yes'],
    ],
    load: () => import('./reset.ts'),
  },
  {
    name: 'retry',
    summary: 'Ends the holds after a failure whose cause is fixed, so that the next request is sent at once',
    details:
      'It sends no request itself and never goes beyond the limit. It has an effect once in 1, 2, 4 ... 60 minutes.',
    options: { yes, ...configurationOptions },
    examples: [
      ['The token endpoint works again', 'service-auth retry'],
      ['In a script', 'service-auth retry --yes'],
    ],
    load: () => import('./retry.ts'),
  },
  {
    name: 'record spent',
    summary: 'Says how many tokens a record has not seen, so that it is not treated as a new one',
    operands: ['N'],
    details:
      'A record that is new, was restored or was lost allows only a part of the limit at first, because it does not know what was issued before; usage says how much, and until when. N: at most so many tokens of this client id were issued in the last window that are not in the record, such as by programs that had another store; 0 if there were none. They count for a whole window from now on, and the rest of the limit can be issued at once. N contains what was said before, and cannot take that back. Ask the provider if you are not sure: if there were more, the limit can be exceeded by the difference. usage and explain show who said it, when and why. The exit code is 1 if the record knows more already.',
    options: {
      reason: { value: 'TEXT', text: 'How you know: usage and explain show it to others' },
      instance: variableOptions.instance,
      ...readerOptions,
    },
    examples: [
      ['The first day: no program asked for tokens before', "service-auth record spent 0 --reason 'new client id'"],
      ['After the store was lost', "service-auth record spent 40 --reason 'counted by the provider at 14:00'"],
    ],
    load: () => import('./record-spent.ts'),
  },
  {
    name: 'record export',
    summary: 'Prints the record as it is stored, to read, keep or move it',
    details: 'Tokens in it are encrypted. It needs no client secret.',
    options: {
      json: { text: 'Prints only its JSON, which record import does not take; instants are epoch milliseconds' },
      ...readerOptions,
    },
    examples: [
      ['What failed, and how often in a row?', "service-auth record export --json | jq '.lost, .states'"],
      [
        'Move it to another store, while nothing uses either of them',
        'service-auth record export --store redis://old | service-auth record import - --complete --store postgres://new/db',
      ],
    ],
    load: () => import('./record-export.ts'),
  },
  {
    name: 'record import',
    summary: 'Writes an exported record into a store that has none',
    operands: ['FILE'],
    details:
      'FILE is - for standard input. If the store has a record already that is not empty, the command changes nothing and ends with 1. What was issued after the copy was made is not in it, so at first only a part of the limit is allowed, unless --complete says that nothing was. A record does not name its client: if the client secret is set, --complete refuses one that this secret has not used.',
    options: {
      complete: { text: 'Nothing was issued since FILE was written: no program was running' },
      ...readerOptions,
    },
    examples: [
      ['Restore a copy', 'service-auth record import record.txt'],
      [
        'Into another store, while no program runs',
        'service-auth record import record.txt --complete --store postgres://db.internal/app',
      ],
    ],
    load: () => import('./record-import.ts'),
  },
  {
    name: 'record discard',
    summary: 'Replaces the record by an empty one',
    details:
      'For a record that is damaged, or of a client that is no longer used. The provider still counts the tokens of the last 24 hours. Processes that run put back what they remember within 30 seconds.',
    options: { yes, ...readerOptions },
    examples: [
      ['Keep a copy first', 'service-auth record export > record.txt && service-auth record discard'],
      ['Without a question', 'service-auth record discard --yes'],
    ],
    load: () => import('./record-discard.ts'),
  },
];
