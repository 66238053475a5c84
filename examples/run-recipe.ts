// Runs a recipe against a service on loopback, and says how many tokens it cost:
//
//   npx --yes pnpm@12 example examples/run-recipe.ts ky
//
// It visits the page /orders of a recipe that is a server.
import { isServer, startRecipe, urlOf } from './backends/start-recipe.ts';

const [name = ''] = process.argv.slice(2);
const recipe = await startRecipe(name, { stdio: isServer(name) ? 'pipe' : 'inherit' });
try {
  process.exitCode = isServer(name) ? await visit(`${await urlOf(recipe)}/orders`) : await recipe.ended;
  const { issued, apiRequests, apiUnauthorized } = recipe.shop.service.counts;
  console.log(
    `Tokens issued: ${issued}. Requests to the API: ${apiRequests}, of which ${apiUnauthorized} were answered 401.`,
  );
} finally {
  // Node 22 has no `await using`.
  await recipe[Symbol.asyncDispose]();
}

async function visit(url: string): Promise<number> {
  const response = await fetch(url);
  console.log(`GET /orders was answered ${response.status}: ${await response.text()}`);
  return response.ok ? 0 : 1;
}
