// Writes docs/observability/grafana-dashboard.json, in the types that Grafana publishes:
//
//   node tests/observability/dashboard.ts
import { writeFileSync } from 'node:fs';
import type { Dashboard, Panel } from '@grafana/schema';

interface Query {
  readonly expr: string;
  readonly legend: string;
}

interface View {
  readonly title: string;
  readonly description: string;
  readonly unit: 'short' | 's';
  readonly query: Query;
  readonly stacked?: boolean;
  readonly stat?: boolean;
}

const datasource = { type: 'prometheus', uid: '$datasource' };
const job = 'job=~"$job"';
/** A query whose series are named after the labels that they are summed up by. */
const query = (labels: string, expr: string): Query => ({
  expr,
  legend: labels.replace(/\w+/g, '{{$&}}').replaceAll(',', ''),
});
const max = (metric: string, by: string, more = '') =>
  query(by, `max by (${by}) (service_auth_${metric}{${job}${more}})`);
const min = (metric: string) => query('job', `min by (job) (service_auth_${metric}{${job}})`);
const increase = (metric: string, by: string) =>
  query(by, `sum by (${by}) (increase(service_auth_${metric}{${job}}[$__rate_interval]))`);
const slowest = (metric: string, by: string) =>
  query(
    by,
    `histogram_quantile(0.95, sum by (le, ${by}) (rate(service_auth_${metric}_bucket{${job}}[$__rate_interval])))`,
  );

const views: readonly View[] = [
  {
    title: 'Tokens left',
    description: 'What the fleet may still spend in the window.',
    unit: 'short',
    stat: true,
    query: max('budget_usage', 'window', ',state="left"'),
  },
  {
    title: 'Callers without a token wait for',
    description: '0: they are served. A process that has a token goes on in any case.',
    unit: 's',
    stat: true,
    query: max('budget_refused_for', 'job'),
  },
  {
    title: 'Life of the tokens in use',
    description: 'The shortest of all processes.',
    unit: 's',
    stat: true,
    query: min('token_expires_in'),
  },
  {
    title: 'Records',
    description: 'More than one: processes of one client id count in different records, and each spends the limit.',
    unit: 'short',
    stat: true,
    query: query('job', `count by (job) (count by (job, record) (service_auth_record_info{${job}} == 1))`),
  },
  {
    title: 'Budget',
    description: 'The tokens of a window. Kept back: in case the store loses its newest writes.',
    unit: 'short',
    stacked: true,
    query: max('budget_usage', 'window, state'),
  },
  {
    title: 'Can be had now',
    description: 'How many callers get a token now, by the reason for which they ask.',
    unit: 'short',
    query: max('budget_available', 'reason'),
  },
  {
    title: 'Budget is spent in',
    description: 'At the present pace. 31 days: it lasts.',
    unit: 's',
    query: min('budget_spent_in'),
  },
  {
    title: 'Tokens issued, by reason',
    description: 'Cold: a process without a token. Refresh: ahead of expiry. Rejected: after a 401 of the API.',
    unit: 'short',
    stacked: true,
    query: increase('token_issued_total', 'reason'),
  },
  {
    title: 'Holds',
    description: 'How long the fleet still waits before it sends a token request, and why.',
    unit: 's',
    query: max('hold_remaining', 'hold'),
  },
  {
    title: 'Token requests, by outcome',
    description: 'Unknown: a token may have been issued, so one is counted.',
    unit: 'short',
    query: increase('token_request_duration_count', 'outcome, error_type'),
  },
  {
    title: 'Token requests, 95th percentile',
    description: 'Of token requests of each outcome.',
    unit: 's',
    query: slowest('token_request_duration', 'outcome'),
  },
  {
    title: '401s of the API',
    description: 'Kept: it is too early for another renewal.',
    unit: 'short',
    query: increase('token_rejected_total', 'outcome'),
  },
  {
    title: 'Calls of getToken() that got no token',
    description: 'By the code of the error.',
    unit: 'short',
    query: increase('token_unavailable_total', 'error_type'),
  },
  {
    title: 'Store, 95th percentile',
    description: 'Of reads (load) and writes (swap). Conflict: another process had changed the record.',
    unit: 's',
    query: slowest('store_operation_duration', 'operation, outcome'),
  },
  {
    title: 'Clock of the store is ahead by',
    description: 'Of the clock of each machine.',
    unit: 's',
    query: query('instance', `service_auth_store_clock_offset{${job}}`),
  },
];

const stats = views.filter(({ stat }) => stat).length;

function panelOf({ title, description, unit, query: { expr, legend }, stacked, stat }: View, index: number): Panel {
  const after = index - stats;
  const gridPos = stat
    ? { x: index * (24 / stats), y: 0, w: 24 / stats, h: 4 }
    : { x: (after % 2) * 12, y: 4 + Math.floor(after / 2) * 8, w: 12, h: 8 };
  return {
    id: index + 1,
    type: stat ? 'stat' : 'timeseries',
    title,
    description,
    datasource,
    gridPos,
    targets: [{ refId: 'A', datasource, expr, legendFormat: legend }],
    fieldConfig: {
      defaults: { unit, min: 0, custom: stacked ? { stacking: { mode: 'normal' }, fillOpacity: 40 } : {} },
      overrides: [],
    },
    options: {},
  };
}

/** The dashboard. */
export const dashboard: Dashboard = {
  uid: 'service-auth',
  title: 'Service Auth',
  description: 'The budget of access tokens that a fleet shares, and what happens to it.',
  tags: ['service-auth'],
  schemaVersion: 41,
  editable: true,
  refresh: '30s',
  time: { from: 'now-24h', to: 'now' },
  templating: {
    list: [
      { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' },
      {
        name: 'job',
        label: 'Job',
        type: 'query',
        datasource,
        query: 'label_values(service_auth_budget_limit, job)',
        includeAll: true,
        multi: true,
      },
    ],
  },
  panels: views.map(panelOf),
};

if (import.meta.main) {
  const file = new URL('../../docs/observability/grafana-dashboard.json', import.meta.url);
  writeFileSync(file, `${JSON.stringify(dashboard, null, 2)}\n`);
}
