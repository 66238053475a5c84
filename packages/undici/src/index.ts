export type { ServiceAuthInterceptorOptions } from './service-auth-interceptor.ts';
export { serviceAuthInterceptor } from './service-auth-interceptor.ts';
