import { type ScriptedTokenAnswer, startTestService, type TestService } from '@service-auth/testing';
import { type Context, textOf } from '../line/command.ts';
import { durationMs } from '../line/duration.ts';
import { exitCodes, Failure, UsageError } from '../line/exit.ts';

/** Runs the service on loopback until a signal ends it. */
export async function run({ flags, stdout, stderr, signal }: Context): Promise<number> {
  const problems: string[] = [];
  const tokenAnswers = answersOf(textOf(flags, 'token-answers'), '--token-answers', problems);
  const apiAnswers = answersOf(textOf(flags, 'api-answers'), '--api-answers', problems);
  const tokens = integerOf(textOf(flags, 'limit'), '--limit', 1_000_000, problems);
  const port = integerOf(textOf(flags, 'port'), '--port', 65_535, problems);
  const lifetimeMs = lifetimeOf(textOf(flags, 'token-lifetime'), problems);
  if (problems.length > 0) throw new UsageError(problems);

  const service = await startTestService({ port, lifetimeMs, issuanceLimit: { tokens } }).catch((error: unknown) => {
    const { code } = Object(error) as { code?: unknown };
    throw new Failure(`port ${port} cannot be used (${code}); choose another one, or none`);
  });
  service.tokenEndpoint.always(script(tokenAnswers));
  service.api.always(script(apiAnswers));
  const exports = Object.entries(service.env).map(([name, value]) => `export ${name}=${value}`);
  stdout.write(`${exports.join('\n')}\n`);
  await logRequests(service, stderr, signal);
  await service.close();
  return exitCodes.success;
}

async function logRequests(service: TestService, stderr: NodeJS.WritableStream, signal: AbortSignal): Promise<void> {
  const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  let tokenRequests = 0;
  let apiRequests = 0;
  while (!signal.aborted) {
    // A request is written when it was handled, so that its outcome is known.
    const isNew = () =>
      service.tokenRequests.slice(tokenRequests).some(({ outcome }) => outcome !== 'pending') ||
      service.apiRequests.length > apiRequests;
    await Promise.race([service.until(isNew), ended]);
    for (const { method, path, outcome, problems } of service.tokenRequests.slice(tokenRequests)) {
      const why = problems.length > 0 ? `: ${problems.join('; ')}` : '';
      stderr.write(`${method} ${path} ${outcome}${why} (${service.counts.issued} issued)\n`);
    }
    for (const { method, path, bearer } of service.apiRequests.slice(apiRequests)) {
      stderr.write(`${method} ${path} bearer ${bearer}\n`);
    }
    tokenRequests = service.tokenRequests.length;
    apiRequests = service.apiRequests.length;
  }
}

/** Chooses the answers in order. The last one stands if it is marked with *. */
function script(answers: readonly string[]): () => ScriptedTokenAnswer | undefined {
  let next = 0;
  return () => {
    const isStanding = next >= answers.length - 1 && answers.at(-1)?.endsWith('*') === true;
    const answer = isStanding ? answers.at(-1)?.slice(0, -1) : answers[next];
    next += 1;
    if (answer === undefined || answer === '200') return undefined;
    return answer === 'cut' ? { cut: 'answer' } : { status: Number(answer) };
  };
}

function answersOf(list: string | undefined, option: string, problems: string[]): string[] {
  const answers = list === undefined ? [] : list.split(',');
  const isAnswer = (answer: string) => /^([2-5]\d\d|cut)$/.test(answer);
  const wrong = answers.some(
    (answer, index) => !isAnswer(index === answers.length - 1 ? answer.replace(/\*$/, '') : answer),
  );
  if (wrong) problems.push(`${option} must be statuses or cut, as in 503,cut,401*; only the last one may end in *`);
  return answers;
}

function integerOf(text: string | undefined, option: string, max: number, problems: string[]): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,7}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > max) problems.push(`${option} must be a number from 1 to ${max}`);
  return number;
}

function lifetimeOf(text: string | undefined, problems: string[]): number | undefined {
  if (text === undefined) return undefined;
  const lifetimeMs = durationMs(text) ?? 0;
  if (lifetimeMs < 1_000 || lifetimeMs % 1_000 > 0)
    problems.push('--token-lifetime must be whole seconds, such as 90s, 10m or 24h');
  return lifetimeMs;
}
