import type { Settings } from './settings.ts';

/** A limit that a provider publishes. */
export interface Preset {
  readonly name: string;
  /** The limit in words. */
  readonly limit: string;
  /** The page of the provider that states it. */
  readonly source: string;
  readonly settings: Pick<Settings, 'limit' | 'window' | 'hourly' | 'requests' | 'life'>;
}

/** Each of them is in the table of docs/servers.md. */
export const presets: readonly Preset[] = [
  {
    name: 'SoundCloud',
    limit: '50 tokens in 12 hours, and 30 an hour',
    source: 'https://developers.soundcloud.com/docs/api/rate-limits.html',
    settings: { limit: 50, window: 720, hourly: 30, requests: 0, life: 1 },
  },
  {
    name: 'Zoho',
    limit: '10 requests in 10 minutes',
    source: 'https://www.zoho.com/accounts/protocol/oauth/token-limits.html',
    settings: { limit: 10, window: 10, hourly: 0, requests: 1, life: 1 },
  },
  {
    name: 'eBay',
    limit: '1,000 requests a day',
    source: 'https://developer.ebay.com/api-docs/static/oauth-rate-limits.html',
    settings: { limit: 1_000, window: 1_440, hourly: 0, requests: 1, life: 2 },
  },
  {
    name: 'Auth0',
    limit: '10 tokens an hour, and 50 a day, as Switch sets its quota',
    source: 'https://developer.switchmarket.se/switch-api/authentication/token-quotas',
    settings: { limit: 50, window: 1_440, hourly: 10, requests: 0, life: 24 },
  },
];

/** The preset whose limit a day has. */
export function presetOf(settings: Settings): Preset | undefined {
  const names = ['limit', 'window', 'hourly', 'requests', 'life'] as const;
  return presets.find((preset) => names.every((name) => preset.settings[name] === settings[name]));
}
