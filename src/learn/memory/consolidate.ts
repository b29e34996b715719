import { createHash } from 'node:crypto';
import {
  type Author,
  type Change,
  type ChangeResult,
  type ChangeSet,
  isInUse,
  type Lesson,
} from '../../core/lesson.ts';
import type { Library } from '../../core/library.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import { changedLessonId, encodeChange } from '../../lessons/codec.ts';
import { trialOf } from '../../lessons/effect/describe-trial.ts';
import type { Trials } from '../../lessons/effect/fold-trials.ts';
import type { LessonEffects } from '../../lessons/effect/lesson-effects.ts';
import { isOfTeam } from '../../lessons/member-library.ts';
import {
  comparedText,
  LESSON_LIKENESS,
  type LessonVectors,
  nearPairs,
  ruleWords,
} from '../../lessons/similar/compare.ts';
import { whyContradict } from '../../lessons/similar/contradictions.ts';
import { publishDecided } from '../cycle.ts';
import type { LessonFacts } from './kept-lessons.ts';
import {
  mergeDuplicates,
  oppositionOf,
  type SettledContradiction,
  settleContradictions,
} from './settle-lessons.ts';
import { archiveDecayed, MOST_IN_USE } from './wake-archived.ts';

/*
 * Consolidation keeps a library compact and consistent: (1) detect lessons that say the same, contradict each other, or have decayed;
 * (2) decide by rules, which never write a word; what no rule decides is left open; (3) apply, in change sets whose ids are hashes of
 * what they change. A run that is killed leaves whole sets; the next one plans from what the library is then, and repeats nothing.
 */

export interface MemoryState {
  readonly library: Pick<Library, 'lesson' | 'lessons' | 'history'>;
  readonly effects: Pick<LessonEffects, 'usefulness' | 'verdict'>;
  readonly trials: Pick<Trials, 'of'>;
}

export interface PlanOptions {
  readonly now: number;
  readonly embed: EmbeddingModel['embed'];
  /** N-gram vectors are less similar than embeddings: other thresholds apply. */
  readonly isByLetters: boolean;
  /** A person asked for it. */
  readonly isAsked: boolean;
  readonly mostChanges?: number;
  readonly mostInUse?: number;
}

type ConsolidationStep = 'contradiction' | 'merge' | 'archive';

export interface MemoryChange {
  readonly step: ConsolidationStep;
  readonly change: Change;
}

export interface ConsolidationPlan {
  readonly changes: readonly MemoryChange[];
  /** Contradictions that no rule decides: practice, or a person. */
  readonly open: readonly SettledContradiction[];
  /** Changes over the limit of one run. */
  readonly left: number;
}

/** All pairs of more lessons take seconds to compare: the newest are compared. */
const MOST_COMPARED = 1500;
const MOST_CHANGES = 200;
const SET_SIZE = 25;

const CONSOLIDATION: Author = { kind: 'instar', name: 'consolidation' };
/** The plan that a person was shown and agreed to. */
const ASKED_FOR: Author = { kind: 'person', name: 'consolidation' };

