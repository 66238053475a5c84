import * as newest from 'undici';
import * as seven from 'undici-7';
import * as oldest from 'undici-oldest';

/** The oldest version, the newest of the one in between, and the newest; with the declarations of the newest. */
export const copies: Record<string, typeof newest> = {
  'undici 6.18': oldest as never,
  'undici 7': seven as never,
  'undici 8': newest,
};
