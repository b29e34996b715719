import type { QuestionJournal } from '../../../lab/report/question-report.ts';
import type { Condition } from '../../../lab/suites/arms.ts';
import type { LessonRecord, NightRecord, QuestionRecord, RunHead } from '../../../lab/suites/run-records.ts';
import { createRandom, type Random } from '../../../src/base/random.ts';

export interface Simulation {
  readonly name?: string;
  readonly conditions?: readonly Condition[];
  readonly seeds?: number;
  readonly days?: number;
  readonly choices?: number;
  readonly files?: number;
  /** How often an untaught rule is followed, and a taught one; equal numbers make learning worthless. */
  readonly untaught?: number;
  readonly taught?: number;
  /** The share of questions that cannot be graded. */
  readonly ungraded?: number;
  readonly lessonName?: (rule: string) => string;
}

/** The house rules of a run of the workdays suite over fourteen days. */
export const RULES: RunHead['rules'] = [
  { id: 'P1', title: 'Times carry the house offset', since: 0 },
  { id: 'P2', title: 'Files are named by date and topic', since: 3 },
  { id: 'P3', title: 'A copy is kept before a change', since: 5 },
  { id: 'P4', title: 'Records name who, when and why', since: 7 },
  { id: 'P5', title: 'Finished work is logged', since: 9 },
];
const ARCS = ['onboarding', 'naming', 'caution', 'accountability', 'closing', 'all together'];

/** The chance of a right answer apart from the rules; later days are harder. */
const skill = (day: number): number => 0.86 - 0.012 * day;

/**
 * A journal as a scripted policy produces it: whether a rule is followed depends only on whether a lesson in the prompt teaches it.
 * The baseline has no lessons; `skills` has learned a rule by the end of its first day or the next one; `full` also follows
 * untaught rules a little more often from day to day.
 */
export function simulateJournal(simulation: Simulation = {}): QuestionJournal {
  const { name = 'sim', seeds = 3, days = 14, choices = 31, files = 11 } = simulation;
  const conditions = simulation.conditions ?? ['baseline', 'skills', 'full'];
  const rows: QuestionRecord[] = [];
  const lessons: LessonRecord[] = [];
  const nights: NightRecord[] = [];
  for (const condition of conditions) {
    for (let seed = 1; seed <= seeds; seed++) {
      const random = createRandom(`${name}/${condition}/${seed}`);
      // The difficulty of a question is the same under every condition, so that pairing reduces the variance.
      const luck = createRandom(`${name}/questions/${seed}`);
      const learnedOn = new Map(RULES.map(({ id, since }) => [id, since + random.below(2)]));
      for (let day = 0; day < days; day++) {
        const ask = askOn(simulation, { condition, seed, day, learnedOn, random, luck });
        for (let n = 0; n < choices; n++) rows.push(ask('choice', `q${String(n + 1).padStart(2, '0')}`));
        for (let n = 0; n < files; n++) rows.push(ask('files', `f${String(n + 1).padStart(2, '0')}`));
        if (condition === 'baseline') continue;
        if (condition === 'full' && day < days - 1)
          nights.push(nightAfter(day, seed, [...learnedOn.values()], nights.at(-1)));
        for (const { id } of RULES.filter((rule) => (learnedOn.get(rule.id) ?? days) <= day)) {
          const age = day - (learnedOn.get(id) ?? 0);
          lessons.push({
            condition,
            seed,
            day,
            id: `lesson-${id}`,
            name: simulation.lessonName?.(id) ?? `keep-to-${id.toLowerCase()}`,
            state: age < 2 ? 'trial' : 'live',
            teaches: [id],
          });
        }
        if (day >= 2) {
          lessons.push({
            condition,
            seed,
            day,
            id: 'lesson-idle',
            name: 'read-the-brief-twice',
            state: day < 6 ? 'trial' : 'retired',
            teaches: [],
          });
        }
      }
    }
  }
  return {
    head: headOf(name, conditions, { seeds, questions: days * (choices + files) }),
    rows,
    lessons,
    nights,
  };
}

