import { isServiceAuthError } from '@service-auth/core';
import { checked, openClient, openedStore } from '../configuration/client.ts';
import { audiencesOf, type Environment, ownerOf, readEnvironment, settingsOf } from '../configuration/environment.ts';
import { openReader, readOptions } from '../configuration/reader.ts';
import { examineApi, examineEndpoint } from '../doctor/endpoint.ts';
import { examineSecret } from '../doctor/secret.ts';
import { examineNewRecord, examineSettings, examineWindows } from '../doctor/settings.ts';
import { examineStore } from '../doctor/store.ts';
import { concernsOf } from '../explain/concerns.ts';
import type { Context } from '../line/command.ts';
import { exitCodes, Failure, sentenceOf } from '../line/exit.ts';
import { printableJson } from '../line/printable.ts';
import { styleOf } from '../line/style.ts';
import { wrapped } from '../line/wrapped.ts';
import { becauseOf, whoIsRefused } from '../report/availability.ts';
import { spentOf } from '../report/sentences.ts';
import { type Colour, coloured } from '../report/text.ts';
import type { Usage } from '../report/usage.ts';
import { listed } from '../report/whose.ts';
import { type Diagnosis, failure, ok, warning } from '../stores/diagnosis.ts';

type Part = 'configuration' | 'store' | 'record' | 'token endpoint' | 'API' | 'token';
type Line = Diagnosis & { readonly part: Part };

const colours: Readonly<Record<Diagnosis['state'], Colour>> = { ok: 'green', warning: 'yellow', failure: 'red' };

/** Goes through everything that a program needs, and says what is wrong and what to do. */
export async function run(context: Context): Promise<number> {
  const { flags, stdout } = context;
  const lines: Line[] = [];
  const report = (part: Part, found: readonly Diagnosis[]) => {
    const added = found.map((diagnosis) => ({ part, ...diagnosis }));
    lines.push(...added);
    if (flags['json'] !== true) for (const line of added) stdout.write(`${formatted(line, context)}\n`);
  };

  const { env, problems } = await readEnvironment(context);
  report('configuration', await examineConfiguration(env, problems));
  // They do not depend on each other, and each has a deadline of its own.
  const [store, api] = await Promise.all([diagnosedStore(env), examineApi(env)]);
  report('store', store);
  // A limit that is wrong was told already.
  let counts = /\brequests\b/.test(env['SERVICE_AUTH_TOKEN_LIMIT'] ?? '');
  if (lines.every(({ state }) => state !== 'failure')) {
    const { found, usage } = await diagnosedRecord(context);
    report('record', found);
    counts ||= usage?.windows.some(({ counts }) => counts) === true;
  }
  report('token endpoint', await examineEndpoint(env, counts));
  report('API', api);
  if (flags['issue'] === true) report('token', await issued(context));

  if (flags['json'] === true) stdout.write(`${printableJson({ version: 1, lines })}\n`);
  return lines.some(({ state }) => state === 'failure') ? exitCodes.failure : exitCodes.success;
}

const indent = ' '.repeat(9);

/** Breaks lines in a terminal only, so that other programs get one line each. */
function formatted({ state, part, message, advice }: Line, context: Context): string {
  const style = styleOf(context);
  const columns = context.stdout.isTTY === true ? style.columns - indent.length : Number.POSITIVE_INFINITY;
  const body = [
    ...wrapped(`${part}: ${message}`, columns),
    ...(advice === undefined ? [] : wrapped(`-> ${advice}`, columns)),
  ];
  return coloured(style, colours[state], state) + ' '.repeat(indent.length - state.length) + body.join(`\n${indent}`);
}

async function examineConfiguration(env: Environment, problems: readonly string[]): Promise<readonly Diagnosis[]> {
  const wrong = [...problems];
  await checked(() => readOptions(env), wrong);
  const failures = [...new Set(wrong)].map((message) => failure(message));
  const found = [...failures, ...examineSettings(env)];
  if (found.some(({ state }) => state === 'failure')) return found;
  const audiences = audiencesOf(env);
  const named = audiences.length > 1 ? `audiences ${listed(audiences)}` : `audience ${audiences[0] ?? 'not set'}`;
  return [ok(`client ${env['SERVICE_AUTH_CLIENT_ID']}, ${named}`), ...found];
}

async function diagnosedStore(env: Environment): Promise<readonly Diagnosis[]> {
  const problems: string[] = [];
  const opened = await openedStore(env, problems, false);
  if (!opened) return problems.map((message) => failure(message));
  return examineStore(opened, ownerOf(env));
}

async function diagnosedRecord(
  context: Context,
): Promise<{ readonly found: readonly Diagnosis[]; readonly usage?: Usage }> {
  try {
    const { env, read } = await openReader(context);
    const { usage, scene, snapshot } = await read();
    const { refusedUntil } = usage;
    const now = Date.now();
    const refused =
      refusedUntil === undefined
        ? []
        : [`${whoIsRefused(usage)} until ${new Date(refusedUntil).toISOString()}: ${becauseOf(usage, now)}`];
    const concerns = [...refused, ...concernsOf(usage, scene.failures, now, settingsOf(env))];
    const message = [spentOf(usage), ...concerns].join('; ');
    const found = [
      concerns.length === 0 ? ok(message) : warning(message, 'run service-auth explain.'),
      ...examineNewRecord(usage, now),
      ...examineWindows(usage.windows),
      ...(await examineSecret(env, snapshot)),
    ];
    return { found, usage };
  } catch (error) {
    return { found: [failureOf(error)] };
  }
}

function failureOf(error: unknown): Diagnosis {
  if (isServiceAuthError(error) || error instanceof Failure) {
    return failure(sentenceOf(error).replace(/\.$/, ''));
  }
  throw error;
}

/** Spends a token, if the store has none. */
async function issued(context: Context): Promise<readonly Diagnosis[]> {
  try {
    const { auth } = await openClient(context, { anyAudience: true });
    try {
      const { id, expiresAt } = await auth.getToken({ signal: context.signal });
      return [ok(`token ${id}, valid until ${new Date(expiresAt).toISOString()}`)];
    } finally {
      // After a signal, too: its request under way ends, so that the record knows the outcome.
      await auth.close();
    }
  } catch (error) {
    return [failureOf(error)];
  }
}
