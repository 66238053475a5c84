/**
 * What the SQL stores have in common.
 *
 * @experimental It follows what our own stores need, and may change in a minor version.
 * @module
 */

export { quotedName } from './names.ts';
export type { Database, Row, Statements } from './statements.ts';
export { createStatements } from './statements.ts';
