import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import { systemClock } from '../../src/core/clock.ts';
import { startTinkerServer, type TinkerServer } from '../../train/nano/server/start-tinker-server.ts';
import { openFileJournal, openRunRegistry } from '../../train/run-files.ts';
import { connectTinker } from '../../train/tinker/connect-tinker.ts';
import type { TinkerEngine } from '../../train/tinker/tinker-engine.ts';
import { train } from '../../train/trainer.ts';
import type { TrainerEvent } from '../../train/training-run.ts';
import { echoTasks, rollOutEcho } from './echo-tasks.ts';
import { createBigramEngine } from './nano/server/bigram-engine.ts';

const STEPS = 3;
const GROUPS = 2;

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'instar-other-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** A machine with a server of its own on a port of its own, and a client of it. */
async function startMachine(folder: string): Promise<{
  readonly server: TinkerServer;
  readonly engine: TinkerEngine;
  /** As after a power cut: nothing is unloaded or said good-bye to. */
  readonly stop: () => Promise<void>;
}> {
  const server = await startTinkerServer({ engine: createBigramEngine(), folder, port: 0, key: 'tml-test' });
  const engine = await connectTinker({
    url: server.url,
    key: 'tml-test',
    baseModel: 'bigram-16',
    profile: 'nano',
    selfTest: false,
    fetch,
    clock: systemClock,
    random: createRandom(folder),
    pace: { backoffMs: 5, longestMs: 20, submitForMs: 100 },
  });
  let isUp = true;
  const stop = async (): Promise<void> => {
    if (!isUp) return;
    isUp = false;
    await engine.close();
    await server.close();
  };
  onTestFinished(stop);
  return { server, engine, stop };
}

/** Trains until the run ends, or until `count` groups of batch `batch` are collected. */
async function trainOn(
  engine: TinkerEngine,
  runs: string,
  name: string,
  until?: { readonly batch: string; readonly count: number },
): Promise<readonly TrainerEvent[]> {
  const journal = openFileJournal(path.join(runs, `${name}.jsonl`));
  const leaving = new AbortController();
  const news: TrainerEvent[] = [];
  try {
    for await (const each of train({
      engine,
      run: name,
      tasks: echoTasks,
      rollouts: rollOutEcho(engine, () => 0),
      steps: STEPS,
      batch: { groups: GROUPS, size: 16 },
      generation: async () => 0,
      journal,
      signal: leaving.signal,
      rank: 2,
      seed: 1,
      settings: { length: { tokens: 2 }, kl: { warn: 1, refuse: 1, drift: 1 } },
    })) {
      news.push(each);
      const here = news.filter(
        (one) => one.type === 'group-collected' && until !== undefined && one.batch === until.batch,
      );
      if (until !== undefined && here.length === until.count) leaving.abort();
    }
  } finally {
    journal.close();
  }
  return news;
}

/** What the trained weights say about fixed tokens. */
async function scoresOf(engine: TinkerEngine, news: readonly TrainerEvent[]): Promise<readonly number[]> {
  const last = news.at(-1);
  if (last?.type !== 'done') throw new Error(`the run ended with ${JSON.stringify(last)}`);
  const model = await engine.openModel(last.checkpoint.state);
  const data = [{ tokens: [1, 2, 3, 4, 5], targets: [2, 3, 4, 5, 0], weights: [1, 1, 1, 1, 1] }];
  const { logprobs } = await model.forward({ data, loss: 'cross_entropy' }, new AbortController().signal);
  return logprobs[0] ?? [];
}

const endsIn = async (runs: string, name: string): Promise<number> =>
  (await readFile(path.join(runs, `${name}.jsonl`), 'utf8')).split('"step-ended"').length - 1;

describe('a run whose machine is gone', () => {
  it('ends at the same weights on another server that has its checkpoints, and repeats no group', async () => {
    const whole = await startMachine(await newFolder());
    const wanted = await scoresOf(whole.engine, await trainOn(whole.engine, await newFolder(), 'run-1'));

    const [first, runs] = [await newFolder(), await newFolder()];
    const old = await startMachine(first);
    const begun = await trainOn(old.engine, runs, 'run-1', { batch: 'run-1/1', count: 1 });
    expect(begun.at(-1)).toEqual({ type: 'paused', batch: 'run-1/1' });
    await old.stop();

    const [second, copied] = [path.join(await newFolder(), 'engine'), path.join(await newFolder(), 'runs')];
    await cp(first, second, { recursive: true });
    await cp(runs, copied, { recursive: true });
    await rm(path.join(runs, 'run-1.jsonl'));
    const fresh = await startMachine(second);
    expect(fresh.server.url).not.toBe(old.server.url);
    const rest = await trainOn(fresh.engine, copied, 'run-1');
    const collected = [...begun, ...rest].flatMap((one) =>
      one.type === 'group-collected' ? [`${one.batch}/${one.slot}`] : [],
    );
    expect(collected).toHaveLength(GROUPS * STEPS);
    expect(new Set(collected).size).toBe(GROUPS * STEPS);
    expect(await scoresOf(fresh.engine, rest)).toEqual(wanted);
  });

  it('says what is lost on a server without its checkpoints, counts nothing, and begins anew', async () => {
    const runs = await newFolder();
    const registry = openRunRegistry(path.join(runs, 'runs.json'));
    const { name } = registry.next(0, []);
    const old = await startMachine(await newFolder());
    await trainOn(old.engine, runs, name, { batch: `${name}/2`, count: 1 });
    await old.stop();
    expect(await endsIn(runs, name)).toBe(2);

    const fresh = await startMachine(await newFolder());
    const news = await trainOn(fresh.engine, runs, name);
    expect(news).toEqual([
      expect.objectContaining({
        type: 'stuck',
        isRetryable: false,
        why: expect.stringMatching(
          /does not open version 2 of this run, tinker:\/\/.*copy the old one's checkpoints to it.*begins a new run, and the 2 batches of this one are lost/,
        ),
      }),
    ]);
    expect(await endsIn(runs, name)).toBe(2);

    registry.stop(false, false);
    const anew = openRunRegistry(path.join(runs, 'runs.json')).next(0, []);
    expect(anew).toMatchObject({ name: 'run-2', from: undefined });
    const again = await trainOn(fresh.engine, runs, anew.name);
    expect(again.at(-1)).toMatchObject({ type: 'done', checkpoint: { version: STEPS } });
    expect(again.filter(({ type }) => type === 'step-trained')).toHaveLength(STEPS);
  });
});
