import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createRandom } from '../../src/base/random.ts';
import { TrainingError } from '../../src/core/training.ts';
import { openFileJournal } from '../../train/run-files.ts';
import type { RunEntry } from '../../train/run-journal.ts';
import { readEngineRecord } from '../../train/start-engine.ts';
import type { TrainingEvent } from '../../train/training-window.ts';
import {
  openTrainingEnvironment,
  removeFolder,
  runWindow,
  type TrainingEnvironment,
  teach,
} from './training-environment.ts';

const STEPS = 3;
/** How often the engine is killed, four times in each run: one that dies at once again is started ever later. */
const KILLS = 4;
const RUNS = Math.ceil(Number(process.env.INSTAR_KILLS ?? KILLS) / KILLS);
const beds: TrainingEnvironment[] = [];
const open = async (): Promise<TrainingEnvironment> => {
  const environment = await openTrainingEnvironment();
  beds.push(environment);
  await teach(environment);
  return environment;
};
const closeAll = async (): Promise<void> => {
  for (const environment of beds.splice(0)) {
    await environment.close();
    removeFolder(environment.dir);
  }
};
afterEach(closeAll);
afterAll(closeAll);

async function entriesOf({ dir }: TrainingEnvironment): Promise<readonly RunEntry[]> {
  const journal = openFileJournal(path.join(dir, 'train', 'nano', 'run-1.jsonl'));
  const { entries } = await journal.read();
  journal.close();
  return entries;
}

interface Outcome {
  /** Of every step, in order: what it was trained on, and what the weights and the optimiser then were, to the bit. */
  readonly steps: readonly {
    readonly batch: string;
    readonly rollouts: readonly string[];
    readonly sums: readonly string[];
  }[];
}

/** What a run has come to, from what is on the disk. */
async function outcomeOf(environment: TrainingEnvironment): Promise<Outcome> {
  const folder = path.join(environment.dir, 'engine', 'checkpoints');
  const cards = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(({ name }) => name.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(path.join(file.parentPath, file.name), 'utf8')));
  const sumOf = (place: string): string => {
    const [, run, kind, name] = /^tinker:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(place) ?? [];
    return cards.find((card) => card.run === run && card.kind === kind && card.name === name)?.sha;
  };
  const steps = (await entriesOf(environment)).flatMap((entry) => {
    if (entry.type !== 'step-ended') return [];
    const { batch, rollouts, checkpoint } = entry;
    return [
      { batch, rollouts, sums: checkpoint ? [sumOf(checkpoint.state), sumOf(checkpoint.sampler)] : [] },
    ];
  });
  return { steps };
}

const closedIn = async (environment: TrainingEnvironment): Promise<number> =>
  (await entriesOf(environment)).filter(({ type }) => type === 'step-ended').length;

let calm: Outcome;
beforeAll(async () => {
  const environment = await open();
  await runWindow(environment.training, { steps: STEPS });
  calm = await outcomeOf(environment);
  await closeAll();
});

describe('training that is stopped', () => {
  it('has something to lose: at least two steps of the undisturbed run moved the weights', () => {
    expect(calm.steps).toHaveLength(STEPS);
    const sums = calm.steps.flatMap(({ sums: both }) => both);
    expect(new Set(sums).size).toBe(sums.length);
    expect(sums.length).toBeGreaterThanOrEqual(4);
    expect(sums).not.toContain(undefined);
  });

  it('by a returning user pauses before any further step, and ends at the same bits as the undisturbed run', async () => {
    const environment = await open();
    const random = createRandom('who comes back');
    let paused = 0;
    for (let windows = 0; (await (windows === 0 ? 0 : closedIn(environment))) < STEPS; windows++) {
      const left = STEPS - (windows === 0 ? 0 : await closedIn(environment));
      const stop = new AbortController();
      const after: string[] = [];
      let at = 0;
      const place = windows < 4 ? random.below(4) + 1 : Number.POSITIVE_INFINITY;
      let since = 0;
      let seen = 0;
      await runWindow(
        environment.training,
        { steps: left },
        {
          signal: stop.signal,
          onNews: async ({ type }) => {
            if (stop.signal.aborted) {
              after.push(type);
              at = performance.now();
            } else if (++seen === place) {
              await pause(random.below(60));
              since = performance.now();
              stop.abort();
            }
          },
        },
      );
      if (!after.includes('paused')) continue;
      paused++;
      // What was on its way may still be told; no step is taken after it.
      expect(after.filter((type) => type.startsWith('step-')).length).toBeLessThanOrEqual(1);
      expect(after.at(-1)).toBe('paused');
      process.stdout.write(`paused after ${Math.round(at - since)} ms\n`);
    }
    expect(paused).toBeGreaterThan(1);
    expect(await outcomeOf(environment)).toEqual(calm);
  });

  it.each(Array.from({ length: RUNS }, (_, at) => at + 1))(
    'by kills of its engine (%i) goes on, trains nothing twice, moves no pointer, and ends at the same bits',
    async (run) => {
      const environment = await open();
      const random = createRandom(`who kills ${run}`);
      let kills = 0;
      const killed = new Set<number>();
      const kill = (): void => {
        const pid = readEngineRecord(path.join(environment.dir, 'engine'))?.pid;
        if (pid === undefined || killed.has(pid) || kills >= KILLS) return;
        killed.add(pid);
        kills++;
        process.kill(pid, 'SIGKILL');
      };
      let waiting = random.below(2) + 1;
      const onNews = async ({ type }: TrainingEvent): Promise<void> => {
        const { versions } = await environment.training.describe();
        expect(versions).toMatchObject({ live: 0 });
        if (type === 'done' || type === 'moved' || --waiting > 0) return;
        waiting = random.below(2) + 1;
        // In the middle of what comes next, whatever that is.
        setTimeout(kill, random.below(150));
      };
      let closed = 0;
      for (let windows = 0; closed < STEPS; windows++) {
        expect(windows).toBeLessThan(KILLS + 3);
        try {
          await runWindow(environment.training, { steps: STEPS - closed }, { onNews });
        } catch (error) {
          expect(error).toBeInstanceOf(TrainingError);
        }
        closed = await closedIn(environment);
      }
      process.stdout.write(`killed ${kills} times\n`);
      expect(kills).toBeGreaterThan(KILLS / 2);
      const ids = (await outcomeOf(environment)).steps.flatMap(({ rollouts }) => rollouts);
      expect(new Set(ids).size).toBe(ids.length);
      expect(await outcomeOf(environment)).toEqual(calm);
      expect((await environment.api.training()).versions).toMatchObject({ live: 0 });
    },
    240_000,
  );
});
