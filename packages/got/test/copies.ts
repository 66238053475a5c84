import newest, { type Got } from 'got';
import fifteen from 'got-15';
import oldest from 'got-oldest';

/** The oldest version, the newest of the one in between, and the newest; with the declarations of the newest. */
export const copies: Record<string, Got> = {
  'got 14.5': oldest as never,
  'got 15': fifteen as never,
  'got 16': newest,
};
