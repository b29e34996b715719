import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createEvidenceReader } from '../../src/evidence/evidence-reader.ts';
import { startLearning } from '../../src/learn/learning.ts';
import { createLearningState } from '../../src/learn/learning-state.ts';
import type { LearningStatus } from '../../src/learn/learning-status.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

async function open() {
  const records = toRecords(createMemoryStore(), () => 0);
  const statuses: LearningStatus[] = [];
  let looks = 0;
  const learning = await startLearning({
    records,
    evidence: createEvidenceReader({ ...records, decoder: () => async () => undefined }),
    effects: { add: () => undefined },
    clock: systemClock,
    log: quiet,
    failures: 3,
    verify: async () => [],
    state: createLearningState(),
    prices: () => ({ from: 'unknown', isLocal: false }),
    since: 0,
    budget: { spent: () => ({ usd: 0, tokens: 0, unpriced: 0, calls: 0, ms: 0 }) },
    libraryChanged: async () => undefined,
    learn: async () => {
      looks++;
    },
    study: async () => undefined,
    settled: async () => undefined,
    onStatus: (status) => statuses.push(status),
  });
  await learning.settle();
  return { learning, looks: () => looks, statuses };
}

describe('looks at the record', () => {
  it('come together for turns in a hurry, at once for what somebody waits for, and leave nothing pending', async () => {
    const { learning, looks, statuses } = await open();
    const before = looks();
    const begun = systemClock.monotonic();
    /** One look a second is the pace, however long the machine takes for these lines. */
    const seconds = () => Math.floor((systemClock.monotonic() - begun) / 1000);
    for (let turn = 0; turn < 10; turn++) {
      learning.wake(1);
      await sleep(10);
    }
    // The last look was a moment ago: the turns wait.
    expect(looks() - before).toBeLessThanOrEqual(1 + seconds());
    const atOnce = looks();
    learning.wake();
    while (looks() === atOnce) await sleep(5);
    while (statuses.at(-1)?.pending !== 0) await sleep(20);
    expect(looks() - before).toBeLessThanOrEqual(4 + seconds());
    await learning.close();
  });
});
