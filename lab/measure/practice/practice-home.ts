import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createIds } from '../../../src/base/ids.ts';
import { checkConfig } from '../../../src/config/check-config.ts';
import { openHome } from '../../../src/config/home.ts';
import type { Config } from '../../../src/config/schema.ts';
import { systemClock } from '../../../src/core/clock.ts';
import { compact } from '../../../src/core/json.ts';
import type { Library } from '../../../src/core/library.ts';
import type { LessonsForTask } from '../../../src/core/practice.ts';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import type { Records } from '../../../src/core/store.ts';
import { createNgramEmbed } from '../../../src/embed/ngram-embed.ts';
import { createGate, type Gate } from '../../../src/learn/gate/gate.ts';
import { createNearestLessons } from '../../../src/learn/nearest-lessons.ts';
import type { SimilarTexts } from '../../../src/learn/practice/practice-input.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { createLessonsForTask } from '../../../src/lessons/lessons-for-task.ts';
import { openLessons } from '../../../src/lessons/open-lessons.ts';
import { createRecall } from '../../../src/lessons/recall/recall.ts';
import { comparedText } from '../../../src/lessons/similar/near-pairs.ts';
import { createReadLearnedIn } from '../../../src/lessons/visibility.ts';
import { toRecords } from '../../../src/record/records.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { openRedactor } from '../../../src/redact/open-redactor.ts';
import { readOrCreateSalt } from '../../../src/redact/salt.ts';
import { createEngineCounts, type EngineCounts } from '../measured.ts';

/** A home with an empty library, wired as the daemon wires it: the record on disk, recall, the gate. */
export interface PracticeHome {
  readonly dir: string;
  readonly config: Config;
  readonly records: Records;
  readonly library: Library;
  readonly lessonsFor: LessonsForTask;
  readonly gate: Gate;
  readonly similar: SimilarTexts;
  /** What compared tasks with lessons. */
  readonly engines: EngineCounts;
  close(): Promise<void>;
}

/** The settings are the defaults of the product. */
export async function openPracticeHome(folder: string, embed: EmbeddingModel): Promise<PracticeHome> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const home = openHome(path.join(folder, 'home'));
  const { config } = checkConfig({}, { env: {} });
  const clock = systemClock;
  const redactor = openRedactor({ salt: readOrCreateSalt(home), keys: () => [] });
  const store = openSqliteStore({ file: home.storeFile });
  const records = toRecords(store, clock.now, redactor);
  const fallback = createNgramEmbed();
  const { library, effects } = await openLessons({
    records,
    clock,
    newId: createIds(clock),
    embed,
    onFault: (error) => {
      throw error;
    },
  });
  const index = createRecall({
    embed,
    fallback,
    limits: config.library,
    usefulness: effects.usefulness,
    learnedIn: createReadLearnedIn(records),
    patterns: config.library.domains.map((pattern) => compact(pattern)),
  });
  const engines = createEngineCounts();
  const nearest = createNearestLessons({ embed: embed.embed }, library);
  const toLessons: SimilarTexts['toLessons'] = async (text, among) =>
    (await nearest(comparedText({ text }), among.length, among)).map(({ lesson: { id }, cosine }) => ({
      id,
      cosine,
    }));
  return {
    dir: home.dir,
    config,
    records,
    library,
    lessonsFor: createLessonsForTask({
      library: () => library,
      recall: async (query, now) => {
        await index.update(library.shown(now));
        const found = await index.recall(query, now);
        engines.add(found.engine);
        return found;
      },
      now: clock.now,
    }),
    gate: createGate({
      autonomy: config.library.autonomy,
      checkText: checkLessonText,
      hasSecret: redactor.hasSecret,
      findSimilar: toLessons,
      embed: embed.embed,
      voteDay: (at) => new Date(at).toDateString(),
    }),
    similar: { toLessons, embed: embed.embed },
    engines,
    close: async () => {
      await fallback.close();
      store.close();
    },
  };
}
