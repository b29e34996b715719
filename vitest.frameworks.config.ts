import { defineConfig } from 'vitest/config';

/** `npm run test:frameworks`: the examples with the real libraries, installed on demand. Minutes, and some hundred megabytes. */
export default defineConfig({
  test: {
    include: ['test/frameworks/**/*.check.ts'],
    testTimeout: 600_000,
    hookTimeout: 1_800_000,
    fileParallelism: false,
  },
});
