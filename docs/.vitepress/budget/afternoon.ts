import { createDay } from './day.ts';
import type { Picture } from './picture.ts';
import { defaultSettings } from './settings.ts';

/** The default day at 14:00. */
export async function afternoon(): Promise<Picture> {
  const day = createDay(defaultSettings);
  try {
    await day.runUntil(14 * 3_600_000);
    return await day.picture();
  } finally {
    day.end();
  }
}
