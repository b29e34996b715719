import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemBoot } from '../../src/base/boot-clock.ts';
import { createIds } from '../../src/base/ids.ts';
import { terminateWorker } from '../../src/base/sqlite-gate.ts';
import { checkConfig } from '../../src/config/check-config.ts';
import { openHome } from '../../src/config/home.ts';
import type { ChatModel } from '../../src/core/chat.ts';
import { systemClock as clock } from '../../src/core/clock.ts';
import type { ChangeSet, PublishResult } from '../../src/core/lesson.ts';
import type { Target } from '../../src/core/upstream.ts';
import { type ServeLearningOptions, serveLearning } from '../../src/daemon/serve-learning.ts';
import { openJobs } from '../../src/jobs/open-jobs.ts';
import { openLessons } from '../../src/lessons/open-lessons.ts';
import { openRecording } from '../../src/record/open-recording.ts';
import { openTrustedClock } from '../../src/record/trusted-clock.ts';
import { readOrCreateSalt } from '../../src/redact/salt.ts';
import { silent, speaker, text } from '../learn/ask/samples.ts';
import { failedEpisodes, SKILL } from '../learn/failed-episodes.ts';
import { countOf } from '../support/counts.ts';

/** Generous: the wait ends as soon as the condition holds. */
const SOON = { timeout: 100_000, interval: 50 };
const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const run of undo.splice(0).reverse()) await run();
});

interface Bed {
  readonly model?: ChatModel;
  /** How the first thread differs from those that follow it. */
  readonly first?: { readonly data?: { readonly place: string }; readonly options?: WorkerOptions };
  readonly publish?: (set: ChangeSet, publish: () => Promise<PublishResult>) => Promise<PublishResult>;
}

