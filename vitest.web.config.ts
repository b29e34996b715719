import { defineConfig } from 'vitest/config';

/** The page in a real browser against a real daemon: `npm run test:web`. Skipped, and says so, where no chromium is. */
export default defineConfig({
  test: {
    expect: { poll: { timeout: 20_000, interval: 50 } },
    include: ['**/*.web.ts'],
    exclude: [
      '**/node_modules/**',
      '**/dist/**',
      ...(process.env.SCREENSHOTS === undefined ? ['test/web/screenshots/**'] : []),
    ],
    testTimeout: 120_000,
    hookTimeout: 240_000,
    maxWorkers: 1,
    reporters: ['default'],
  },
});
