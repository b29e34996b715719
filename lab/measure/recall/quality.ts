import { mkdirSync } from 'node:fs';
import type { EmbeddingModel, RecallResult } from '../../../src/core/recall.ts';
import { firstLookFor } from '../../../src/embed/static-embed.ts';
import { createRecall, type LessonRecall, type RecallSettings } from '../../../src/lessons/recall/recall.ts';
import { openVectorCache, type VectorCache } from '../../../src/lessons/recall/vector-cache.ts';
import { renderBlock } from '../../../src/lessons/render-block.ts';
import { estimateTokens } from '../../../src/text/estimate-tokens.ts';
import { markdownTable } from '../markdown.ts';
import { createEngineCounts, describeEngines, requireEngine, requireSome } from '../measured.ts';
import type { RecallTask, RecallTasks } from './read-tasks.ts';
import { createLiveSkill, type PairLesson } from './synthetic.ts';

/** What the tasks of one kind were shown. Shares of the tasks; hits are of tasks with a right lesson, NaN without any. */
interface KindQuality {
  readonly kind: string;
  readonly tasks: number;
  /** A right lesson was shown with its body. */
  readonly inBodies: number;
  /** A right lesson was shown with its body, or among the first six lines. */
  readonly inSix: number;
  /** A right lesson was shown, with its body or by any line. */
  readonly inIndex: number;
  /** Nothing was shown at all. */
  readonly empty: number;
  readonly withoutBody: number;
  /** Bodies, lines and tokens of the block per task. */
  readonly bodies: number;
  readonly lines: number;
  readonly tokens: number;
}

/** As configured by default. */
export const LIMITS = { topK: 6, tokenBudget: 1500, index: { lines: 24, tokens: 600 } };
const FIRST_LINES = 6;

/** Lessons are embedded once for all runs. */
async function openBenchCache(embed: EmbeddingModel): Promise<VectorCache> {
  mkdirSync('.cache/bench', { recursive: true });
  return openVectorCache('.cache/bench/recall-vectors', embed.id, embed.dimensions);
}

/** The gateway's own recall over lessons. */
export async function openRecall(
  lessons: readonly PairLesson[],
  { embed, first, demand }: Pick<RecallSettings, 'embed' | 'first' | 'demand'>,
): Promise<LessonRecall> {
  const vectorCache = await openBenchCache(embed);
  const index = createRecall({
    embed,
    vectorCache,
    first,
    limits: LIMITS,
    ...(demand === undefined ? {} : { demand }),
  });
  await index.update(lessons.map((lesson) => createLiveSkill(lesson)));
  await index.settled();
  await vectorCache.close();
  return index;
}

interface TaskResult {
  readonly task: RecallTask;
  readonly result: RecallResult;
}

export async function recallTasks(
  index: LessonRecall,
  tasks: readonly RecallTask[],
  isUnhurried: boolean,
): Promise<readonly TaskResult[]> {
  const results: TaskResult[] = [];
  // Unhurried: with the vectors of all lessons on disk the model would still be loading, and tasks would be answered without it.
  const asker = { session: 'bench', agent: 'bench', isUnhurried };
  for (const task of tasks)
    results.push({ task, result: await index.recall({ ...asker, text: task.query }, 0) });
  return results;
}

function scoreKind(kind: string, results: readonly TaskResult[]): KindQuality {
  const mean = (values: readonly number[]): number =>
    values.length === 0 ? Number.NaN : values.reduce((sum, value) => sum + value, 0) / values.length;
  const hits = (shown: (result: RecallResult) => readonly { readonly id: string }[]): number =>
    mean(
      results
        .filter(({ task }) => task.right.length > 0)
        .map(({ task, result }) => (shown(result).some(({ id }) => task.right.includes(id)) ? 1 : 0)),
    );
  const each = (value: (result: RecallResult) => number | boolean): number =>
    mean(results.map(({ result }) => Number(value(result))));
  return {
    kind,
    tasks: results.length,
    inBodies: hits(({ lessons }) => lessons),
    inSix: hits(({ lessons, index }) => [...lessons, ...index.slice(0, FIRST_LINES)]),
    inIndex: hits(({ lessons, index }) => [...lessons, ...index]),
    empty: each(({ lessons, index }) => lessons.length + index.length === 0),
    withoutBody: each(({ lessons }) => lessons.length === 0),
    bodies: each(({ lessons }) => lessons.length),
    lines: each(({ index }) => index.length),
    tokens: each(({ lessons, index }) => estimateTokens(renderBlock(lessons, index))),
  };
}

