export { quotedName } from './names.ts';
export type { Database, Row, Statements } from './statements.ts';
export { createStatements } from './statements.ts';
