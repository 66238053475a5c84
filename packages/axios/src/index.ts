export type { AttachableAxios } from './attach-service-auth.ts';
export { attachServiceAuth } from './attach-service-auth.ts';
