export { getServiceAuthToken, InjectServiceAuth, ServiceAuth } from './service-auth.ts';
export { ServiceAuthExceptionFilter } from './service-auth-exception-filter.ts';
export type {
  ServiceAuthFactoryOptions,
  ServiceAuthModuleAsyncOptions,
  ServiceAuthModuleOptions,
  ServiceAuthOptionsFactory,
  ServiceAuthStaticOptions,
  ServiceAuthTestingModuleOptions,
} from './service-auth-module.ts';
export { ServiceAuthModule } from './service-auth-module.ts';
export type { TestingServiceAuthOptions } from './testing-service-auth.ts';
export { createTestingServiceAuth } from './testing-service-auth.ts';
