import type { QuestionJournal } from '../../../lab/report/question-report.ts';
import type { NightRecord, QuestionRecord, RunHead } from '../../../lab/suites/run-records.ts';
import { createRandom } from '../../../src/base/random.ts';

/** A default row with the fields a test is about. */
export const row = (over: Partial<QuestionRecord>): QuestionRecord => ({
  condition: 'baseline',
  seed: 1,
  day: 0,
  dayId: 'day01',
  question: 'q1',
  kind: 'choice',
  rules: [],
  broken: [],
  lessons: [],
  generation: 0,
  taught: [],
  steps: 1,
  inputTokens: 100,
  outputTokens: 10,
  usd: 0.001,
  ms: 20,
  overheadMs: 2,
  ...over,
});

export const graded = (score: number, over: Partial<QuestionRecord> = {}): QuestionRecord =>
  row({ score, passed: score === 1, ...over });

/** A night with a promoted checkpoint. */
export const night = (over: Partial<NightRecord> = {}): NightRecord => ({
  condition: 'full',
  seed: 1,
  day: 0,
  steps: 6,
  first: { reward: 0.7, completion: 0.609375 },
  last: { reward: 0.9, completion: 0.921875 },
  pairs: 40,
  candidate: 0.95,
  live: 0.575,
  moves: ['version 6 live: at least 16.1 points on 40 held-out tasks'],
  serving: 6,
  ms: 20_433,
  ...over,
});

const head = (over: Partial<RunHead> = {}): RunHead => ({
  run: 'r1',
  suite: 'workdays',
  options: { form: 'full' },
  policy: 'scripted',
  conditions: ['baseline', 'skills'],
  seeds: [1],
  questions: 4,
  rules: [],
  arms: 2,
  startedAt: '2026-03-02T09:00:00.000Z',
  version: '0.1.0',
  notes: [],
  ...over,
});

export const journal = (rows: readonly QuestionRecord[], over: Partial<RunHead> = {}): QuestionJournal => ({
  head: head(over),
  rows,
  lessons: [],
  nights: [],
});

export function shuffled<T>(given: readonly T[], seed: string): readonly T[] {
  const random = createRandom(seed);
  const out = [...given];
  for (let place = out.length - 1; place > 0; place--) {
    const other = random.below(place + 1);
    const [one, two] = [out[place], out[other]];
    if (one !== undefined && two !== undefined) {
      out[place] = two;
      out[other] = one;
    }
  }
  return out;
}
