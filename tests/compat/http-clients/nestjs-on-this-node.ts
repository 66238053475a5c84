// The contract with the HttpService of whatever Nest is installed: `pnpm check packed` runs it against the packed packages.
import { httpClientContract } from '@service-auth/testing';
import { connectHttpService } from '../../../packages/nestjs/test/support/connect-http-service.ts';
import { reportOf } from './report.ts';

console.log(JSON.stringify(await reportOf(httpClientContract(connectHttpService, { isRejected: true }))));
