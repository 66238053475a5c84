import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { SERVICE_BASE_URL } from '$app/env/private';
import { authFetch } from '../../../lib/server/auth';
import type { RequestHandler } from './$types';

export const GET: RequestHandler = async () => {
  try {
    const response = await authFetch(`${SERVICE_BASE_URL}/api/v1/orders`);
    if (response.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
    return Response.json(await response.json(), { status: response.status });
  } catch (error) {
    // 503 with `Retry-After`, if there is no token.
    const unavailable = serviceUnavailable(error);
    if (!unavailable) throw error;
    return Response.json({ message: 'Please try again later.' }, unavailable);
  }
};
