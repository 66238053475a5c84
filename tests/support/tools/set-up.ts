// Vitest evaluates this file for each test file, but what it imports once in each process.
import './end-with-parent.ts';
import './end-with-this-process.ts';
