export type { AttachableAxios } from './attach-service-auth.ts';
export { attachServiceAuth } from './attach-service-auth.ts';
export type { SanitizedError } from './sanitize-error.ts';
export { sanitizeError } from './sanitize-error.ts';
