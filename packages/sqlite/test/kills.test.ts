import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createTable, sqliteStore } from '../src/index.ts';

const writer = fileURLToPath(new URL('writer.ts', import.meta.url));
const processes = 4;
const limit = 120;
/** A process is killed after it said so many times that it wrote. It goes on, so its next write is under way then; after twice as many it waits for the signal. */
const killedAfter = 10;

test.each(['wal', 'delete'])(
  'processes that write to one file, of which one after another is killed, lose nothing that was acknowledged: journal_mode %s',
  async (mode) => {
    const folder = mkdtempSync(join(tmpdir(), 'service-auth-sqlite-'));
    const [file, log] = [join(folder, 'database'), join(folder, 'log')];
    const running = new Set<ChildProcess>();
    let kills = 0;
    const created = new DatabaseSync(file);
    created.exec(`pragma journal_mode = ${mode}`);
    await createTable(created);
    created.close();

    /** Runs a process, and another one in its place if it was killed. */
    async function run(): Promise<void> {
      const child = fork(writer, [file, log, `${limit}`, `${killedAfter}`], {
        execArgv: ['--conditions=@service-auth/source', '--disable-warning=ExperimentalWarning'],
      });
      running.add(child);
      let writes = 0;
      child.on('message', () => {
        writes += 1;
        if (writes === killedAfter) child.kill('SIGKILL');
      });
      const [code, signal] = await once(child, 'exit');
      running.delete(child);
      if (signal === 'SIGKILL') {
        kills += 1;
        await run();
      } else expect(code).toBe(0);
    }

    try {
      await Promise.all(Array.from({ length: processes }, run));
      const database = new DatabaseSync(file);
      const { record } = await sqliteStore(database).load('fleet');
      const kept: string[] = JSON.parse(record ?? '');
      const acknowledged = readFileSync(log, 'utf8').trim().split('\n');
      expect(kept).toEqual(expect.arrayContaining(acknowledged));
      expect(new Set(kept).size).toBe(limit);
      // A process that died between its write and its log entry leaves an entry that nobody acknowledged.
      expect(kept.length - acknowledged.length).toBeLessThanOrEqual(kills);
      // Those who were not killed wrote at most 9 entries each, and each of the others at most 20.
      expect(kills).toBeGreaterThan(3);
      expect({ ...database.prepare('pragma integrity_check').get() }).toEqual({ integrity_check: 'ok' });
      database.close();
    } finally {
      for (const child of running) child.kill('SIGKILL');
      rmSync(folder, { recursive: true });
    }
  },
  120_000,
);
