import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

const files = readdirSync('test', { recursive: true, encoding: 'utf8' }).map((file) =>
  path.posix.join('test', file),
);
/** Tests that try less in `npm test`: those with `support/counts.ts`, and properties. */
const counted = files.filter(
  (file) => file.endsWith('.test.ts') && /\/counts\.ts'|'fast-check'/.test(readFileSync(file, 'utf8')),
);

/** Whole runs, windows of training with the real engine, the engine itself, and full counts: many minutes, and not part of `npm test`. */
export default defineConfig({
  test: {
    // The default of one second would decide verdicts on a busy machine.
    expect: { poll: { timeout: 100_000, interval: 20 } },
    include: ['test/**/*.slow.ts', 'test/train/nano/**/*.test.ts', ...counted],
    env: { FULL_COUNTS: '1' },
    testTimeout: 600_000,
    hookTimeout: 240_000,
    maxWorkers: 1,
    reporters: ['default'],
  },
});