/** Learning in its thread, on a record of its own. */
async function open({ model = speaker(text(JSON.stringify([SKILL]))).model, ...bed }: Bed = {}) {
  const dir = mkdtempSync(path.join(tmpdir(), 'instar-learning-'));
  undo.push(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  const home = openHome(dir);
  const providers = { own: { wire: 'openai-chat', baseUrl: 'http://127.0.0.1:9/v1', keyEnv: 'K' } };
  const { config } = checkConfig({ providers, models: { evolver: 'own/teacher' } }, { env: { K: 'k' } });
  const keys = () => ['k-0123456789abcdef'];
  const trusted = openTrustedClock({ home, clock, boot: systemBoot, log: quiet });
  undo.push(() => trusted.close());
  const settings = { keepDays: 0, snapshots: 0 };
  const recording = openRecording({ home, settings, keys, clock: trusted, log: quiet });
  undo.push(() => recording.close());
  await recording.recorder.chains;
  const { records } = recording;
  const lessons = await openLessons({ records, clock, newId: createIds(clock), onFault: () => undefined });
  const publish = bed.publish ?? ((_set, go) => go());
  const own: Target = {
    provider: 'own',
    model: 'teacher',
    access: { kind: 'own', credentials: () => ({}) },
    upstreams: [],
    chat: model,
  };
  const threads: Worker[] = [];
  const exits: number[] = [];
  const sent = { messages: 0 };
  const startThread: ServeLearningOptions['startThread'] = (module, options) => {
    const first = threads.length === 0 ? bed.first : undefined;
    const workerData = { ...options.workerData, ...first?.data };
    const thread = new Worker(module, { ...options, ...first?.options, workerData });
    const post = thread.postMessage.bind(thread);
    thread.postMessage = (message: unknown) => {
      sent.messages++;
      post(message);
    };
    thread.on('exit', (code) => exits.push(code));
    threads.push(thread);
    return thread;
  };
  const served = {
    ...lessons,
    library: {
      ...lessons.library,
      get generation() {
        return lessons.library.generation;
      },
      publish: (set: ChangeSet) => publish(set, () => lessons.library.publish(set)),
    },
  };
  const learning = serveLearning({
    openAttempt: () => {
      throw new Error('no program attempts anything here');
    },
    config,
    storeFile: home.storeFile,
    place: home.storeFile,
    salt: readOrCreateSalt(home),
    keys,
    records,
    lessons: () => served,
    embed: {
      id: 'none',
      dimensions: 1,
      // No two texts are similar: what an agent reported of itself is compared by its words alone.
      embed: async (texts) => texts.map(() => new Float32Array(384)),
      close: async () => undefined,
    },
    lessonsFor: async () => ({ text: '', lessons: [], generation: 0 }),
    compareBlocks: async () => [],
    catalogue: { resolve: () => [own], speaking: () => [own], list: () => [], access: () => new Set() },
    prices: () => ({}),
    clock,
    log: quiet,
    jobs: openJobs({ place: home.storeFile, clock, newId: createIds(clock) }),
    startThread,
  });
  undo.push(() => learning.close());
  const fail = async (agent: string) => {
    await records.append(failedEpisodes(agent));
    learning.wake();
  };
  return { learning, records, library: lessons.library, threads, exits, sent, fail };
}

describe('the learning thread', () => {
  it('learns with a model that is a function of the serving process', async () => {
    const { learning, library, threads, fail } = await open();
    await fail('ada');
    await learning.settle();
    expect(library.lessons()).toMatchObject([{ text: { name: SKILL.name }, state: 'live' }]);
    expect(learning.status()).toMatchObject({
      // One wrote the lesson; the others looked for a check of it.
      cycles: { run: 3, published: 1 },
      buffer: { query: 0, support: 3, generation: 1 },
    });
    expect(learning.counts()).toMatchObject({ generation: 1, failures: 3, cycles_published: 1 });
    expect(threads).toHaveLength(1);
    expect(threads[0]?.resourceLimits).toMatchObject({ maxOldGenerationSizeMb: 512 });
  });

  it.each(['after', 'before'].slice(0, countOf(1, 2)))(
    'loses and doubles nothing when it is killed %s publishing',
    async (when) => {
      let calls = 0;
      const kill = async (at: string) => {
        if (at === when && calls === 1) await Promise.all(bed.threads.slice(0, 1).map(terminateWorker));
      };
      const bed = await open({
        publish: async (_set, publish) => {
          calls++;
          await kill('before');
          // The call of a thread that has ended is answered all the same.
          const result = await publish();
          await kill('after');
          return result;
        },
      });
      const { learning, records, library, threads, fail } = bed;
      await fail('ada');
      await vi.waitFor(() => expect(learning.status().problem).toMatch(/learning thread ended/), SOON);
      await vi.waitFor(() => expect(learning.status().problem).toBeUndefined(), SOON);
      await learning.settle();
      expect(threads).toHaveLength(2);
      // The published change cites the failures: they are used up also without the end of the cycle.
      expect(await records.factsOf('library-changed', 0, 10)).toHaveLength(1);
      expect(await records.factsOf('turn-appraised', 0, 10)).toHaveLength(3);
      expect(library.lessons()).toHaveLength(1);
      expect(learning.status()).toMatchObject({
        appraised: { failures: 3 },
        support: 0,
        buffer: { query: 0, support: 3, generation: 1 },
      });
      const writings = async () =>
        (await records.factsOf('cycle-end', 0, 20)).filter(
          ({ fact }) => fact.type === 'cycle-end' && fact.learner === 'evolver',
        ).length;
      const before = await writings();
      await fail('bob');
      await learning.settle();
      expect(await writings()).toBe(before + 1);
    },
  );

  it.each([
    ['the record cannot be read', { data: { place: '/nowhere/instar.db' } }, /ended: .*open/],
    ['its heap is full', { options: { resourceLimits: { maxOldGenerationSizeMb: 4 } } }, /ended: .*memory/],
  ])('reports that %s, and is started again', async (_why, first, problem) => {
    const { learning, library, fail } = await open({ first });
    await vi.waitFor(() => expect(learning.status().problem).toMatch(problem), SOON);
    await fail('ada');
    await vi.waitFor(() => expect(library.generation).toBe(1), SOON);
    await vi.waitFor(() => expect(learning.status().problem).toBeUndefined(), SOON);
  });

  it('is told at once of what somebody waits for, and of turns that end shortly after each other together', async () => {
    const { learning, sent } = await open();
    const isIdle = () => expect.poll(() => learning.status().pending, SOON).toBe(0);
    await isIdle();
    const before = sent.messages;
    for (let n = 0; n < 50; n++) learning.wake(1);
    expect(sent.messages - before).toBe(1);
    learning.wake();
    expect(sent.messages - before).toBe(2);
    learning.wake(1);
    expect(learning.status().pending).toBeGreaterThan(0);
    await expect.poll(() => sent.messages - before, SOON).toBeGreaterThan(2);
    await isIdle();
  });

  it('ends by itself when it is closed while a model that ignores its signal is asked', async () => {
    let asked = 0;
    const model: ChatModel = (...args) => {
      asked++;
      return silent(...args);
    };
    const { learning, records, exits, fail } = await open({ model });
    await fail('ada');
    await vi.waitFor(() => expect(asked).toBe(1), SOON);
    await learning.close();
    // A thread that has to be terminated ends with 1.
    expect(exits).toEqual([0]);
    expect(await records.factsOf('cycle-end', 0, 10)).toHaveLength(0);
  });

  it('shortens no prompt while it is not running, and reports that it may work later', async () => {
    const { learning } = await open();
    await learning.close();
    const prompt = { agent: 'ada', text: 'Be kind. '.repeat(2000), tools: [] };
    expect(await learning.shorten(prompt, 2000, new AbortController().signal)).toMatchObject({
      ok: false,
      isRetryable: true,
    });
  });
});
