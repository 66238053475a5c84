export type { ServiceAuthGotExtension, ServiceAuthGotOptions } from './service-auth.ts';
export { serviceAuth } from './service-auth.ts';
