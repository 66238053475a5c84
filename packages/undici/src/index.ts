export type { ServiceAuthInterceptorOptions } from './options.ts';
export { serviceAuthInterceptor } from './service-auth-interceptor.ts';
