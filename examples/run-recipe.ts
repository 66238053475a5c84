// Runs a recipe against a service on loopback, and says how many tokens it cost:
//
//   npx --yes pnpm@12 example examples/run-recipe.ts ky
import { startRecipe } from './backends/start-recipe.ts';

const [name = ''] = process.argv.slice(2);
await using recipe = await startRecipe(name, { stdio: 'inherit' });
process.exitCode = await recipe.ended;
const { issued, apiRequests, apiUnauthorized } = recipe.shop.service.counts;
console.log(
  `Tokens issued: ${issued}. Requests to the API: ${apiRequests}, of which ${apiUnauthorized} were answered 401.`,
);
