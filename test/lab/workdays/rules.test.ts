import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeFileQuestions } from '../../../lab/suites/workdays/files/make-file-questions.ts';
import { HOUSE_RULES } from '../../../lab/suites/workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../../lab/suites/workdays/rules/other-rules.ts';
import { createLineFormat } from '../../../lab/suites/workdays/rules/task-record-forms.ts';
import { createTimeFormat } from '../../../lab/suites/workdays/rules/value-forms.ts';
import { SPLITS } from '../../../lab/suites/workdays/world.ts';
import { createRandom } from '../../../src/base/random.ts';
import { dayOf } from './files-day.ts';

const SETS = [HOUSE_RULES, OTHER_RULES];
const RULES = SETS.flatMap((set) => set.rules.map((rule) => [rule.id, rule, set] as const));

describe('both sets', () => {
  it('have five rules each, which count from the days 1, 4, 6, 8 and 10 on', () => {
    for (const { rules } of SETS) expect(rules.map(({ since }) => since)).toEqual([0, 3, 5, 7, 9]);
    expect(new Set(RULES.map(([, { form }]) => form)).size).toBe(10);
  });

  it.each(RULES)(
    '%s has nine feedback wordings, three for each split, and each contains everything needed to obey',
    (_, rule, set) => {
      const day = dayOf('train', 'tell', 13);
      const { questions } = makeFileQuestions({
        day,
        rules: set,
        count: 8,
        seed: 'tell',
        split: 'train',
      });
      const plan = questions.find(({ rules }) => rules.includes(rule.id))?.plan;
      if (plan === undefined) throw new Error('no task');
      const ways = SPLITS.map(
        (split) =>
          new Set(
            Array.from({ length: 60 }, (_, number) => rule.tell(plan, split, createRandom(`tell/${number}`))),
          ),
      );
      expect(ways.map(({ size }) => size)).toEqual([3, 3, 3]);
      const all = ways.flatMap((way) => [...way]);
      expect(new Set(all).size).toBe(9);
      for (const said of all) {
        expect(rule.isTaughtBy(said), said).toBe(true);
        expect(said).not.toMatch(/\bcheck(?:er|s|ed)?\b|verif|\btest|\brule\b|\bP\d\b|\bQ\d\b|undefined|\{/i);
        for (const [, other] of RULES)
          if (other !== rule) expect(other.isTaughtBy(said), `${other.id}: ${said}`).toBe(false);
      }
    },
  );
});

/** Lessons as a model or a person might write them, in other words than the feedback. */
const LESSONS: readonly (readonly [id: string, lesson: string])[] = [
  [
    'P1',
    '## Timestamps\n1. Format each timestamp as `YYYY-MM-DDTHH:MM:SS+08:00`.\n- Wrong: 2026-03-16T09:30:00Z',
  ],
  ['P1', 'Date/time fields follow ISO 8601 and carry the +08:00 timezone offset.'],
  ['P2', 'Output files: `20260316_incident_report.json` - date first, then snake_case.'],
  ['P2', 'Prefix file names with YYYYMMDD and use underscores between lowercase words.'],
  [
    'P3',
    'JSON gets a `meta` object (created_at, author, status); Markdown gets frontmatter. status: pending | in_progress | done',
  ],
  ['P4', 'cp <file> <file>.bak first, then edit.'],
  ['P5', 'Append `[DONE] <time> | <id> | <what>` to done.log; keep the last part under 80 characters.'],
  ['Q1', 'Keys inside of JSON are listed alphabetically.'],
  ['Q2', 'Refer to a ticket as "OPS-1234".'],
  ['Q3', 'Never write a naked amount: the unit belongs to it.'],
  [
    'Q4',
    'Top of each new file: `"_comment": "Internal - not for customers"` (Markdown: as an HTML comment).',
  ],
  ['Q5', 'Run `sha256sum FILE >> checksums.txt` for all that was touched.'],
];

const UNRELATED = [
  'Write unit tests for new functions and keep the number of assertions small.',
  'When a command fails, read its output before you run it again. Keep keys and other secrets out of logs.',
  'Answer the question first, then give reasons. Use the metadata of the file to find its author.',
  'Dates in letters are written out. A backup of the database is taken every night before midnight.',
  'Times are given in UTC, as 2026-03-16T09:30:00Z.',
];

describe('what a lesson teaches', () => {
  it.each(LESSONS)('%s is taught by: %s', (id, lesson) => {
    expect(RULES.filter(([, rule]) => rule.isTaughtBy(lesson)).map(([name]) => name)).toEqual([id]);
  });

  it.each(UNRELATED)('nothing is taught by: %s', (lesson) => {
    expect(RULES.filter(([, rule]) => rule.isTaughtBy(lesson)).map(([name]) => name)).toEqual([]);
  });

  it('is neither in the text of a task nor in the files of a day', () => {
    let looked = 0;
    for (const set of SETS)
      for (const split of SPLITS)
        for (let index = 0; index < 14; index++) {
          const seed = `text/${split}/${index}`;
          const day = dayOf(split, seed, index);
          const { questions, files } = makeFileQuestions({ day, rules: set, count: 11, seed, split });
          const texts = [...questions.map(({ text }) => text), Object.values(files).join('\n')];
          const taught = texts.flatMap((text) =>
            RULES.filter(([, rule]) => rule.isTaughtBy(text)).map(([id]) => `${id}: ${text}`),
          );
          expect(taught).toEqual([]);
          looked += texts.length;
        }
    expect(looked).toBe(3 * 2 * 14 * 12);
  });
});

const moment = fc.record({
  year: fc.integer({ min: 2000, max: 2099 }),
  month: fc.integer({ min: 1, max: 12 }),
  day: fc.integer({ min: 1, max: 28 }),
  hour: fc.integer({ min: 0, max: 23 }),
  minute: fc.integer({ min: 0, max: 59 }),
});

describe('a time format', () => {
  const iso = createTimeFormat('YYYY-MM-DDTHH:mm:ss+08:00');

  it('matches what it writes, and nothing that differs in one character', () => {
    fc.assert(
      fc.property(moment, fc.nat(24), fc.string({ minLength: 1, maxLength: 1 }), (at, place, other) => {
        const written = iso.write(at);
        expect(iso.fits(written)).toBe(true);
        const changed = written.slice(0, place) + other + written.slice(place + 1);
        const isDigit = /\d/.test(other) && /\d/.test(written.charAt(place)) && place < 19;
        if (changed !== written && !isDigit) expect(iso.fits(changed)).toBe(false);
        expect(iso.fits(`${written} `)).toBe(false);
        expect(iso.fits(written.slice(0, -1))).toBe(false);
      }),
    );
  });

  it.each([
    '2026-02-30T09:30:00+08:00',
    '2026-13-01T09:30:00+08:00',
    '2026-03-01T24:30:00+08:00',
    '2026-03-01T09:60:00+08:00',
  ])('does not match %s, which is not a valid time', (text) => expect(iso.fits(text)).toBe(false));
});

describe('a line format', () => {
  it('reads what it writes', () => {
    const word = fc.string({ maxLength: 20 }).filter((text) => !text.includes('|') && !text.includes('\n'));
    const format = createLineFormat('[DONE] <timestamp> | <task id> | <summary>');
    fc.assert(
      fc.property(word, word, fc.string(), (time, task, summary) => {
        const parts = { timestamp: time, 'task id': task, summary };
        expect(format.read(format.write(parts))).toEqual(parts);
      }),
    );
    expect(format.read('[DONE] now, t1, done')).toBeUndefined();
    expect(format.read(' [DONE] now | t1 | done')).toBeUndefined();
  });
});
