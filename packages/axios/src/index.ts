export type { AttachableAxios, AttachServiceAuthOptions } from './attach-service-auth.ts';
export { attachServiceAuth } from './attach-service-auth.ts';
