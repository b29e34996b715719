import { readFileSync } from 'node:fs';
import { PACKAGE_ROOT } from '../../src/base/package.ts';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';
import type { LessonText } from '../../src/core/lesson.ts';
import { encodeChange } from '../../src/lessons/codec.ts';

/**
 * Lessons of other domains (databases, git, containers, front ends, households …) in the style of skill files, in our own
 * words. None of them is about dates, names of files, backups, logs, units or the order of fields, which house rules are about.
 * The path is the same from the built file and from its source.
 */
const DATA = new URL('lab/suites/distractors.jsonl', PACKAGE_ROOT);

/** The first `count` distractors as changes that a person makes to a library: what stands beside the lessons of a task in training. */
export function distractorChanges(count: number): readonly JsonObject[] {
  const rows = readFileSync(DATA, 'utf8').split('\n').filter(Boolean).slice(0, count);
  if (rows.length < count) throw new RangeError(`there are only ${rows.length} distractors`);
  return rows.map((row) => {
    const { name, description, content, triggers } = asObject(parseJson(row));
    const text: LessonText = {
      name: asString(name) ?? '',
      description: asString(description) ?? '',
      content: asString(content) ?? '',
      scope: {},
      note: {
        keywords: [],
        tags: [],
        importance: 0.5,
        confidence: 0.5,
        source: 'told',
        visibility: 'shared',
        halfLifeDays: 30,
        links: [],
        ...(triggers === undefined ? {} : { triggers: asArray(triggers).map(String) }),
      },
      evidence: { turns: [], quotes: [], learner: 'person' },
      taint: [],
    };
    return encodeChange({ op: 'add', id: `distractor-${text.name}`, kind: 'skill', state: 'live', text });
  });
}
