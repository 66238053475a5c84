// Prints the picture of the default day at 14:00, which the page shows until its own day runs: a slow machine needs seconds to start that.
// So the first picture needs no script. Checks hold its bytes and requests, because times depend on what else a machine does.
import { createDay } from './day.ts';
import { defaultSettings } from './settings.ts';

const day = createDay(defaultSettings);
await day.runUntil(14 * 3_600_000);
const picture = await day.picture();
day.end();
process.stdout.write(JSON.stringify(picture));
