// The Edge Runtime of Vercel evaluates this as a script: it has web globals only, and no modules.
import { type Place, type Result, runCases } from './cases.ts';

(globalThis as { runCases?: (place: Place) => Promise<Result[]> }).runCases = runCases;
