// Prints the picture of the default day at 14:00, which the page shows until a reader plays a day.
// So the first picture needs no script. Checks hold its bytes and requests, because times depend on what else a machine does.
import { afternoon } from './afternoon.ts';

process.stdout.write(JSON.stringify(await afternoon()));
