export type { AuthFetchOptions, FetchLike } from './auth-fetch.ts';
export { createAuthFetch } from './auth-fetch.ts';
