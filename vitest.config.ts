import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // The default of one second would decide verdicts on a busy machine.
    expect: { poll: { timeout: 20_000, interval: 20 } },
    include: ['test/**/*.test.ts'],
    // The longest attacks run with the others in `npm run test:attacks`.
    exclude: [
      ...configDefaults.exclude,
      'test/attacks/{clock,erase,doctor,identity,keyless-bodies,secrets,skill-files}.test.ts',
      'test/agent/sandbox/escape.test.ts',
    ],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Many tests wait for a process of their own: a core that is kept free would be idle.
    maxWorkers: '100%',
    // No module keeps state of its own, so test files may share them: loading them anew was a quarter of the time.
    isolate: false,
    reporters: ['default'],
  },
});
