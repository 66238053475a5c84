import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';

const source = `
  import { freePort } from ${JSON.stringify(new URL('../servers/server.ts', import.meta.url))};
  console.log(JSON.stringify(await Promise.all(Array.from({ length: 400 }, freePort))));
  process.stdin.on('end', () => process.exit()).resume();`;

test('processes that choose at the same time never choose the same port', async () => {
  const processes = Array.from({ length: 2 }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', source], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  const outputs = processes.map(
    ({ stdout }) => new Promise<string>((resolve) => stdout.once('data', (line) => resolve(`${line}`))),
  );
  const ports = (await Promise.all(outputs)).flatMap((output) => JSON.parse(output) as number[]);
  for (const { stdin } of processes) stdin.end();
  expect(ports).toHaveLength(800);
  expect(new Set(ports).size).toBe(800);
});
