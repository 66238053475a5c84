export type { Hold, Issuance, Usage } from '@service-auth/core';
export type { RepeatedFailure as Failure } from '@service-auth/core/record';
