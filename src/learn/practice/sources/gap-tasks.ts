import { isInUse, type Lesson, PROMPT_KINDS } from '../../../core/lesson.ts';
import type { PracticeSource, PracticeTask } from '../../../core/practice.ts';
import type { LessonEffects } from '../../../lessons/effect/lesson-effects.ts';
import { comparedText, ruleWords } from '../../../lessons/similar/compare.ts';
import { findContradictions, whyContradict, whyDoubtful } from '../../../lessons/similar/contradictions.ts';
import { topicStems } from '../../../text/topic-words.ts';
import { type EmbedTexts, nearnessOf } from './near-tasks.ts';
import type { KnownTask } from './practice-tasks.ts';
import { ownWords } from './read-matters.ts';
import { rootOf, taskId } from './split.ts';

/** A question that the library leaves open. */
interface KnowledgeGap {
  readonly kind: 'contradiction' | 'unmeasured' | 'without evidence';
  /** The ids of the lessons that are in question. */
  readonly lessons: readonly string[];
  readonly why: string;
  /** Tasks that would decide it, in the words of those that triggered the lessons. */
  readonly words: readonly TriggeringTask[];
  /** Known tasks that are near enough to decide it. */
  readonly tasks: readonly string[];
}

/** A recorded request that led to a lesson. */
export interface TriggeringTask {
  readonly text: string;
  readonly session?: string;
  readonly turn?: string;
  readonly agent?: string;
  readonly project?: string;
}

interface GapOptions {
  readonly lessons: () => readonly Lesson[];
  readonly effects: Pick<LessonEffects, 'usefulness' | 'verdict'>;
  readonly known: () => readonly KnownTask[];
  /** The recorded requests of these turns; erased ones, and those of callers that may not teach, are left out. */
  readonly requests: (turns: readonly string[]) => Promise<readonly TriggeringTask[]>;
  readonly embed?: EmbedTexts;
}

/** Comparing all pairs of more lessons takes seconds. */
const MOST_LESSONS = 500;
const MOST_WORDS = 3;
/** A known task that is this near to a gap's words decides it. */
const DECIDES = 0.6;
const DECIDES_BY_WORDS = 0.4;
const FEWEST_STEMS = 3;
/** N-gram and word similarities are lower than those of sentence models. */
const WORD_TOPIC = 0.28;

/** Contradictions first, then lessons that nothing supports, then those that were never measured. */
export async function findGaps(options: GapOptions): Promise<readonly KnowledgeGap[]> {
  const active = options
    .lessons()
    .filter((lesson) => isInUse(lesson) && PROMPT_KINDS.has(lesson.kind))
    .slice(-MOST_LESSONS);
  const gaps: Omit<KnowledgeGap, 'words' | 'tasks'>[] = [];
  const vectors = await vectorsOf(active, options.embed);
  const found =
    vectors === undefined
      ? contradictionsByWords(active)
      : findContradictions(active, vectors, undefined, whyInConflict);
  for (const { a, b, why } of found) gaps.push({ kind: 'contradiction', lessons: [a.id, b.id], why });
  for (const { id, text } of active) {
    const { count, isProven } = options.effects.usefulness(id);
    if (text.evidence.turns.length === 0)
      gaps.push({ kind: 'without evidence', lessons: [id], why: `no recorded turn supports “${text.name}”` });
    else if (count === 0 && !isProven && options.effects.verdict(id) === 'unknown')
      gaps.push({ kind: 'unmeasured', lessons: [id], why: `“${text.name}” was never seen to help or harm` });
  }
  const byId = new Map(active.map((lesson) => [lesson.id, lesson]));
  const worded = await Promise.all(
    gaps.map(async (gap) => ({
      ...gap,
      words: await wordsOf(
        gap.lessons.flatMap((id) => byId.get(id) ?? []),
        options,
      ),
    })),
  );
  return decidedBy(worded, options);
}

/** What a person said is never doubted here. */
const whyInConflict = (a: Lesson, b: Lesson): string | undefined =>
  whyContradict(ruleWords(a), ruleWords(b)) ??
  (a.text.note.source === 'told' || b.text.note.source === 'told'
    ? undefined
    : whyDoubtful(a.text.content, b.text.content));

