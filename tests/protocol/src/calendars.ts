import type { Calendar } from './judge/scene.ts';
import { day } from './judge/units.ts';
import type { Random } from './random.ts';

/** Nights in which the clocks of a zone are changed: back, forward, by an hour or by half an hour. The last zone has none. */
const changes = [
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['America/New_York', '2026-11-01T06:00:00Z'],
  ['America/New_York', '2026-11-01T06:00:00Z'],
  ['America/St_Johns', '2026-11-01T04:30:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Asia/Kolkata', '2026-06-01T00:00:00Z'],
] as const;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const numeric = 'numeric' as const;
  const created = new Intl.DateTimeFormat('en-CA-u-hc-h23', {
    ...{ timeZone: zone, year: numeric, month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
    ...{ second: '2-digit', timeZoneName: 'longOffset' },
  });
  formats.set(zone, created);
  return created;
}

/** Creates the calendars of a run: each changes its clock somewhere in the first `spanMs`. */
export function createCalendars(random: Random, spanMs: number): Calendar[] {
  return changes.map(([zone, change], index) => {
    const epoch = Date.parse(change) - random.between(0, spanMs);
    return { name: `${zone} ${index}`, labelOf: (now, windowMs) => labelOf(epoch + now, windowMs, zone) };
  });
}

/**
 * The day, the week or the month, as people say it. Parts of a day begin at midnight and are of equal length; an hour that a clock change repeats is
 * another hour, because it has another offset.
 */
function labelOf(at: number, windowMs: number, zone: string): string {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  const get = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? '';
  const [year, month, date] = [get('year'), get('month'), get('day')];
  if (windowMs >= 31 * day) return `${year}-${month}`;
  const dayNumber = Date.UTC(Number(year), Number(month) - 1, Number(date)) / day;
  if (windowMs >= day) return `${Math.floor(dayNumber / Math.floor(windowMs / day))}`;
  const inDayMs = ((Number(get('hour')) * 60 + Number(get('minute'))) * 60 + Number(get('second'))) * 1_000;
  return `${dayNumber} ${Math.floor(inDayMs / windowMs)} ${get('timeZoneName')}`;
}
