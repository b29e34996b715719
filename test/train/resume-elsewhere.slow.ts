import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { asNumber, asObject, parseJson } from '../../src/core/json.ts';
import type { TrainingTask } from '../../src/core/task-source.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { DEFAULT_PROMOTION } from '../../train/promotion.ts';
import { openPromotionLog } from '../../train/promotion-log.ts';
import type { RunCheckpoint } from '../../train/run-journal.ts';
import { createTrainJob } from '../../train/training-job.ts';
import { runTrainingWindow, type TrainingEvent } from '../../train/training-window.ts';
import { digitTemplate } from './practice-groups.ts';
import { createServer, createTabularEngine } from './tabular-engine.ts';

const STEPS = 4;

/** What follows the digit is right when it is the digit after it. */
const taskAt = (at: number): TrainingTask => ({
  id: `task/${at}`,
  recall: { task: `#${at % 6}` },
  open: async () => ({
    run: async ({ speak, session }, stop) => {
      const content = [{ type: 'text' as const, text: `#${at % 6}` }];
      const asked = { model: 'policy', system: [], tools: [], stream: false };
      const request = { ...asked, messages: [{ role: 'user' as const, content }] };
      const { text } = await speak(request, { session, agent: 'a', runKind: 'train' }, stop);
      return { ok: true, reward: text.includes(String((at + 2) % 6)) ? 1 : 0 };
    },
    close: async () => undefined,
  }),
});
const TASKS = Array.from({ length: 12 }, (_, at) => taskAt(at));

/** Processes with a folder each, one record, and one engine on a server. */
async function openProcesses() {
  const records = toRecords(createMemoryStore(), systemClock.now);
  const server = createServer({ vocabulary: 6 });
  const opened: (string | undefined)[] = [];
  const start = () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'instar-elsewhere-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const trained: RunCheckpoint[] = [];
    async function* run(
      { resume }: { readonly resume?: RunCheckpoint },
      signal: AbortSignal,
    ): AsyncGenerator<TrainingEvent> {
      const engine = createTabularEngine(server);
      const promotions = await openPromotionLog({
        ...{ engine: 'table', records, clock: systemClock },
        settings: { ...DEFAULT_PROMOTION, power: 0 },
      });
      for await (const news of runTrainingWindow(
        {
          engine: {
            ...engine,
            openModel: (state) => {
              opened.push(state);
              return engine.openModel(state);
            },
          },
          template: digitTemplate(2),
          promotions,
          folder,
          ...(resume === undefined ? {} : { resume }),
          tasks: { train: async () => TASKS, heldOut: async () => TASKS },
          show: async () => ({ text: '', generation: 1 }),
          generation: async () => 1,
          rank: 1,
          batch: { groups: 4, size: 32 },
          settings: { length: { tokens: 2 } },
          mostPairs: 1,
          seed: 1,
        },
        STEPS,
        signal,
      )) {
        if (news.type === 'step-trained') trained.push(news.checkpoint);
        yield news;
      }
    }
    const job = createTrainJob({
      run,
      hasTasks: true,
      isUsed: () => true,
      generation: () => 1,
      history: async () => ({ run: undefined, lastDone: undefined }),
      clock: systemClock,
      settings: { steps: STEPS },
    });
    /** Until its end, or until it is killed with this many checkpoints in the record. */
    const work = async (from: string | undefined, kills = Number.POSITIVE_INFINITY) => {
      const states: string[] = [];
      const end = await job
        .run({
          ...{ run: 'r', from, signal: new AbortController().signal },
          checkpoint: async (state) => {
            states.push(state);
            if (states.length >= kills) throw new Error('killed');
          },
          reserve: async () => ({ isGranted: true, settle: async () => undefined }),
          spend: () => undefined,
        })
        .catch((error: unknown) => String(error));
      return { end, states };
    };
    return { work, trained };
  };
  return { start, opened };
}

describe('a training window whose process was killed', () => {
  it('is taken up by another one from its last checkpoint, with the same engine and another folder', async () => {
    const { start, opened } = await openProcesses();
    const [first, second] = [start(), start()];
    const { end, states } = await first.work(undefined, 2);
    expect(end).toBe('Error: killed');
    const last = asObject(parseJson(states.at(-1) ?? ''));
    expect(last).toMatchObject({ ...first.trained.at(-1) });
    const went = await second.work(states.at(-1));
    expect(went.end).toMatchObject({ end: 'done' });
    expect(opened).toContain(last.state);
    const versions = second.trained.map(({ version }) => version);
    expect(Math.min(...versions)).toBe((asNumber(last.version) ?? 0) + 1);
  });

  it('goes on in its own run when the same process takes it up, and begins anew without a checkpoint', async () => {
    const { start } = await openProcesses();
    const first = start();
    const { states } = await first.work(undefined, 1);
    const before = first.trained.length;
    await first.work(states.at(-1));
    const versions = first.trained.map(({ version }) => version);
    expect(new Set(versions).size).toBe(versions.length);
    expect(first.trained.length).toBeGreaterThan(before);
    const other = (await openProcesses()).start();
    await other.work('a state of another version');
    expect(other.trained[0]?.version).toBe(first.trained[0]?.version);
  });
});
