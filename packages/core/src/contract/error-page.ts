/**
 * The page about the errors, with an anchor for each code: `#err_store`. The build puts the page of
 * its own version here (`tsdown.config.ts`).
 */
export const errorPage: string = 'https://github.com/service-auth/service-auth/blob/main/docs/errors.md';
