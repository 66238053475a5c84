export { serviceAuthInterceptor } from './service-auth-interceptor.ts';