async function vectorsOf(
  lessons: readonly Lesson[],
  embed: EmbedTexts | undefined,
): Promise<ReadonlyMap<string, Float32Array> | undefined> {
  if (lessons.length === 0) return new Map();
  const vectors = await embed?.(lessons.map(comparedText)).catch(() => undefined);
  if (vectors?.length !== lessons.length) return undefined;
  return new Map(
    lessons.flatMap(({ id }, at) => {
      const vector = vectors[at];
      return vector === undefined ? [] : [[id, vector] as const];
    }),
  );
}

/** Without a sentence model: bags of stems as unit vectors. */
function contradictionsByWords(lessons: readonly Lesson[]): ReturnType<typeof findContradictions> {
  const stems = lessons.map((lesson) => topicStems(comparedText(lesson)));
  const places = new Map([...new Set(stems.flatMap((one) => [...one]))].map((word, at) => [word, at]));
  const vectors = new Map(
    lessons.map(({ id }, at) => {
      const vector = new Float32Array(places.size);
      const own = stems[at] ?? new Set<string>();
      for (const word of own) vector[places.get(word) ?? 0] = 1 / Math.sqrt(own.size);
      return [id, vector] as const;
    }),
  );
  return findContradictions(lessons, vectors, WORD_TOPIC, whyInConflict);
}

/** Recorded requests; a lesson that a person told has only the ways in which it says a task may be worded. */
async function wordsOf(lessons: readonly Lesson[], options: GapOptions): Promise<readonly TriggeringTask[]> {
  const turns = lessons.flatMap(({ text }) => text.evidence.turns.slice(-MOST_WORDS));
  const recorded = (await options.requests(turns)).flatMap((request) => {
    const text = ownWords(request.text);
    return text === undefined || topicStems(text).size < FEWEST_STEMS ? [] : [{ ...request, text }];
  });
  if (recorded.length > 0) return recorded.slice(0, MOST_WORDS);
  return lessons
    .filter(({ text }) => text.taint.length === 0)
    .flatMap(({ text }) =>
      (text.note.triggers ?? [])
        .filter((trigger) => topicStems(trigger).size >= FEWEST_STEMS)
        .map((trigger) => ({
          text: trigger,
          ...(text.scope.agent === undefined ? {} : { agent: text.scope.agent }),
          ...(text.scope.project === undefined ? {} : { project: text.scope.project }),
        })),
    )
    .slice(0, MOST_WORDS);
}

async function decidedBy(
  gaps: readonly Omit<KnowledgeGap, 'tasks'>[],
  { known, embed }: GapOptions,
): Promise<readonly KnowledgeGap[]> {
  const tasks = known().filter(({ task }) => task.origin !== 'gap' && task.isRecordOnly !== true);
  const words = gaps.flatMap((gap) => gap.words);
  const { near, isByWords } = await nearnessOf(
    [...tasks.map(({ task }) => task.prompt), ...words.map(({ text }) => text)],
    embed,
  );
  const limit = isByWords ? DECIDES_BY_WORDS : DECIDES;
  let at = tasks.length;
  return gaps.map((gap) => {
    const own = gap.words.map(() => at++);
    const deciding = tasks.filter((_, place) => own.some((word) => near(place, word) >= limit));
    return { ...gap, tasks: deciding.map(({ task }) => task.id) };
  });
}

/** Tasks for the gaps that no known task decides. Attempts with and without the lessons in question show which is right. */
export const createGapTasks = (options: GapOptions): PracticeSource => ({
  origin: 'gap',
  find: async (wanted, signal) => {
    const found = new Map<string, PracticeTask>();
    const byId = new Map(options.lessons().map((lesson) => [lesson.id, lesson]));
    for (const { tasks, words, lessons } of await findGaps(options)) {
      if (signal.aborted) break;
      if (tasks.length > 0) continue;
      const domain = lessons.flatMap((id) => byId.get(id)?.text.scope.domain ?? [])[0] ?? 'general';
      if (wanted.domain !== undefined && wanted.domain !== domain) continue;
      for (const { text, session, turn, agent, project } of words) {
        const root = rootOf(domain, text);
        const id = taskId('gap', root, ...[...lessons].sort());
        if (found.has(root)) continue;
        found.set(root, {
          id,
          root,
          origin: 'gap',
          prompt: text,
          domain,
          isApproximate: true,
          about: lessons,
          ...(agent === undefined ? {} : { agent }),
          ...(project === undefined ? {} : { project }),
          ...(session === undefined || turn === undefined ? {} : { from: { session, turn } }),
        });
      }
    }
    return [...found.values()].slice(0, wanted.count);
  },
});
