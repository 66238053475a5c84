// Draws the pictures of the guide: `pnpm site:drawings`.
import { writeFileSync } from 'node:fs';
import { drawings } from './drawings.ts';

for (const [file, svg] of drawings()) writeFileSync(new URL(file, import.meta.url), svg);