export interface RecallQuality {
  /** By the sentence model, or as the first turn of a conversation is answered. */
  readonly look: 'the model' | 'first look';
  /** Whether lessons had their triggers, or were stripped of them. */
  readonly triggers: 'as given' | 'stripped';
  readonly lessons: number;
  readonly kinds: readonly KindQuality[];
  /** Tasks by the engine that answered them. */
  readonly engines: Readonly<Record<string, number>>;
}

/** The model is never asked for a task. */
const NO_DEMAND = { atOnce: 0, perSecond: 0 };

/** Quality by kind of task, by the model and at a first look. Where lessons have triggers, a second time without them: other people's lessons may have none. */
export async function measureQuality(
  { lessons, tasks }: RecallTasks,
  embed: EmbeddingModel,
): Promise<readonly RecallQuality[]> {
  const kinds = [...new Set(tasks.map(({ kind }) => kind))];
  const first = firstLookFor(embed);
  const measure = async (
    look: RecallQuality['look'],
    triggers: RecallQuality['triggers'],
    given: readonly PairLesson[],
  ): Promise<RecallQuality> => {
    const isFirst = look === 'first look';
    const index = await openRecall(given, { embed, first, ...(isFirst ? { demand: NO_DEMAND } : {}) });
    const results = await recallTasks(index, tasks, !isFirst);
    const engines = createEngineCounts();
    for (const { result } of results) engines.add(result.engine);
    requireSome('task', results.length);
    // Small talk is compared with nothing.
    requireEngine(isFirst ? [first.id, embed.id] : embed.id, engines);
    return {
      look,
      triggers,
      lessons: given.length,
      engines: Object.fromEntries(engines.byEngine),
      kinds: kinds.map((kind) =>
        scoreKind(
          kind,
          results.filter(({ task }) => task.kind === kind),
        ),
      ),
    };
  };
  const hasTriggers = lessons.some(({ triggers }) => triggers !== undefined);
  const found: RecallQuality[] = [];
  for (const look of ['the model', 'first look'] as const) {
    found.push(await measure(look, 'as given', lessons));
    if (hasTriggers) found.push(await measure(look, 'stripped', lessons.map(withoutTriggers)));
  }
  return found;
}

export const withoutTriggers = ({ triggers: _, ...lesson }: PairLesson): PairLesson => lesson;

export const reportQuality = (title: string, found: readonly RecallQuality[]): string =>
  found
    .flatMap(({ look, triggers, lessons, kinds, engines }) => [
      `### ${title}: ${lessons} lessons, triggers ${triggers}, ${look}`,
      `Tasks ${describeEngines(engines)}.`,
      markdownTable(
        [
          'kind',
          'tasks',
          'right one in a body',
          'in a body or the first 6 lines',
          'in a body or any line',
          'nothing shown',
          'no body',
          'bodies',
          'lines',
          'tokens',
        ],
        kinds.map((one) => [
          one.kind,
          String(one.tasks),
          ...[one.inBodies, one.inSix, one.inIndex, one.empty, one.withoutBody].map((value) =>
            Number.isNaN(value) ? '–' : value.toFixed(3),
          ),
          one.bodies.toFixed(2),
          one.lines.toFixed(1),
          one.tokens.toFixed(0),
        ]),
      ),
    ])
    .join('\n\n');
