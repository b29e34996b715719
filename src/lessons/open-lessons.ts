import type { Clock } from '../core/clock.ts';
import type { LessonsApi } from '../core/daemon-api.ts';
import { compact, type JsonObject } from '../core/json.ts';
import type { LessonPlace } from '../core/lesson.ts';
import type { Library } from '../core/library.ts';
import type { EmbeddingModel, Recall } from '../core/recall.ts';
import type { Recollect } from '../core/recollection.ts';
import { type Records, StoreError } from '../core/store.ts';
import { createNgramEmbed } from '../embed/ngram-embed.ts';
import { createStaticEmbed } from '../embed/static-embed.ts';
import { type Adherence, readAdherence } from './adherence/adherence.ts';
import { eachFactOf } from './each-fact.ts';
import { createDescribeEffect } from './effect/describe-trial.ts';
import { readTrials, type TrialFold } from './effect/fold-trials.ts';
import { createLessonEffects, type LessonEffects } from './effect/lesson-effects.ts';
import { createLessonPages, type LessonPages } from './lesson-pages.ts';
import { createLessonsApi } from './lessons-api.ts';
import { type MovedLesson, openLibrary } from './library.ts';
import { libraryForMember } from './member-library.ts';
import { createRecall } from './recall/recall.ts';
import { FIRST_LOOK } from './recall/relevance.ts';
import { createReadLearnedIn, type ReadLearnedIn } from './scope.ts';
import { withoutWhatEnded } from './shown/show-past.ts';
import { reviewLibrary } from './similar/review-library.ts';
import { encodeFileChange, listFileChanges } from './skill-files/file-changes.ts';

/** The library and the measured effects, folded from the record. */
export interface OpenLessons {
  readonly library: Library;
  readonly effects: LessonEffects;
  /** What trials have measured, for `status`; the owner adds the facts that it hears of. */
  readonly trials: TrialFold;
  /** How sessions kept to the rules; the owner adds the facts that it hears of. */
  adherence(): Adherence;
  readonly api: LessonsApi;
  /** The same for one member, with the records that the member may read; undefined: for clients of the home's own person. */
  apiFor(member: string | undefined, records: Records): LessonsApi;
  /** What compares lessons: the sentence model, or n-grams, whose vectors are less similar. */
  readonly comparison: { readonly embed: EmbeddingModel; readonly isByLetters: boolean };
  /** The same for lists that are shown in pages. */
  readonly pages: LessonPages;
  /** Reads what another process has published since. */
  catchUp(): Promise<void>;
  /** Reads the library again after an erasure. */
  reload(): Promise<void>;
  /** The number of facts that could not be applied: edited by hand, or written by a newer version. */
  skipped(): number;
}

interface OpenLessonsOptions {
  readonly records: Records;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly onFault: (error: unknown) => void;
  /** The training samples that a change does not affect. */
  readonly recertify?: (moved: readonly MovedLesson[]) => Promise<readonly string[]>;
  /** Without it recall uses n-grams only. */
  readonly recall?: Recall;
  /** What the asker said in earlier sessions; absent: only lessons are recalled. */
  readonly recollect?: Recollect;
  /** The sentence model; without it n-grams are compared. */
  readonly embed?: EmbeddingModel;
  /** `library.place`; the system prompt unless it is given. */
  readonly place?: () => LessonPlace;
  /** `library.shareAgents`. */
  readonly sharesAgents?: () => boolean | undefined;
  /** How to get a sandbox for commands; undefined where this machine has one. */
  readonly sandboxFix?: () => Promise<string | undefined>;
}

