import { defineConfig } from 'vitest/config';

/** `npm run test:clients`: the real programs, installed on demand. Minutes, and some hundred megabytes. */
export default defineConfig({
  test: {
    include: ['test/real-clients/**/*.check.ts'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    fileParallelism: false,
  },
});
