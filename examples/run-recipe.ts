// Runs a recipe against a service on loopback, and says how many tokens it cost:
//
//   npx --yes pnpm@12 example examples/run-recipe.ts ky
//
// It visits the page /orders of a recipe that is a server.
import { isServer, startRecipe, urlOf } from './backends/start-recipe.ts';

const [name = ''] = process.argv.slice(2);
await using recipe = await startRecipe(name, { stdio: isServer(name) ? 'pipe' : 'inherit' });
if (isServer(name)) {
  const response = await fetch(`${await urlOf(recipe)}/orders`);
  console.log(`GET /orders was answered ${response.status}: ${await response.text()}`);
  process.exitCode = response.ok ? 0 : 1;
} else process.exitCode = await recipe.ended;
const { issued, apiRequests, apiUnauthorized } = recipe.shop.service.counts;
console.log(
  `Tokens issued: ${issued}. Requests to the API: ${apiRequests}, of which ${apiUnauthorized} were answered 401.`,
);
