import { text } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { type RecipeOptions, startRecipe } from '../../backends/start-recipe.ts';
import { type Shop, startShop } from '../../backends/start-shop.ts';

/** Opens a shop for one test. It revokes all tokens when the request to the API with the number `revokeAt` arrives. */
export async function openShop(revokeAt = 0): Promise<Shop> {
  const shop = await startShop(revokeAt);
  onTestFinished(() => shop[Symbol.asyncDispose]());
  return shop;
}

/** Runs a recipe to its end. It must print no secret. */
export async function runRecipe(
  name: string,
  options: Omit<RecipeOptions, 'stdio'>,
): Promise<{ readonly code: number; readonly lines: readonly string[]; readonly complaint: string }> {
  await using recipe = await startRecipe(name, { ...options, stdio: 'pipe' });
  const { stdout, stderr } = recipe.process;
  if (!stdout || !stderr) throw new Error('It has no output.');
  const [printed, complaint, code] = await Promise.all([text(stdout), text(stderr), recipe.ended]);
  expect(recipe.shop.service.findSecrets(printed + complaint)).toEqual([]);
  return { code, lines: printed.split('\n').slice(0, -1), complaint };
}
