// Meets one failure in a worker.
import { measure, type Task } from './outcomes.ts';

export default {
  async fetch(request: Request): Promise<Response> {
    const warm = async (url: string) => (await fetch(url)).text();
    return Response.json(await measure((await request.json()) as Task, warm));
  },
};
