/** What a reader can let happen at a moment of the day. */
export const incidentKinds = ['deploy', 'crash', 'storm', 'slow', 'failover'] as const;

/**
 * `deploy`: every process is replaced by a new one. `crash`: one process dies. `storm`: the API answers 401 to everything for 20 minutes.
 * `slow`: a token request takes 20 seconds, for half an hour. `failover`: the store is gone for 45 seconds, and loses its last 10 seconds.
 */
export type IncidentKind = (typeof incidentKinds)[number];

/** Something that happens at a second of the day. */
export interface Incident {
  readonly kind: IncidentKind;
  readonly atSecond: number;
}

/** Everything that a day depends on. The same settings give the same day. */
export interface Settings {
  readonly seed: number;
  /** The processes of each of the two fleets. */
  readonly processes: number;
  /** Deploys between 8:00 and 18:00. */
  readonly deploys: number;
  /** Crashes of one process, at any time. */
  readonly crashes: number;
  /** The tokens that the provider issues in a window. */
  readonly limit: number;
  /** The minutes of this window. */
  readonly window: number;
  /** The tokens that it issues in an hour. 0: there is no such window. */
  readonly hourly: number;
  /** 1: the limit is one of token requests, so that refused ones count, too. */
  readonly requests: number;
  /** The hours that a token lives. */
  readonly life: number;
  readonly incidents: readonly Incident[];
}

/** The least and the most of each number. */
export const ranges = {
  seed: [1, 9_999],
  processes: [1, 40],
  deploys: [0, 12],
  crashes: [0, 24],
  limit: [10, 1_000],
  window: [10, 1_440],
  hourly: [0, 50],
  requests: [0, 1],
  life: [1, 24],
} as const;

type Range = keyof typeof ranges;

const numbers = Object.keys(ranges) as Range[];
/** The most incidents of a day that an address holds. */
export const maxIncidents = 50;
const daySeconds = 86_400;

export const defaultSettings: Settings = {
  seed: 7,
  processes: 12,
  deploys: 4,
  crashes: 6,
  limit: 150,
  window: 1_440,
  hourly: 0,
  requests: 0,
  life: 24,
  incidents: [{ kind: 'storm', atSecond: 11 * 3_600 }],
};

/** Writes settings as the part of an address after `#`. */
export function toFragment(settings: Settings): string {
  const parameters = new URLSearchParams(numbers.map((name): [string, string] => [name, `${settings[name]}`]));
  parameters.set('incidents', settings.incidents.map(({ kind, atSecond }) => `${kind}.${atSecond}`).join('_'));
  return parameters.toString();
}

/** Reads settings. What is missing or out of range is the default. */
export function fromFragment(fragment: string): Settings {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  const read = (name: Range): number => {
    const text = parameters.get(name) ?? '';
    const [least, most] = ranges[name];
    const value = Number(text);
    return /^\d+$/.test(text) && value >= least && value <= most ? value : defaultSettings[name];
  };
  const incidents = parameters.has('incidents')
    ? readIncidents(parameters.get('incidents') ?? '')
    : defaultSettings.incidents;
  return { ...(Object.fromEntries(numbers.map((name) => [name, read(name)])) as Record<Range, number>), incidents };
}

/** Reads the moment at which a day is to be shown, in milliseconds since midnight. */
export function momentIn(fragment: string): number | undefined {
  const text = new URLSearchParams(fragment.replace(/^#/, '')).get('at') ?? '';
  return /^\d{1,5}$/.test(text) ? Math.min(daySeconds, Number(text)) * 1_000 : undefined;
}

/** False: the fragment leads to a heading of the page. */
export function describesDay(fragment: string): boolean {
  const parameters = new URLSearchParams(fragment.replace(/^#/, ''));
  return parameters.size === 0 || [...numbers, 'incidents', 'at'].some((name) => parameters.has(name));
}

function readIncidents(text: string): Incident[] {
  const found = text.split('_').flatMap((part): Incident[] => {
    const [, name = '', second = ''] = /^([a-z]+)\.(\d{1,5})$/.exec(part) ?? [];
    const kind = incidentKinds.find((known) => known === name);
    return kind && Number(second) < daySeconds ? [{ kind, atSecond: Number(second) }] : [];
  });
  return found.slice(0, maxIncidents).sort((a, b) => a.atSecond - b.atSecond);
}