/** What a run would do now. Changes nothing. */
export async function planConsolidation(
  { library, effects, trials }: MemoryState,
  options: PlanOptions,
): Promise<ConsolidationPlan> {
  const absorbed = new Map<string, Lesson[]>();
  for (const lesson of library.lessons())
    if (lesson.state === 'retired' && lesson.mergedInto !== undefined)
      absorbed.set(lesson.mergedInto, [...(absorbed.get(lesson.mergedInto) ?? []), lesson]);
  const facts: LessonFacts = {
    isProven: (lesson) =>
      effects.verdict(lesson.id) === 'helpful' || trialOf(lesson, trials)?.end?.outcome === 'helpful',
    isMeasured: (lesson) => trialOf(lesson, trials) !== undefined,
    history: (id) => library.history(id),
    absorbed: (id) => absorbed.get(id) ?? [],
    now: options.now,
    isAsked: options.isAsked,
  };
  const all = library.lessons().filter(isInUse);
  const overviews = all.filter(isOverview);
  const inUse = all.filter((lesson) => !overviews.includes(lesson));

  // Who may read a private lesson depends on its own evidence: it is not joined with others. The team's has no words of
  // one member beside those that moved there.
  const compared = inUse
    .filter((lesson) => lesson.text.note.visibility !== 'private' && !isOfTeam(lesson))
    .toSorted((a, b) => a.createdAt - b.createdAt)
    .slice(-MOST_COMPARED);
  const vectors = await embedLessons(compared, options.embed);
  const key = options.isByLetters ? 'letters' : 'sentence';
  const near = nearPairs(compared, vectors, LESSON_LIKENESS.topic[key]);
  const opposed = new Set(
    near.filter(
      ({ a, b }) =>
        whyContradict(ruleWords(a), ruleWords(b)) !== undefined || oppositionOf(a, b) !== undefined,
    ),
  );

  const settled = settleContradictions([...opposed], facts);
  const gone = new Set(settled.flatMap(({ change }) => (change?.op === 'retire' ? [change.id] : [])));
  const rest = compared.filter(({ id }) => !gone.has(id));
  const merges = mergeDuplicates(rest, vectors, ({ id }) => effects.usefulness(id).count, facts);
  const merged = new Set(merges.flatMap(({ ids }) => ids));
  for (const id of merged) gone.add(id);
  // What others are retired or merged for stays in use.
  const needed = new Set(
    settled.flatMap(({ change }) => (change?.op === 'retire' ? (change.supersededBy ?? []) : [])),
  );
  const decayed = archiveDecayed({
    lessons: inUse.filter(({ id }) => !gone.has(id) && !needed.has(id)),
    usefulness: effects.usefulness,
    facts,
    mostInUse: options.mostInUse ?? MOST_IN_USE,
  });

  const found: readonly MemoryChange[] = [
    ...settled.flatMap(({ change }) =>
      change === undefined ? [] : [{ step: 'contradiction' as const, change }],
    ),
    ...merges.map((change) => ({ step: 'merge' as const, change })),
    ...decayed.map((change) => ({ step: 'archive' as const, change })),
    ...overviews.map(({ id }) => ({
      step: 'archive' as const,
      change: { op: 'retire' as const, id, reason: 'its lines are those of other lessons' },
    })),
  ];
  const most = options.mostChanges ?? MOST_CHANGES;
  return {
    changes: found.slice(0, most),
    open: settled.filter(({ change }) => change === undefined),
    left: Math.max(0, found.length - most),
  };
}

/** A lesson in a home of an earlier version that only repeats lines of others. A person who pinned one keeps it. */
const isOverview = ({ text, pinned, frozen }: Lesson): boolean =>
  text.evidence.learner === 'overview' && !pinned && !frozen;

async function embedLessons(
  lessons: readonly Lesson[],
  embed: EmbeddingModel['embed'],
): Promise<LessonVectors> {
  const vectors = lessons.length === 0 ? [] : await embed(lessons.map(comparedText));
  return new Map(
    lessons.flatMap(({ id }, at) => {
      const vector = vectors[at];
      return vector === undefined ? [] : [[id, vector] as const];
    }),
  );
}

interface ApplyOptions {
  readonly signal?: AbortSignal;
  readonly onSet?: () => Promise<void>;
  /** A person agreed to the plan. */
  readonly isAsked?: boolean;
}

/** Publishes a plan, set by set, until it is done or the signal aborts. Answers with one result for each change it came to. */
export const applyConsolidation = (
  { changes }: Pick<ConsolidationPlan, 'changes'>,
  library: Library,
  options: ApplyOptions = {},
): Promise<readonly ChangeResult[]> =>
  publishDecided(
    {
      name: CONSOLIDATION.name,
      async *learn() {
        for (let at = 0; at < changes.length; at += SET_SIZE) {
          yield {
            set: {
              ...setOf(
                changes.slice(at, at + SET_SIZE).map(({ change }) => change),
                library,
              ),
              by: options.isAsked === true ? ASKED_FOR : CONSOLIDATION,
            },
          };
          await options.onSet?.();
        }
      },
    },
    library,
    options.signal ?? new AbortController().signal,
  );

/** The same changes of lessons in the same state are the same set; a lesson that a person restored may be archived again one day. */
function setOf(changes: readonly Change[], library: Pick<Library, 'lesson'>): Omit<ChangeSet, 'by'> {
  const states = changes.flatMap((change) =>
    (change.op === 'merge' ? change.ids : [changedLessonId(change)]).map(
      (id) => library.lesson(id)?.changedAt ?? 0,
    ),
  );
  const content = JSON.stringify([states, changes.map(encodeChange)]);
  const id = `consolidation_${createHash('sha256').update(content).digest('hex').slice(0, 24)}`;
  return { id, reason: 'consolidation', changes };
}
