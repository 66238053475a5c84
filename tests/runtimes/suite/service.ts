import type { TestService, TestServiceCounts, TestServiceOptions } from '@service-auth/testing';

/** The operations of the test service in the other process. */
export interface Questions {
  start(
    options?: Pick<TestServiceOptions, 'lifetimeMs' | 'issuanceLimit'>,
  ): Promise<{ readonly id: number; readonly options: RemoteOptions }>;
  counts(): TestServiceCounts;
  next(...answers: Parameters<TestService['tokenEndpoint']['next']>): void;
  always(answer: { status?: number; delayMs?: number; headers?: Record<string, string>; body?: string }): void;
  revoke(token: string): void;
  findSecrets(text: string): string[];
  /** The service is gone: its address has no listener. */
  close(): Promise<void>;
}

/** The addresses and the credentials. Pass them to `createServiceAuth` as they are. */
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
  ...argv: Parameters<Questions['start']>
): Promise<RemoteService> {
  const started = (await ask(control, 0, 'start', argv)) as Awaited<ReturnType<Questions['start']>>;
  const question =
    (name: string) =>
    async (...argv: unknown[]) =>
      (await ask(control, started.id, name, argv)) as never;
  return {
    options: started.options,
    counts: question('counts'),
    next: question('next'),
    always: question('always'),
    revoke: question('revoke'),
    findSecrets: question('findSecrets'),
    close: question('close'),
  };
}

/** Asks what is in the process of the control, under that id. */
export async function ask(control: string, id: number, name: string, argv: readonly unknown[]): Promise<unknown> {
  const response = await fetch(control, { method: 'POST', body: JSON.stringify({ id, name, argv }) });
  if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
  return ((await response.json()) as { result?: unknown }).result;
}
