import 'reflect-metadata';
import { HttpService } from '@nestjs/axios';
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import type { AxiosStatic } from 'axios';
import { firstValueFrom } from 'rxjs';
import { createInstance, createInstances } from './axios.ts';
import type { CreateContenders } from './target.ts';

/** Creates the services themselves, without the rest of an application. */
export const createContenders: CreateContenders = async (target) => {
  // The axios of Nest itself. CommonJS and ES modules each have a copy, and the HTTP adapter of each takes its own time.
  const copy = new HttpService().axiosRef as AxiosStatic;
  const { '@service-auth/axios': _, ...instances } = createInstances({ ...target, copy });
  const attached = new HttpService(createInstance({ ...target, copy }));
  ServiceAuthHttpModule.attachTo(attached, target.auth as never);
  const services = Object.entries(instances).map(([name, instance]) => [name, new HttpService(instance)] as const);
  return [...services, ['@service-auth/nestjs', attached] as const].map(([name, service]) => ({
    name,
    run: () => firstValueFrom(service.get(target.client.apiUrl)),
  }));
};
