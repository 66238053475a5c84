// The rules with the time that they wait, for what Prometheus recorded of a real fleet. A step of the recording stands for a minute.
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '@service-auth/test-tools/end-with-this-process';
import { expect, test } from 'vitest';
import { promtool } from '../prometheus.ts';
import { type Phase, type Recording, recordingFile } from '../recording.ts';
import { rulesFile } from '../rules.ts';

interface Expected {
  readonly waitsMinutes: number;
  readonly severity: 'warning' | 'critical';
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly section: string;
}

const runbook = 'https://github.com/service-auth/service-auth/blob/main/docs/runbook.md';

/** The alerts as they look at the end of their troubles. */
const expectedAlerts: Readonly<Record<string, Expected>> = {
  ServiceAuthTwoRecords: {
    waitsMinutes: 10,
    severity: 'critical',
    summary: 'The processes of orders count in 2 records, so each of them spends the limit.',
    section: 'two-records',
  },
  ServiceAuthCallersRefused: {
    waitsMinutes: 1,
    severity: 'critical',
    summary: 'Callers of orders without a token get none for 25.9s.',
    section: 'callers-are-refused',
  },
  ServiceAuthRenewalFails: {
    waitsMinutes: 10,
    severity: 'warning',
    labels: { hold: 'backoff' },
    summary: 'Token requests of orders fail (backoff).',
    section: 'outage',
  },
  ServiceAuthTokensRejected: {
    waitsMinutes: 5,
    severity: 'warning',
    summary: 'The API answers 401 to token after token of orders.',
    section: '401-storm',
  },
  ServiceAuthBudgetLow: {
    waitsMinutes: 5,
    severity: 'warning',
    labels: { window: '1m' },
    summary: 'Less than a quarter of the tokens of 1m is left for orders.',
    section: 'the-budget-is-spent',
  },
  ServiceAuthBudgetSpentSoon: {
    waitsMinutes: 15,
    severity: 'warning',
    summary: 'At the present pace orders has no tokens left in 0s.',
    section: 'the-budget-is-spent',
  },
};

const { phases, series } = JSON.parse(readFileSync(recordingFile, 'utf8')) as Recording;
const cases = phases.flatMap((phase) => phase.alerts.map((alert) => [alert, phase] as const));

test('the recording has a trouble for each alert', () => {
  expect(cases.map(([alert]) => alert).toSorted()).toEqual(Object.keys(expectedAlerts).toSorted());
});

test.for(cases)('%s fires after its trouble has lasted long enough, and ends with it', async ([alert, phase]) => {
  const tests = testsOf(alert, phase, expectedAlerts[alert] as Expected);
  expect(await promtool('test', 'rules', fileOf(tests))).toContain('SUCCESS');
});

test.for([
  ['backoff', 'outage'],
  ['credentials', 'credentials-rejected'],
  ['deaths', 'deaths'],
  ['rate_limited', 'other-programs'],
] as const)('for a hold of the kind %s, the alert leads to the section %s', async ([hold, section]) => {
  const name = 'ServiceAuthRenewalFails';
  const labels = { job: 'orders', severity: 'warning', hold };
  const annotations = { summary: `Token requests of orders fail (${hold}).`, runbook_url: `${runbook}#${section}` };
  const tests = {
    input_series: [{ series: `service_auth_hold_remaining{job="orders",hold="${hold}"}`, values: '300x20' }],
    alert_rule_test: [
      { alertname: name, eval_time: '15m', exp_alerts: [{ exp_labels: labels, exp_annotations: annotations }] },
    ],
  };
  expect(await promtool('test', 'rules', fileOf(tests))).toContain('SUCCESS');
});

test('an expectation that is wrong fails', async () => {
  const [[alert = '', phase] = []] = cases;
  const wrong = { ...(expectedAlerts[alert] as Expected), section: 'another' };
  await expect(promtool('test', 'rules', fileOf(testsOf(alert, phase as Phase, wrong)))).rejects.toThrow('#another');
});

function testsOf(alert: string, { from, to, over }: Phase, expected: Expected) {
  const { waitsMinutes, severity, labels, summary, section } = expected;
  const expr = `max(ALERTS{alertname="${alert}", alertstate="firing"})`;
  const quiet = (minute: number) => ({ expr, eval_time: `${minute}m`, exp_samples: [] });
  return {
    promql_expr_test: [
      ...(from > 0 ? [quiet(from - 1)] : []),
      quiet(from + waitsMinutes - 1),
      { expr, eval_time: `${to}m`, exp_samples: [{ labels: '{}', value: 1 }] },
      quiet(over),
    ],
    alert_rule_test: [
      {
        alertname: alert,
        eval_time: `${to}m`,
        exp_alerts: [
          {
            exp_labels: { job: 'orders', severity, ...labels },
            exp_annotations: {
              summary,
              runbook_url: `${runbook}#${section}`,
            },
          },
        ],
      },
    ],
  };
}

/** Writes a file of unit tests. JSON is YAML, too. */
function fileOf(tests: object): string {
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-rules-'));
  const input = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const file = join(folder, 'test.json');
  const tested = { interval: '1m', input_series: input, ...tests };
  writeFileSync(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests: [tested] }));
  return file;
}
