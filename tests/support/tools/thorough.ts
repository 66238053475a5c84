/** True in `pnpm check thorough`, which CI runs: tests that take minutes run in full. In `pnpm test` they run a part that takes seconds. */
export const thorough: boolean = process.env['THOROUGH'] === '1';
