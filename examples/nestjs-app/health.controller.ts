import { Controller, Get } from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import { InjectServiceAuth, type ServiceAuth } from '@service-auth/nestjs';
import { ServiceAuthHealthIndicator } from '@service-auth/nestjs/terminus';

@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly serviceAuth: ServiceAuthHealthIndicator,
    @InjectServiceAuth('billing') private readonly billing: ServiceAuth,
  ) {}

  // May be asked as often as you like: it has no token issued.
  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.serviceAuth.isHealthy('service'),
      () => this.serviceAuth.isHealthy('billing', { client: this.billing }),
    ]);
  }
}
