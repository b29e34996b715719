import { defineConfig } from 'vitest/config';

/** `npm run test:docs`: runs the blocks of code on the pages with real homes and daemons. Minutes, and not part of `npm test`. */
export default defineConfig({
  test: {
    expect: { poll: { timeout: 20_000, interval: 200 } },
    include: ['test/docs/**/*.check.ts'],
    testTimeout: 300_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
    reporters: ['default'],
  },
});
