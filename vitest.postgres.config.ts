import { defineConfig } from 'vitest/config';

/** Against a real PostgreSQL server, which the tests start themselves: seconds, and not part of `npm test`. */
export default defineConfig({
  test: {
    expect: { poll: { timeout: 20_000, interval: 20 } },
    include: ['test/**/*.pg.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
    reporters: ['default'],
  },
});