/** Rejects with `StoreError` when the record cannot be read. */
export async function openLessons(options: OpenLessonsOptions): Promise<OpenLessons> {
  const { records, clock, newId } = options;
  const effects = createLessonEffects();
  const opened = await openMeasuredLibrary(options, effects);
  const { library } = opened;
  await eachFactOf('session-scored', records, effects.add);
  const trials = await readTrials(records, effects.add);
  let adherence = await readAdherence(records);
  const effectOf = createDescribeEffect({ library, effects, trials });
  const effect = (id: string): JsonObject | undefined => {
    const lesson = library.lesson(id);
    const measured = lesson && effectOf(lesson);
    return measured && compact({ ...measured });
  };
  const comparison = {
    embed: options.embed ?? createNgramEmbed(),
    isByLetters: options.embed === undefined,
  };
  const recall = options.recall ?? recallByTable(library, clock, createReadLearnedIn(records));
  const apiOver = (part: Library, read: Records, member?: string): LessonsApi =>
    createLessonsApi({
      library: part,
      records: read,
      effect,
      adherence: () => adherence,
      // Another thread measures: its facts are read when they are asked for.
      trials: () => readTrials(records),
      newId,
      now: clock.now,
      place: options.place ?? (() => 'system'),
      sharesAgents: options.sharesAgents ?? (() => undefined),
      recall,
      ...compact({ recollect: options.recollect && withoutWhatEnded(options.recollect, part) }),
      ...compact({ member, sandboxFix: options.sandboxFix }),
      review: async () => ({
        ...(await reviewLibrary({
          lessons: part.lessons(),
          ...comparison,
          effects,
          trials: await readTrials(records),
          now: clock.now(),
        })),
        byFile: listFileChanges(part, clock.now())
          .filter(({ what }) => what !== 'waits')
          .map(encodeFileChange),
      }),
    });
  const api = apiOver(library, records);
  const ofMembers = new Map<string | undefined, LessonsApi>();
  return {
    library,
    effects,
    trials,
    comparison,
    catchUp: opened.catchUp,
    adherence: () => adherence,
    pages: createLessonPages({
      library,
      records,
      effect,
      adherence: () => adherence,
      trials: () => readTrials(records),
    }),
    api,
    apiFor: (member, own) => {
      if (member === undefined && library.lessons().every(({ text }) => text.scope.member === undefined))
        return api;
      const ofMember = ofMembers.get(member) ?? apiOver(libraryForMember(library, member), own, member);
      ofMembers.set(member, ofMember);
      return ofMember;
    },
    reload: async () => {
      await opened.reload();
      adherence = await readAdherence(records);
    },
    skipped: () => opened.skipped,
  };
}

/** The library, whose changes are counted in `effects`: a change of a lesson's text also restarts its measurement. */
const openMeasuredLibrary = (
  { records, clock, newId, onFault, recertify }: OpenLessonsOptions,
  effects: LessonEffects,
): ReturnType<typeof openLibrary> =>
  openLibrary({
    load: async (after, limit) => {
      const page = await records.factsOf('library-changed', after, limit);
      for (const stored of page) effects.add(stored);
      return page;
    },
    append: async (fact) => {
      const [appended] = await records.append([fact]);
      if (appended === undefined)
        throw new StoreError('io', 'the store returned no result for the appended fact');
      return appended;
    },
    clock,
    newId,
    onFault,
    ...(recertify === undefined ? {} : { recertify }),
  });

/** For a command without a running daemon: loading the sentence model for one query would take too long. */
function recallByTable(library: Library, clock: Clock, learnedIn: ReadLearnedIn): Recall {
  const table = createStaticEmbed();
  const index = createRecall({
    embed: table,
    first: table,
    weights: FIRST_LOOK,
    limits: { topK: 6, tokenBudget: 1500, index: { lines: 24, tokens: 600 } },
    learnedIn,
  });
  return async (query, now) => {
    await index.update(library.shown(clock.now()));
    await index.settled();
    return index.recall(query, now);
  };
}

/** The API of a library that is opened, or may be missing, when it is asked. */
export const deferLessonsApi = (open: () => Promise<LessonsApi>): LessonsApi => ({
  list: async (query) => (await open()).list(query),
  all: async () => (await open()).all(),
  show: async (idOrName) => (await open()).show(idOrName),
  why: async (turn) => (await open()).why(turn),
  today: async () => (await open()).today(),
  change: async (body) => (await open()).change(body),
  generations: async () => (await open()).generations(),
  review: async () => (await open()).review(),
  recall: async (query) => (await open()).recall(query),
  diff: async (from, to) => (await open()).diff(from, to),
  rollback: async (to) => (await open()).rollback(to),
});
