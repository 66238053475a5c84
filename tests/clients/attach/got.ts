// In place of the suite's own entry.
import { serviceAuth } from '@service-auth/got';
import got, { type Got } from 'got';
import { auth } from './auth.ts';

// biome-ignore lint/performance/noReExportAll: it stands for all of got
export * from 'got';

const extended: Got = got.extend(serviceAuth(auth));
export default extended;
