import path from 'node:path';
import type { Lesson, LessonText } from '../../../src/core/lesson.ts';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import { vectorKey } from '../../../src/lessons/recall/embedding-queue.ts';
import { lessonTexts } from '../../../src/lessons/recall/lesson-texts.ts';
import { openVectorCache } from '../../../src/lessons/recall/vector-cache.ts';
import { comparedText } from '../../../src/lessons/similar/compare.ts';
import { openSqliteStore } from '../../../src/record/store/sqlite-store.ts';
import { createText } from '../gateway/traffic.ts';
import { taughtText } from '../plain-lesson.ts';
import { createMulberry32, randomVector } from '../recall/synthetic.ts';

export interface LibrarySize {
  readonly lessons: number;
  /** How many of them are for the agent that asks; the others are for other agents. */
  readonly inScope: number;
}

const SET = 50;
const VECTORS = 2000;
const HOUR_MS = 3_600_000;
const TRIGGERS = 3;
/** The agent of the paced day. */
const ASKER = 'pace';

/**
 * Live lessons with three triggers each in the record, and a vector for each of their texts where the daemon keeps them: random
 * ones, since the model would need hours for them, and a scan takes the same time over any.
 */
export async function fillLessons(home: string, { lessons, inScope }: LibrarySize): Promise<void> {
  const store = openSqliteStore({ file: path.join(home, 'instar.sqlite') });
  const model = createMiniLmEmbed();
  const vectors = await openVectorCache(path.join(home, 'vectors.bin'), model.id, model.dimensions);
  const random = createMulberry32(lessons);
  const pool = Array.from({ length: VECTORS }, () => randomVector(random, model.dimensions));
  const start = Date.now() - 300 * 24 * HOUR_MS;
  const words = createText(lessons);
  const every = lessons / inScope;
  let given = 0;
  for (let from = 0, set = 0; from < lessons; from += SET, set++) {
    const changes = Array.from({ length: Math.min(SET, lessons - from) }, (_, index) => {
      const n = from + index;
      const agent = n % every < 1 ? ASKER : `agent-${n % 97}`;
      return {
        op: 'add' as const,
        id: `lesson_${n.toString(36).padStart(6, '0')}`,
        kind: 'skill' as const,
        state: 'live' as const,
        text: lessonTextOf(n, agent, words),
      };
    });
    for (const { id, kind, state, text } of changes) {
      const lesson: Lesson = { id, kind, state, text, ...UNCHANGED };
      const { cues, whole } = lessonTexts(lesson);
      for (const one of [...cues, whole, comparedText(lesson)])
        vectors.put(vectorKey(one), pool[given++ % VECTORS] ?? new Float32Array(model.dimensions));
    }
    store.append({
      facts: [
        {
          at: start + set * HOUR_MS,
          fact: {
            type: 'library-changed',
            set: `c_${set}`,
            by: { kind: 'learner', name: 'distiller' },
            reason: `distiller: set ${set}`,
            changes,
            generation: set + 1,
          },
        },
      ],
    });
  }
  await vectors.close();
  await model.close();
  store.close();
}

const UNCHANGED = { revision: 1, pinned: false, frozen: false, createdAt: 0, changedAt: 0 };

const lessonTextOf = (n: number, agent: string, words: (length: number) => string): LessonText =>
  taughtText(
    {
      name: `rule-${n}`,
      description: `When ${words(70)}`,
      content: `The user said:\n\n> Rule ${n}: ${words(350)}`,
      scope: { agent },
    },
    {
      keywords: [words(8).trim(), words(8).trim()],
      confidence: 0.9,
      triggers: Array.from({ length: TRIGGERS }, (_, at) => `${n} ${at} ${words(60)}`),
    },
  );
