import type { Reporter, TestCase } from 'vitest/node';

/** Prints how many attacks were tried and held. A test whose title starts with `(n)` or `(Sn)` is of a known way through. */
export default class HeldReporter implements Reporter {
  readonly #tried = new Map<string, { tried: number; held: number }>();

  onTestCaseResult(test: TestCase): void {
    const { state } = test.result();
    if (state !== 'passed' && state !== 'failed') return;
    const way = /^\((S?\d+)\)/.exec(test.name)?.[1] ?? 'others';
    const count = this.#tried.get(way) ?? { tried: 0, held: 0 };
    this.#tried.set(way, { tried: count.tried + 1, held: count.held + (state === 'passed' ? 1 : 0) });
  }

  onTestRunEnd(): void {
    const ways = [...this.#tried].sort(([a], [b]) => (Number(a) || 99) - (Number(b) || 99));
    let [tried, held] = [0, 0];
    for (const [way, count] of ways) {
      process.stdout.write(`way ${way.padEnd(6)} ${count.held} of ${count.tried} held\n`);
      tried += count.tried;
      held += count.held;
    }
    process.stdout.write(`attacks tried ${tried}, held ${held}\n`);
  }
}
