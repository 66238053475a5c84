export type { ServiceAuthGotExtension } from './service-auth.ts';
export { serviceAuth } from './service-auth.ts';
