import { defineConfig } from 'vitest/config';

/** `npm run test:traces`: a real receiver of traces (Phoenix, from PyPI), installed on demand. Minutes, and a gigabyte. */
export default defineConfig({
  test: {
    include: ['test/real-receivers/**/*.check.ts'],
    testTimeout: 900_000,
    hookTimeout: 1_800_000,
    fileParallelism: false,
  },
});
