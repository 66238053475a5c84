/** Returns whether this is Cloudflare Workers, or another runtime on workerd. */
export function inWorker(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: unknown } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}
