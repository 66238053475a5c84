import { apiServers } from './api-servers.ts';
import { identityServers } from './identity-servers.ts';
import type { ServerShape } from './server-shape.ts';

/** Each is a part of docs/servers.md, and a test. */
export const serverShapes: readonly ServerShape[] = [...identityServers, ...apiServers];
