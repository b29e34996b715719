import { defineConfig } from 'vitest/config';

/** The laboratory's own tests: it is not part of the product, and so not of `npm test`. */
export default defineConfig({
  test: {
    expect: { poll: { timeout: 100_000, interval: 20 } },
    include: ['test/lab/**/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    maxWorkers: '100%',
    isolate: false,
    reporters: ['default'],
  },
});
