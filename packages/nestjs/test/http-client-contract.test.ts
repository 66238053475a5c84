import { httpClientContract } from '@service-auth/testing';
import { describe, test } from 'vitest';
import { connectHttpService } from './support/connect-http-service.ts';

describe('the contract of HTTP clients, with the HttpService', () => {
  for (const { name, run } of httpClientContract(connectHttpService, { isRejected: true })) test(name, run);
});
