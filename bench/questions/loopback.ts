export { loopback as default } from './adapters.ts';
