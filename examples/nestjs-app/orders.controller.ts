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

  /** Reports the use of the tokens of this window. It is for operators: do not make it public. */
  @Get('usage')
  usage(): Promise<object> {
    return this.auth.getUsage();
  }
}
