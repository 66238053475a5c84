import type { TestService, TestServiceCounts, TestServiceOptions } from '@service-auth/testing';

/** What a case can ask of the test service in the other process. */
export interface Questions {
  start(options?: Pick<TestServiceOptions, 'lifetimeMs' | 'issuanceLimit'>): RemoteOptions;
  counts(): TestServiceCounts;
  next(...answers: Parameters<TestService['tokenEndpoint']['next']>): void;
  always(answer: { status?: number; delayMs?: number; headers?: Record<string, string>; body?: string }): void;
  revoke(token: string): void;
  findSecrets(text: string): string[];
  /** The service is gone: nobody listens at its address. */
  close(): Promise<void>;
}

/** Where it is and who asks: for `createServiceAuth`, as they are. */
export type RemoteOptions = Record<'authUrl' | 'baseUrl' | 'audience' | 'clientId' | 'clientSecret', string>;

/** The test service, asked over HTTP: it runs on Node, whatever the runtime of the case. */
export type RemoteService = {
  [Name in Exclude<keyof Questions, 'start'>]: (
    ...argv: Parameters<Questions[Name]>
  ) => Promise<Awaited<ReturnType<Questions[Name]>>>;
} & { readonly options: RemoteOptions };

/** Starts a service of one's own. `control`: the address of the process that runs it. */
export async function startRemoteService(
  control: string,
  ...options: Parameters<Questions['start']>
): Promise<RemoteService> {
  const { id, result } = await ask(control, undefined, 'start', options);
  const question =
    (name: string) =>
    async (...argv: unknown[]) =>
      (await ask(control, id, name, argv)).result as never;
  return {
    options: result as RemoteOptions,
    counts: question('counts'),
    next: question('next'),
    always: question('always'),
    revoke: question('revoke'),
    findSecrets: question('findSecrets'),
    close: question('close'),
  };
}

async function ask(control: string, id: number | undefined, name: string, argv: unknown[]) {
  const response = await fetch(control, { method: 'POST', body: JSON.stringify({ id, name, argv }) });
  if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
  return (await response.json()) as { id: number; result: unknown };
}
