// The mutator of orval with `client: 'axios'` or `'axios-functions'`: every generated function calls it.
import { attachServiceAuth } from '@service-auth/axios';
import { createServiceAuthFromEnv } from '@service-auth/core';
import axios, { type AxiosRequestConfig } from 'axios';

const api = axios.create({ baseURL: process.env['SERVICE_BASE_URL'] ?? '' });
attachServiceAuth(api, createServiceAuthFromEnv(process.env));

export async function send<Answer>(config: AxiosRequestConfig, options?: AxiosRequestConfig): Promise<Answer> {
  const { data } = await api.request<Answer>({ ...config, ...options });
  return data;
}
