import { HttpService } from '@nestjs/axios';
import { Controller, Get } from '@nestjs/common';
import { ServiceAuth } from '@service-auth/nestjs';
import { map, type Observable } from 'rxjs';

@Controller('orders')
export class OrdersController {
  constructor(
    private readonly http: HttpService,
    private readonly auth: ServiceAuth,
  ) {}

  @Get()
  list(): Observable<unknown> {
    return this.http.get('/api/v1/orders').pipe(map(({ data }) => data));
  }

  /** Where the tokens of this window went. For operators: keep it from the public. */
  @Get('usage')
  usage(): Promise<object> {
    return this.auth.getUsage();
  }
}
