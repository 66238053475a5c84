import { HttpService } from '@nestjs/axios';
import { Controller, Get, Module } from '@nestjs/common';
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import { map, type Observable } from 'rxjs';

@Controller('invoices')
class InvoicesController {
  constructor(private readonly http: HttpService) {}

  @Get()
  list(): Observable<unknown> {
    return this.http.get('/api/v1/invoices').pipe(map(({ data }) => data));
  }
}

@Module({
  // An HttpService of this module's own: it sends the token of the client called billing.
  imports: [ServiceAuthHttpModule.register({ name: 'billing' })],
  controllers: [InvoicesController],
})
export class InvoicesModule {}
