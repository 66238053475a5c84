import { createRequire } from 'node:module';
import axios, { type AxiosStatic } from 'axios';
import oldestAxios from 'axios-oldest';

const require = createRequire(import.meta.url);

/** The copies of axios that the tests run with: the oldest and the newest version, as ESM and as CommonJS. */
export const copies: Readonly<Record<string, AxiosStatic>> = {
  'axios 1.21 as ESM': axios,
  'axios 1.21 as CommonJS': require('axios'),
  'axios 1.17 as ESM': oldestAxios as unknown as AxiosStatic,
  'axios 1.17 as CommonJS': require('axios-oldest'),
};
