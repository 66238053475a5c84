export type { Hold, Issuance, Usage } from '@service-auth/core';
