import { defineConfig } from 'vitest/config';

/** Whole runs and windows of training with the real engine: minutes, and not part of `npm test`. */
export default defineConfig({
  test: {
    // The default of one second would decide verdicts on a busy machine.
    expect: { poll: { timeout: 20_000, interval: 20 } },
    include: ['test/**/*.slow.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
    reporters: ['default'],
  },
});
