// The one peer whose processes wait for each other.
import { clientFactory, LockingTokenCache } from '@scienta/axios-oauth2';
import { IoRedisStorage, LockingCache, RedisLocker } from '@scienta/locking-cache';
import axios from 'axios';
import Redlock from 'redlock';

/** The function that it asks for a token. */
export function clientOf({ tokenUrl, clientId, clientSecret }) {
  const credentials = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  return clientFactory(axios.create(), { url: tokenUrl, ...credentials });
}

/** Its cache in Redis, and the function that it asks for a token. */
export function tokenCacheIn(redis, client) {
  const locker = new RedisLocker(new Redlock([redis], { retryCount: 100, retryDelay: 50 }), 'lock');
  return { ask: clientOf(client), cache: new LockingTokenCache(new LockingCache(new IoRedisStorage(redis), locker)) };
}

export async function getTokenByRedlock(redis, client) {
  const { ask, cache } = tokenCacheIn(redis, client);
  return cache.getToken(ask);
}
