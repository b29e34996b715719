import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // The default of one second would decide verdicts on a busy machine.
    expect: { poll: { timeout: 100_000, interval: 20 } },
    include: ['test/**/*.test.ts'],
    // What callers may do to each other is tested here; all other attacks by `npm run test:attacks`, the laboratory by
    // `test:lab`. The embedded engine is a finished part that other tests use whole: its own laws are tried by `test:slow`.
    exclude: [
      ...configDefaults.exclude,
      'test/attacks/!(between-keys|keys|route-matrix).test.ts',
      'test/agent/sandbox/escape.test.ts',
      'test/lab/**',
      'test/train/nano/**',
    ],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    // Many tests wait for a process of their own: a core that is kept free would be idle.
    maxWorkers: '100%',
    // No module keeps state of its own, so test files may share them: loading them anew was a quarter of the time.
    isolate: false,
    // What was transformed is read from node_modules the next time, by the hash of its source: a tenth of a run.
    experimental: { fsModuleCache: true },
    reporters: ['default', './test/result-reporter.ts'],
  },
});
