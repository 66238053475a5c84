export { defaultDirectory } from './directory.ts';
export { fileStore } from './file-store.ts';
