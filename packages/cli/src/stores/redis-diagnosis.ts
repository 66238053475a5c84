import type { Diagnosis } from './address.ts';
import type { Node } from './redis-connection.ts';

/** Facts about the safety of the record that only Redis knows. `nodes`: the primary servers. */
export async function examineRedis(nodes: readonly Node[], key: string, prefix: string): Promise<readonly Diagnosis[]> {
  return [await replicas(nodes), await otherPrefixes(nodes, key, prefix)];
}

async function replicas(nodes: readonly Node[]): Promise<Diagnosis> {
  let count = 0;
  for (const node of nodes) {
    const info = String(await node.sendCommand(['INFO', 'replication']));
    if (/role:slave/.test(info)) {
      return {
        state: 'failure',
        message: 'this server is a replica, which takes no writes',
        advice: 'name the primary server.',
      };
    }
    count += Number(/connected_slaves:(\d+)/.exec(info)?.[1] ?? 0);
  }
  const subject = nodes.length === 1 ? 'it has' : `it is a cluster of ${nodes.length} primary servers with`;
  const message = `${subject} ${count} ${count === 1 ? 'replica' : 'replicas'}; a failover may lose the newest writes, so half of the limit is kept back where SERVICE_AUTH_RESERVE does not say otherwise`;
  return { state: 'ok', message };
}

const maxScans = 200;

/** Two prefixes are two records, and so two budgets. */
async function otherPrefixes(nodes: readonly Node[], key: string, prefix: string): Promise<Diagnosis> {
  const found = new Set<string>();
  let isWhole = true;
  for (const node of nodes) {
    let cursor = '0';
    for (let scans = 0; scans < maxScans; scans += 1) {
      const scan = ['SCAN', cursor, 'MATCH', `*${key}`, 'COUNT', '1000'];
      const [next, names] = (await node.sendCommand(scan)) as [string, string[]];
      for (const name of names) found.add(String(name).slice(0, -key.length));
      cursor = String(next);
      if (cursor === '0') break;
    }
    isWhole &&= cursor === '0';
  }
  found.delete(prefix);
  if (found.size > 0) {
    return {
      state: 'warning',
      message: `there are records of this client under other prefixes, too: ${[...found].map((name) => JSON.stringify(name)).join(', ')}`,
      advice: 'two records are two budgets; give all programs the same prefix.',
    };
  }
  const whole = isWhole ? '' : ` among the first ${maxScans * 1_000} keys`;
  return { state: 'ok', message: `no other prefix has a record of this client${whole}` };
}
