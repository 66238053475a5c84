export interface Issuance {
  readonly id: string;
  readonly at: number;
  readonly reason: 'cold' | 'refresh' | 'expired' | 'rejected' | 'reset';
  readonly instance: string;
  readonly audience: string;
  readonly pending: boolean;
}
export interface WindowUsage {
  readonly tokens: number;
  readonly windowMs: number;
  readonly usable: number;
  readonly used: number;
  readonly pending: number;
  readonly remaining: number;
  readonly nextFreeAt: number | undefined;
  readonly own: boolean;
}
export interface Hold {
  readonly kind: 'credentials' | 'rate_limited' | 'backoff' | 'deaths' | 'rejections' | 'renewal' | 'unreadable';
  readonly until: number;
  readonly audience?: string | undefined;
  readonly status?: number | undefined;
}
export interface TokenInUse {
  readonly id: string;
  readonly audience: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}
export interface ResetInfo {
  readonly at: number;
  readonly audience: string;
  readonly tokenId: string | undefined;
  readonly instance: string;
  readonly reason: string | undefined;
}
export interface Usage {
  readonly limit: number;
  readonly usable: number;
  readonly used: number;
  readonly issued: number;
  readonly underWay: number;
  readonly unknown: number;
  readonly pending: number;
  readonly remaining: number;
  readonly availableNow: number;
  readonly available: Readonly<Record<'cold' | 'refresh' | 'rejected' | 'reset', number>>;
  readonly refusedUntil: number | undefined;
  readonly refusedBecause: 'limit' | 'backoff' | 'rate_limited' | 'credentials' | undefined;
  readonly nextFreeAt: number | undefined;
  readonly spentAt: number | undefined;
  readonly windowMs: number;
  readonly windows: readonly WindowUsage[];
  readonly holds: readonly Hold[];
  readonly tokens: readonly TokenInUse[];
  readonly issuances: readonly Issuance[];
  readonly resets: readonly ResetInfo[];
}
