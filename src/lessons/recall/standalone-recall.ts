import type { Clock } from '../../core/clock.ts';
import type { EmbeddingModel } from '../../core/recall.ts';
import type { Recollect } from '../../core/recollection.ts';
import type { Records } from '../../core/store.ts';
import { createMiniLmEmbed } from '../../embed/minilm-embed.ts';
import { firstLookFor } from '../../embed/static-embed.ts';
import { createLibraryHoldout, type Holdout } from '../effect/hold-out.ts';
import { type OpenLessons, openLessons } from '../open-lessons.ts';
import { createReadLearnedIn, type ReadLearnedIn } from '../scope.ts';
import { UNKNOWN_USE } from './activation.ts';
import type { DomainPattern } from './domain.ts';
import { createRecall } from './recall.ts';
import { limitsFor } from './select-lessons.ts';
import { openVectorCache, type VectorCache } from './vector-cache.ts';

interface StandaloneRecallOptions {
  /** The section `library` of the config: the limits are those of the gateway. */
  readonly settings: {
    readonly topK: number;
    readonly tokenBudget: number;
  };
  readonly patterns: readonly DomainPattern[];
  readonly vectorFile: string;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
}

/** Recall as the gateway does it, for a program that has the store only from time to time. */
export interface StandaloneRecall {
  /** The library of these records. The lock of the home must be held until `pause`. */
  open(records: Records, recollect: Recollect): Promise<OpenLessons>;
  /** The sentence model, for whoever compares texts. */
  readonly model: Pick<EmbeddingModel, 'id' | 'dimensions' | 'embed'>;
  /** Closes the files of the home; the model and the embeddings stay for the next `open`. */
  pause(): Promise<void>;
  close(): Promise<void>;
}

/** The sentence model starts with the first lesson to compare, and once: its vectors are kept between two openings. */
export function createStandaloneRecall(options: StandaloneRecallOptions): StandaloneRecall {
  const { settings, clock, newId } = options;
  const embed = createMiniLmEmbed();
  const first = firstLookFor(embed);
  let opened: OpenLessons | undefined;
  let holdout: Holdout | undefined;
  let learnedIn: ReadLearnedIn | undefined;
  let vectors: VectorCache | undefined;
  const index = createRecall({
    embed,
    first,
    limits: limitsFor(settings),
    usefulness: (lesson) => opened?.effects.usefulness(lesson) ?? UNKNOWN_USE,
    holdout: { lotOf: (query, lesson) => holdout?.lotOf(query, lesson) ?? 'shown' },
    // A private lesson whose origin cannot be read is shown to nobody.
    learnedIn: async (lesson) => (learnedIn === undefined ? [] : learnedIn(lesson)),
    patterns: options.patterns,
    vectorCache: {
      get: async (key) => vectors?.get(key),
      put: (key, vector) => vectors?.put(key, vector),
      readEach: async (...asked) => vectors?.readEach(...asked),
      keepOnly: async (keys) => vectors?.keepOnly(keys),
      close: async () => vectors?.close(),
    },
  });
  const pause = async (): Promise<void> => {
    const closing = vectors;
    opened = undefined;
    vectors = undefined;
    await closing?.close();
  };
  return {
    model: embed,
    open: async (records, recollect) => {
      learnedIn = createReadLearnedIn(records);
      const lessons = await openLessons({
        records,
        clock,
        newId,
        onFault: (error) => {
          throw error;
        },
        embed,
        recollect,
        recall: async (query, now) => {
          const shown = lessons.library.shown(now);
          // Without a cache the lessons are embedded again.
          if (shown.length > 0)
            vectors ??= await openVectorCache(options.vectorFile, embed.id, embed.dimensions).catch(
              () => undefined,
            );
          await index.update(shown);
          return index.recall({ ...query, isUnhurried: true }, now);
        },
      });
      opened = lessons;
      holdout = createLibraryHoldout(lessons.library, lessons.effects);
      return lessons;
    },
    pause,
    close: async () => {
      await pause();
      await embed.close();
      await first.close();
    },
  };
}
