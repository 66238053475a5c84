import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '@service-auth/test-tools/servers/debian';
import { newPlace, startServer } from '@service-auth/test-tools/servers/server';
import { run } from '@service-auth/test-tools/servers/tools';

export interface Prometheus extends AsyncDisposable {
  /** The number of series that a query returns. */
  query(expression: string): Promise<number>;
  /** The samples of each series between two instants, in seconds, by their instants. */
  range(expression: string, start: number, end: number, step: number): Promise<Readonly<Record<string, Samples>>>;
  /** The names of the alerts that fire now. */
  firing(): Promise<readonly string[]>;
}

type Samples = ReadonlyMap<number, number>;

interface QueryResult<Result> {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly Result[] };
}

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [instant: number, value: string])[];
}

interface Rules {
  readonly data: {
    readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly state: string }[] }[];
  };
}

// Fetched before the first test, whose time-out does not reckon with that.
const [prometheusProgram, promtoolProgram] = [await program('prometheus'), await program('promtool')];

/** Starts the Prometheus on PATH or that of Debian. It asks `ports` for metrics each second, as one job, and judges `rules` as often. */
export async function startPrometheus(ports: readonly number[], rules: string): Promise<Prometheus> {
  const { command, env } = prometheusProgram;
  const { folder, port } = await newPlace('prometheus');
  const targets = ports.map((each) => `127.0.0.1:${each}`);
  const configuration = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: [{ job_name: 'orders', static_configs: [{ targets }] }],
  };
  // JSON is YAML, too.
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(configuration));
  writeFileSync(join(folder, 'rules.yaml'), rules);
  const args = [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const url = `http://127.0.0.1:${port}`;
  const server = await startServer(
    { command, args, env, ready: /Server is ready to receive web requests/ },
    { url, port, folder },
  );
  const get = async <Answer>(path: string): Promise<Answer> => (await (await fetch(url + path)).json()) as Answer;
  const resultOf = async <Result>(path: string, parameters: Record<string, string>): Promise<readonly Result[]> => {
    const { status, error, data } = await get<QueryResult<Result>>(`${path}?${new URLSearchParams(parameters)}`);
    if (status !== 'success') throw new Error(`${parameters['query']}: ${error}`);
    return data.result;
  };
  return {
    query: async (expression) => (await resultOf('/api/v1/query', { query: expression })).length,
    async range(expression, start, end, step) {
      const parameters = { query: expression, start: `${start}`, end: `${end}`, step: `${step}` };
      const found = await resultOf<Series>('/api/v1/query_range', parameters);
      return Object.fromEntries(
        found.map(({ metric, values }) => [nameOf(metric), new Map(values.map(([at, text]) => [at, numberIn(text)]))]),
      );
    },
    async firing() {
      const { data } = await get<Rules>('/api/v1/rules');
      const all = data.groups.flatMap(({ rules }) => rules);
      return all.filter(({ state }) => state === 'firing').map(({ name }) => name);
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

function nameOf({ __name__: name, ...labels }: Series['metric']): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return `${name}{${pairs.join(', ')}}`;
}

function numberIn(text: string): number {
  return text === '+Inf' ? Number.POSITIVE_INFINITY : Number(text);
}

/** Runs promtool to its end. It rejects with what the tool printed. */
export async function promtool(...args: string[]): Promise<string> {
  const { command, env } = promtoolProgram;
  return run(command, args, { env: { ...process.env, ...env } });
}

function program(name: 'prometheus' | 'promtool') {
  const otherwise = 'no Prometheus: install it';
  return findProgram('prometheus', { names: [name], packages: ['prometheus'], path: `usr/bin/${name}`, otherwise });
}
