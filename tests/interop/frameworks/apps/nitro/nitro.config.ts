import { defineNitroConfig } from 'nitropack/config';

export default defineNitroConfig({ compatibilityDate: '2026-11-22' });
