import { defineConfig } from 'vitest/config';

/** Whole runs and windows of training with the real engine: minutes, and not part of `npm test`. */
export default defineConfig({
  test: {
    include: ['test/**/*.slow.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
    reporters: ['default'],
  },
});
