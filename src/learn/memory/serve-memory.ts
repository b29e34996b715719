import type { Clock } from '../../core/clock.ts';
import { compact, type JsonObject } from '../../core/json.ts';
import type { Lesson } from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import type { Records } from '../../core/store.ts';
import { changedLessonId, encodeChange } from '../../lessons/codec.ts';
import { readTrials } from '../../lessons/effect/fold-trials.ts';
import type { LessonEffects } from '../../lessons/effect/lesson-effects.ts';
import { titleOf } from '../../lessons/title.ts';
import { plural } from '../../text/phrases.ts';
import type { Autonomy } from '../gate/autonomy-rule.ts';
import type { Practice } from '../practice/serve-practice.ts';
import {
  applyConsolidation,
  type ConsolidationPlan,
  type MemoryChange,
  planConsolidation,
} from './consolidate.ts';

/** What consolidation needs, in the thread that runs it. */
interface MemoryParts {
  readonly library: Library;
  readonly effects: Pick<LessonEffects, 'usefulness' | 'verdict'>;
  readonly records: Pick<Records, 'events'>;
  readonly embed: EmbeddingModel['embed'];
  /** Vectors are n-grams. */
  readonly isByLetters?: boolean;
  readonly clock: Pick<Clock, 'now'>;
}

interface MemoryOptions extends MemoryParts {
  /** Reads what was published by others. */
  readonly catchUp: () => Promise<void>;
  readonly autonomy: Autonomy;
}

const planOf = async (
  { library, effects, records, embed, isByLetters = false, clock }: MemoryParts,
  isAsked: boolean,
): Promise<ConsolidationPlan> =>
  planConsolidation(
    { library, effects, trials: await readTrials(records) },
    { now: clock.now(), embed, isByLetters, isAsked },
  );

/** Consolidation when a person asks for it: also of lessons that people wrote. */
export async function consolidateOnDemand(parts: MemoryParts, isApplied: boolean): Promise<JsonObject> {
  const { library } = parts;
  const plan = await planOf(parts, true);
  const described = describePlan(plan, library);
  if (!isApplied) return { ...described, done: false, generation: library.generation };
  const results = await applyConsolidation(plan, library, { isAsked: true });
  const refused = results.filter(({ status }) => status === 'refused').map((result) => ({ ...result }));
  return { ...described, done: true, refused, generation: library.generation };
}

/** The weekly run. It stops between two change sets when somebody is back; what was done counts. */
async function consolidateInQuiet(options: MemoryOptions, signal: AbortSignal): Promise<JsonObject> {
  const { library, autonomy } = options;
  const plan = await planOf(options, false);
  if (signal.aborted) return { end: 'paused' };
  const count = plan.changes.length;
  if (autonomy === 'manual' && count > 0)
    return { end: 'done', note: `${plural(count, 'change')} wait for you: instar lessons consolidate` };
  const results = await applyConsolidation(plan, library, { signal });
  if (results.length < count) return { end: 'paused' };
  const applied = results.filter(({ status }) => status === 'applied').length;
  const open = plan.open.length === 0 ? [] : [`${plural(plan.open.length, 'contradiction')} left open`];
  return { end: 'done', note: [plural(applied, 'change'), ...open].join(', ') };
}

const ON_DEMAND = 'consolidate';
const IN_QUIET = 'consolidate-work';
/** What a person has just proposed or published is there for these. */
const NEEDS_LIBRARY: ReadonlySet<string> = new Set([ON_DEMAND, IN_QUIET, 'identity', 'run']);

/** Practice that also consolidates: `consolidate` on demand, `consolidate-work` for the job. Without practice, this alone. */
export function withMemory(practice: Practice | undefined, options: MemoryOptions): Practice {
  return {
    command: async (request, signal) => {
      if (NEEDS_LIBRARY.has(String(request.do))) await options.catchUp();
      if (request.do === ON_DEMAND) return consolidateOnDemand(options, request.apply === true);
      if (request.do === IN_QUIET) return consolidateInQuiet(options, signal);
      return (await practice?.command(request, signal)) ?? {};
    },
    close: async () => practice?.close(),
  };
}

function describePlan({ changes, open, left }: ConsolidationPlan, library: Library): JsonObject {
  return {
    changes: changes.map((planned) => describeChange(planned, library)),
    open: open.map(({ a, b, why, by, isDoubtful }) =>
      compact({ a: a.id, b: b.id, titles: titlesOf([a, b]), why, by, isDoubtful: isDoubtful || undefined }),
    ),
    left,
  };
}

const titlesOf = (lessons: readonly Lesson[]): string[] => lessons.map(titleOf);

function describeChange({ step, change }: MemoryChange, library: Pick<Library, 'lesson'>): JsonObject {
  const id = changedLessonId(change);
  const ids = change.op === 'merge' ? [id, ...change.ids.filter((one) => one !== id)] : [id];
  const titles = titlesOf(ids.flatMap((one) => library.lesson(one) ?? []));
  const why =
    change.op === 'retire'
      ? change.reason
      : `${titles
          .slice(1)
          .map((one) => `“${one}”`)
          .join(', ')} says the same: merged into it`;
  return compact({ step, id, titles, why, change: encodeChange(change) });
}
