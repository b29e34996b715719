import { defineConfig } from 'vitest/config';

/** `npm run test:newcomer`: packs, installs and uses Instar as a newcomer would; writes docs/first-hour.md and its picture. */
export default defineConfig({
  test: {
    include: ['test/newcomer/**/*.check.ts'],
    testTimeout: 1_800_000,
    hookTimeout: 600_000,
    fileParallelism: false,
  },
});
