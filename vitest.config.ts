import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Many tests wait for a process of their own: a core that is kept free would be idle.
    maxWorkers: '100%',
    reporters: ['default'],
  },
});
