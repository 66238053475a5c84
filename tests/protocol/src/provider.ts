import type { Figure } from './judge/sights.ts';
import { hour, second } from './judge/units.ts';
import type { Run } from './parts.ts';
import type { QuotaSettings } from './settings.ts';

/** The headers of an answer by which the provider speaks. They are missing half of the time. */
export type Provider = () => Readonly<Record<string, string>>;

const windows = { per_hour: hour, per_day: 24 * hour } as const;

/** What nobody can understand: contradictions, windows twice, folded lines, other numbers and other units. */
const nonsense = [
  'b=per_day;q=150;r=0;t=-1',
  'b=per_day;q=150;r=0;t=1e9',
  'b=per_day;q=150;r=0;t=1000000000',
  'q=150;r=0;t=60',
  'b=per_day;q=150;r=151;t=60',
  'b=per_day;q=150;r=0;t=60,b=per_day;q=150;r=9;t=60',
  'b=per_day;q=150;\r\n',
  '"daily";r=0;t=60',
  '',
];

/** Creates the provider of a run. The judge is told what it says, if anybody can understand it. */
export function createProvider({ world, service, judge, ...run }: Run, quota: QuotaSettings): Provider {
  const { isTrue, foreignEveryMs } = quota;
  const random = run.random.fork('provider');
  const untilMs = run.settings.faultsForMs;
  const foreign: number[] = [];
  for (let at = 0; at < untilMs; at += -Math.log(1 - random.next()) * foreignEveryMs) foreign.push(at);

  /** What was counted in a window, as the provider knew it a while ago. */
  function figureOf(name: keyof typeof windows, lagMs: number): Figure & { readonly endsInSeconds: number } {
    const windowMs = windows[name];
    const beganAt = Math.floor(world.now / windowMs) * windowMs;
    const isCounted = (at: number) => at > beganAt && at <= world.now - lagMs;
    const own = service.issued.filter(({ issuedAt }) => isCounted(issuedAt)).length;
    const tokens = name === 'per_day' ? 150 : 60;
    const remaining = Math.max(0, tokens - own - foreign.filter(isCounted).length);
    const leftMs = beganAt + windowMs - world.now;
    const endsInSeconds = random.chance(0.5) ? Math.floor(leftMs / second) : Math.ceil(leftMs / second);
    return { windowMs, tokens, remaining, foreign: tokens - remaining - own, beganAt, endsInSeconds };
  }

  function lie(name: keyof typeof windows): Figure & { readonly endsInSeconds: number } {
    const windowMs = windows[name];
    const tokens = random.pick([0, 10, 150, 999_999_999]);
    const remaining = random.chance(0.5) ? 0 : random.integer(0, tokens);
    const endsInSeconds = random.chance(0.5) ? windowMs / second : random.integer(0, windowMs / second);
    return { windowMs, tokens, remaining, foreign: tokens - remaining, beganAt: world.now, endsInSeconds };
  }

  function text(names: readonly (keyof typeof windows)[], figures: readonly ReturnType<typeof lie>[]): string {
    return figures
      .map(({ tokens, remaining, endsInSeconds }, at) => `b=${names[at]};q=${tokens};r=${remaining};t=${endsInSeconds}`)
      .join(random.pick([',', ', ']));
  }

  return () => {
    if (random.chance(0.5)) return {};
    // The organization has other clients.
    const organization = `b=per_day;q=9000;r=${random.integer(0, 5_000)};t=60`;
    if (!isTrue && random.chance(0.4)) return { 'auth0-client-quota-limit': random.pick(nonsense) };
    const names = random.pick([['per_day'], ['per_hour', 'per_day']] as const);
    const lagMs = random.chance(0.5) ? 0 : random.between(0, 30) * second;
    const figures = names.map((name) => (isTrue ? figureOf(name, lagMs) : lie(name)));
    judge.quotaSaid(figures);
    return { 'auth0-client-quota-limit': text(names, figures), 'auth0-organization-quota-limit': organization };
  };
}