/** Weights are trained after a day on which a rule was learned; the second time they turn out to be no better. */
function nightAfter(
  day: number,
  seed: number,
  learnedOn: readonly number[],
  before: NightRecord | undefined,
): NightRecord {
  const place = { condition: 'full', seed, day } as const;
  const serving = before?.seed === seed ? before.serving : 0;
  const nth = learnedOn.filter((one) => one < day).length;
  if (!learnedOn.includes(day)) return { ...place, steps: 0, pairs: 0, moves: [], serving, ms: 0 };
  const isKept = nth !== 1;
  const version = 6 * (nth + 1);
  return {
    ...place,
    steps: 6,
    first: { reward: 0.6, completion: 0.55 + 0.02 * nth },
    last: { reward: 0.8, completion: 0.75 + 0.02 * nth },
    pairs: isKept ? 55 : 300,
    candidate: isKept ? 0.78 : 0.66,
    live: 0.65,
    moves: [
      isKept
        ? `version ${version} live: at least 2.1 points on 55 held-out tasks`
        : `version ${version} rejected: 300 tasks do not show it`,
    ],
    serving: isKept ? version : serving,
    ms: 18_000,
  };
}

const headOf = (
  name: string,
  conditions: readonly Condition[],
  { seeds, questions }: { readonly seeds: number; readonly questions: number },
): RunHead => ({
  run: name,
  suite: 'workdays',
  options: { rules: 'house', split: 'report', form: 'full' },
  policy: 'scripted',
  conditions,
  seeds: Array.from({ length: seeds }, (_, place) => place + 1),
  questions,
  rules: RULES,
  arms: 2,
  startedAt: '2026-03-02T09:00:00.000Z',
  version: '0.1.0',
  notes: [],
});

interface Place {
  readonly condition: Condition;
  readonly seed: number;
  readonly day: number;
  readonly learnedOn: ReadonlyMap<string, number>;
  readonly random: Random;
  readonly luck: Random;
}

function askOn(
  { untaught = 0.35, taught = 0.92, ungraded = 0, ...simulation }: Simulation,
  { condition, seed, day, learnedOn, random, luck }: Place,
): (kind: QuestionRecord['kind'], question: string) => QuestionRecord {
  const active = RULES.filter(({ since }) => since <= day).map(({ id }) => id);
  const known = condition === 'baseline' ? [] : active.filter((id) => (learnedOn.get(id) ?? 0) < day);
  const arc = ARCS[Math.min(ARCS.length - 1, Math.floor((day * ARCS.length) / (simulation.days ?? 14)))];
  return (kind, question) => {
    const hardness = luck.next();
    const pick = luck.below(active.length);
    const alsoPick = luck.below(active.length);
    const own =
      kind === 'files'
        ? [...new Set([active[pick] ?? 'P1', active[alsoPick] ?? 'P1'])].sort()
        : hardness < 0.3
          ? [active[pick] ?? 'P1']
          : [];
    const drift = condition === 'full' ? Math.min(0.25, 0.02 * day) * Math.sign(taught - untaught) : 0;
    const broken = own.filter((rule) => random.next() >= (known.includes(rule) ? taught : untaught + drift));
    const isAble = luck.next() < skill(day) ? random.next() < 0.96 : random.next() < 0.1;
    const isLost = random.next() < ungraded;
    const passed = isAble && broken.length === 0;
    const score = passed ? 1 : kind === 'files' ? 0 : Math.floor(random.next() * 4) / 4;
    return {
      condition,
      seed,
      day,
      dayId: `day${String(day + 1).padStart(2, '0')}`,
      ...(arc === undefined ? {} : { arc }),
      question,
      kind,
      ...(isLost ? { why: 'the check did not run' } : { score, passed }),
      rules: own,
      broken: isLost ? [] : broken,
      lessons: known.map((id) => `lesson-${id}`),
      generation: known.length,
      taught: own.filter((rule) => known.includes(rule)),
      steps: kind === 'files' ? 3 + random.below(4) : 1,
      inputTokens: 900 + 120 * known.length + random.below(400),
      outputTokens: kind === 'files' ? 160 + random.below(120) : 20 + random.below(30),
      usd: 0.0004 + 0.0001 * known.length,
      ms: 40 + random.below(60),
      overheadMs: 1.5 + random.next() * (condition === 'baseline' ? 1 : 4),
    };
  };
}
