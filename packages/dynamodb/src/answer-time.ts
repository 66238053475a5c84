import { timeOfDate } from '@service-auth/core/store';

interface Result {
  readonly response: { readonly headers?: Readonly<Record<string, string>> };
}

type Handler = (request: never) => Promise<Result>;

/** A command of the AWS SDK for JavaScript 3. */
interface AwsCommand {
  readonly middlewareStack: { add(middleware: never, options: never): unknown };
}

/**
 * Reads the time of the server from the answer to a command of the AWS SDK for JavaScript 3, whose
 * outputs have no headers. Call this before the command is sent. The result is a function that
 * returns the time of the latest answer, in epoch milliseconds, as {@link timeOfDate} does. An
 * answer with an error counts, too.
 */
export function answerTimeOf(command: AwsCommand): () => number {
  let date: string | undefined;
  const readDate = (next: Handler) => async (request: never) => {
    const result = await next(request);
    date = result.response.headers?.['date'];
    return result;
  };
  // At low priority it stands between the connection and the step that throws the errors of the
  // service.
  command.middlewareStack.add(
    readDate as never,
    { name: 'service-auth-date', step: 'deserialize', priority: 'low' } as never,
  );
  return () => timeOfDate(date);
}
