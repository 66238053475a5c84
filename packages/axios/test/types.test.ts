import type { ServiceAuth } from '@service-auth/core';
import axios, { type AxiosRequestConfig } from 'axios';
import type * as oldest from 'axios-oldest';
import { expectTypeOf, test } from 'vitest';
import type { attachServiceAuth } from '../src/index.ts';

type CommonJsInstance = import('axios', { with: { 'resolution-mode': 'require' }}).AxiosInstance;

test('instances of both flavours of the declarations, and of old ones, can be attached to', () => {
  type Instance = Parameters<typeof attachServiceAuth>[0];
  expectTypeOf(axios).toExtend<Instance>();
  expectTypeOf<CommonJsInstance>().toExtend<Instance>();
  expectTypeOf<oldest.AxiosInstance>().toExtend<Instance>();
  expectTypeOf<ServiceAuth>().toExtend<Parameters<typeof attachServiceAuth>[1]>();
  expectTypeOf<ReturnType<ServiceAuth['for']>>().toExtend<Parameters<typeof attachServiceAuth>[1]>();
});

test('requests and instances know serviceAuth', () => {
  expectTypeOf<AxiosRequestConfig>().toHaveProperty('serviceAuth').toEqualTypeOf<boolean | undefined>();
  expectTypeOf(axios.get).toBeCallableWith('/', { serviceAuth: false });
  expectTypeOf(axios.create).toBeCallableWith({ serviceAuth: false });
});
