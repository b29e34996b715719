import { setImmediate as nextTick } from 'node:timers/promises';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import { createRecall, type LessonRecall } from '../../../src/lessons/recall/recall.ts';
import { markdownTable, milliseconds, quantile } from '../markdown.ts';
import { createEngineCounts, requireEngine, requireSome } from '../measured.ts';
import { createLiveSkill, createRandomEmbed, createSyntheticTexts } from './synthetic.ts';

export interface RecallSpeed {
  readonly lessons: number;
  readonly cached: readonly number[];
  /** For tasks as users write them, and for long messages. */
  readonly computed: readonly number[];
  readonly computedLong: readonly number[];
  readonly blockMs: number;
  readonly megabytes: number;
  readonly bulkMs: number;
  readonly bulkWaitMs: number;
  readonly changeMs: number;
}

const DIMENSIONS = 384;
const QUERIES = 60;
const ROUNDS = 5;
const CHANGES = 20;

/**
 * Recall over synthetic lessons. Their vectors are random, so that a hundred thousand of them need no model; queries use the
 * model. `tasks` are real ones: invented words would be split into many more tokens than known words.
 */
export async function measureSpeed(size: number, tasks: readonly string[]): Promise<RecallSpeed> {
  const texts = createSyntheticTexts(size);
  const lessons = Array.from({ length: size }, (_, id) => texts.lesson(id));
  const queries = Array.from({ length: QUERIES }, (_, at) => {
    const about = lessons[(at * 7919) % size];
    return about === undefined ? '' : texts.query(about);
  });
  const model = createMiniLmEmbed();
  await model.embed(['warm']);
  const before = await memoryInUse();
  let isAsking = false;
  const asking = async (texts: readonly string[]): Promise<readonly number[]> => {
    isAsking = true;
    const taken = await times(index, texts);
    isAsking = false;
    return taken;
  };
  const embed = queriesBy(model, () => isAsking);
  const index = createRecall({
    embed,
    first: embed,
    limits: { topK: 6, tokenBudget: 2000 },
  });
  let current = lessons.map((lesson) => createLiveSkill(lesson));
  const bulk = await watched(async () => {
    await index.update(current);
    await index.settled();
  });
  const megabytes = ((await memoryInUse()) - before) / 2 ** 20;

  const computed = await asking(tasks);
  const computedLong = await asking(tasks.map((_, at) => longMessage(tasks, at)));
  await asking(queries);
  const cached: number[] = [];
  for (let round = 0; round < ROUNDS; round++) cached.push(...(await times(index, queries)));
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const { waits } = await watched(async () => {
      for (const query of queries) {
        await times(index, [query]);
        await nextTick();
      }
    });
    rounds.push(Math.max(...waits));
  }

  const changes: number[] = [];
  for (let n = 0; n < CHANGES; n++) {
    current = current.with(n, createLiveSkill(texts.lesson(n), 2));
    const from = performance.now();
    await index.update(current);
    changes.push(performance.now() - from);
  }
  await model.close();
  const { bySentences, firstLooks } = index.stats().recalls;
  const engines = createEngineCounts();
  engines.add(model.id, bySentences);
  engines.add(embed.id, firstLooks);
  requireSome('task', bySentences + firstLooks);
  requireEngine(model.id, engines);
  return {
    lessons: size,
    cached,
    computed,
    computedLong,
    // What other programs do to us differs from round to round; what we do is in all of them.
    blockMs: Math.min(...rounds),
    megabytes,
    bulkMs: bulk.ms,
    bulkWaitMs: quantile(bulk.waits, 0.99),
    changeMs: quantile(changes, 0.5),
  };
}

export const reportSpeed = (found: readonly RecallSpeed[]): string =>
  markdownTable(
    [
      'lessons',
      'recall p50',
      'p99',
      'with the task computed p50',
      'p99',
      'a long message p50',
      'longest block of the event loop',
      'index',
      'one lesson changed',
      'all loaded (without the model)',
      'event-loop delay meanwhile p99',
    ],
    found.map((one) => [
      String(one.lessons),
      ...[
        quantile(one.cached, 0.5),
        quantile(one.cached, 0.99),
        quantile(one.computed, 0.5),
        quantile(one.computed, 0.99),
        quantile(one.computedLong, 0.5),
        one.blockMs,
      ].map((ms) => `${milliseconds(ms)} ms`),
      `${one.megabytes.toFixed(0)} MB`,
      ...[one.changeMs, one.bulkMs, one.bulkWaitMs].map((ms) => `${milliseconds(ms)} ms`),
    ]),
  );

/** Random vectors for lessons, the model's vectors for queries. */
function queriesBy(model: EmbeddingModel, isAsking: () => boolean): EmbeddingModel {
  const random = createRandomEmbed(DIMENSIONS);
  return { ...random, embed: (texts, most) => (isAsking() ? model : random).embed(texts, most) };
}

/** Several tasks in one message: longer than recall reads. */
const longMessage = (tasks: readonly string[], at: number): string =>
  Array.from({ length: 12 }, (_, more) => tasks[(at + more * 7) % tasks.length]).join(' ');

async function times(index: LessonRecall, queries: readonly string[]): Promise<readonly number[]> {
  const found: number[] = [];
  for (const text of queries) {
    const from = performance.now();
    await index.recall({ text, session: 's', agent: 'a' }, 0);
    found.push(performance.now() - from);
  }
  return found;
}

/** The duration of the work, and every delay of the event loop during it. */
async function watched(
  work: () => Promise<void>,
): Promise<{ readonly ms: number; readonly waits: readonly number[] }> {
  let isDone = false;
  let last = performance.now();
  const waits = [0];
  const tick = (): void => {
    const now = performance.now();
    waits.push(now - last);
    last = now;
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  const from = performance.now();
  await work();
  isDone = true;
  return { ms: performance.now() - from, waits };
}

async function memoryInUse(): Promise<number> {
  const { gc } = globalThis as { readonly gc?: () => void };
  for (let n = 0; n < 3; n++) {
    gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const { heapUsed, arrayBuffers, external } = process.memoryUsage();
  return heapUsed + Math.max(arrayBuffers, external);
}
