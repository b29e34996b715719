import { defineConfig } from 'vitest/config';

/** Every attack that is known to us, with the count of those that were held. All but the longest are also part of `npm test`. */
export default defineConfig({
  test: {
    expect: { poll: { timeout: 100_000, interval: 20 } },
    include: ['test/attacks/**/*.test.ts', 'test/agent/sandbox/escape.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    maxWorkers: '100%',
    isolate: false,
    reporters: ['default', './test/attacks/held-reporter.ts'],
  },
});
