import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { minute } from '../../support/tools/units.ts';
import { dashboard } from '../dashboard.ts';
import { startFleet } from '../fleet.ts';
import { promtool, startPrometheus } from '../prometheus.ts';
import { impatientRules, rulesFile } from '../rules.ts';

const folder = new URL('../../../docs/observability/', import.meta.url);

test('the dashboard is the one that its program writes', () => {
  const written = readFileSync(new URL('grafana-dashboard.json', folder), 'utf8');
  expect(JSON.parse(written), 'Run: node tests/observability/dashboard.ts').toEqual(dashboard);
});

test('promtool accepts the rules', async () => {
  expect(await promtool('check', 'rules', rulesFile)).toContain('SUCCESS: 6 rules found');
});

test('promtool accepts the configuration of the page, with the rules', async () => {
  const printed = await promtool('check', 'config', new URL('prometheus.yml', folder).pathname);
  expect(printed).toMatch(/1 rule files? found[\s\S]*6 rules found/);
});

test('each alert fires in its trouble and ends after it, in a fleet of six processes', {
  timeout: 20 * minute,
}, async () => {
  await using fleet = await startFleet();
  await using prometheus = await startPrometheus(fleet.ports, impatientRules);
  const poll = { timeout: 4 * minute, interval: 500 };
  for (const { alerts, begin, keepUp, end } of fleet.troubles) {
    await begin();
    const firing = async () => {
      await keepUp?.();
      return prometheus.firing();
    };
    for (const alert of alerts) await expect.poll(firing, poll).toContain(alert);
    await end();
    for (const alert of alerts) await expect.poll(() => prometheus.firing(), poll).not.toContain(alert);
  }
  const queries = Array.from(JSON.stringify(dashboard).matchAll(/"expr":("(?:[^"\\]|\\.)*")/g), ([, text = '']) =>
    (JSON.parse(text) as string).replaceAll('$job', 'orders').replaceAll('$__rate_interval', '20m'),
  );
  const empty: string[] = [];
  for (const query of queries) if ((await prometheus.query(query)) === 0) empty.push(query);
  expect([queries.length, empty]).toEqual([15, []]);
  expect(fleet.refused()).toBe(0);
  expect(await prometheus.firing()).toEqual([]);
});
