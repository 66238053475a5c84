import { defineEventHandler } from 'h3';
import { authFetch } from '../utils/auth.ts';

export default defineEventHandler(async () => {
  const response = await authFetch(`${process.env.SERVICE_BASE_URL}/api/v1/orders`);
  return response.json();
});
