import 'reflect-metadata';
import { HttpService } from '@nestjs/axios';
import { ServiceAuthHttpModule } from '@service-auth/nestjs';
import { firstValueFrom } from 'rxjs';
import { createInstance, createInstances } from './axios.ts';
import type { CreateContenders } from './target.ts';

/** Creates the services themselves, without the rest of an application. */
export const createContenders: CreateContenders = async (target) => {
  const { '@service-auth/axios': _, ...instances } = createInstances(target);
  const attached = new HttpService(createInstance(target));
  ServiceAuthHttpModule.attachTo(attached, target.auth as never);
  const services = Object.entries(instances).map(([name, instance]) => [name, new HttpService(instance)] as const);
  return [...services, ['@service-auth/nestjs', attached] as const].map(([name, service]) => ({
    name,
    run: () => firstValueFrom(service.get(target.client.apiUrl)),
  }));
};
