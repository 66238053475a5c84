// The one peer whose processes wait for each other.
import { clientFactory, LockingTokenCache } from '@scienta/axios-oauth2';
import { IoRedisStorage, LockingCache, RedisLocker } from '@scienta/locking-cache';
import axios from 'axios';
import Redlock from 'redlock';

export async function getTokenByRedlock(redis, { tokenUrl, clientId, clientSecret }) {
  const credentials = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const client = clientFactory(axios.create(), { url: tokenUrl, ...credentials });
  const locker = new RedisLocker(new Redlock([redis], { retryCount: 100, retryDelay: 50 }), 'lock');
  return new LockingTokenCache(new LockingCache(new IoRedisStorage(redis), locker)).getToken(client);
}
