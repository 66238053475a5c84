// The worker of d1.test.ts: runs the cases of the contract with its binding of D1, as an application would use it.
import { storeContract } from '@service-auth/testing';
import type { D1Binding } from '../src/database.ts';
import { createTable, sqliteStore } from '../src/index.ts';

interface Environment {
  readonly DB: D1Binding;
}

/** Answers the names of all cases, or runs the one that the request names and answers its problem. */
export default {
  async fetch(request: Request, { DB }: Environment): Promise<Response> {
    await createTable(DB);
    const another = async () => sqliteStore(DB);
    const cases = storeContract(async () => ({ store: await another(), another, close: async () => {} }));
    const asked = new URL(request.url).searchParams.get('case');
    if (asked === null) return Response.json(cases.map(({ name }) => name));
    const found = cases.find(({ name }) => name === asked);
    const problem = await found?.run().then(
      () => null,
      (error: Error) => String(error.stack ?? error),
    );
    return Response.json({ problem });
  },
};
