// A setup file of Vitest.
import { attachServiceAuth } from '@service-auth/axios';
import axios, { type AxiosInstance } from 'axios';
import { auth } from './auth.ts';

function attach<Instance extends AxiosInstance>(instance: Instance): Instance {
  const create = instance.create.bind(instance);
  attachServiceAuth(instance, auth);
  instance.create = (...defaults) => attach(create(...defaults));
  return instance;
}

attach(axios);
