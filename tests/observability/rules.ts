import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const rulesFile: string = fileURLToPath(
  new URL('../../docs/observability/prometheus-rules.yaml', import.meta.url),
);

/** The rules without the time that they wait, for a fleet whose window lasts a minute. */
export const impatientRules: string = readFileSync(rulesFile, 'utf8')
  .replace(/for: \d+m/g, 'for: 0s')
  .replaceAll('[5m]', '[10s]');
