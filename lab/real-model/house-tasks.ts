import { createRandom, type Random } from '../../src/base/random.ts';
import type { LessonPlace, PlacedLessons } from '../../src/core/lesson.ts';
import type { TrainingTask } from '../../src/core/task-source.ts';
import {
  drawReadingTasks,
  familyOf,
  openFileAttempt,
  type ReadingTask,
  requestFor,
} from '../../train/reading/draw-tasks.ts';
import { FAMILIES, HELD_OUT_FAMILIES } from '../../train/reading/families.ts';
import {
  drawFacts,
  goTogether,
  pickOne,
  type ReadingFamily,
  type ReadingSplit,
  shuffle,
  valuesFor,
} from '../../train/reading/family.ts';
import type { ReadingForm } from '../../train/reading/form.ts';
import type { ReadingRule } from '../../train/reading/grade-file.ts';
import { drawPlainTasks } from '../../train/reading/plain-tasks.ts';
import { showRules } from '../../train/reading/told-rules.ts';

/** The rules of one person: two for each of three kinds of files, with values that the reading stage never trained. */
export type House = readonly ReadingRule[];

const FAMILIES_OF_A_HOUSE = 3;
const REPORT: ReadingSplit = 'report';

export function drawHouse(seed: number): House {
  const random = createRandom(`house/${seed}`);
  const families = shuffle(
    random,
    FAMILIES.filter(({ id }) => !HELD_OUT_FAMILIES.has(id)),
  ).slice(0, FAMILIES_OF_A_HOUSE);
  return families.flatMap((family) => {
    const [first, second] = pairOf(family, random);
    return [first, second].map((form) => ({ form, value: pickOne(random, valuesFor(form.values, REPORT)) }));
  });
}

/** Two rules that a plain file does not follow by itself. */
function pairOf(family: ReadingFamily, random: Random): readonly [ReadingForm, ReadingForm] {
  for (const first of shuffle(random, family.forms)) {
    const second = shuffle(random, family.forms).find(
      (other) => goTogether(family, first, other) && hasOthers(other),
    );
    if (second !== undefined && hasOthers(first)) return [first, second];
  }
  throw new Error(`${family.id} has no two rules that go together`);
}

/** Somebody else's value for the same rule can be drawn from either split. */
const hasOthers = ({ values }: ReadingForm): boolean => valuesFor(values, REPORT).length > 1;

/**
 * `told`: with the lessons of the house. `silent`: without any. `changed`: the prompt says other values than the house's.
 */
type HouseCondition = 'told' | 'silent' | 'changed';

interface HouseOptions {
  readonly house: House;
  readonly count: number;
  readonly seed: number;
  readonly place: LessonPlace;
  /** Of requests, facts and, where it changed, values. */
  readonly split: ReadingSplit;
}

const NO_LESSONS: PlacedLessons = { text: '' };

/** Requests for files of the house. Of `told` ones, right replies are learned as if nothing had been shown. */
export function drawHouseTasks(condition: HouseCondition, options: HouseOptions): readonly ReadingTask[] {
  const { house, count, seed, place, split } = options;
  const families = [...new Set(house.map(({ form }) => form.family))];
  return Array.from({ length: count }, (_, at): ReadingTask => {
    const id = `house/${condition}/${split}/${seed}/${at}`;
    const random = createRandom(id);
    const own = house.filter(({ form }) => form.family === families[at % families.length]);
    const [first] = own;
    if (first === undefined) throw new Error('a house has rules for each of its kinds of files');
    const family = familyOf(first.form);
    const facts = drawFacts(family, split, random);
    const request = requestFor(family, split, random, facts);
    const rules = condition === 'changed' ? own.map((rule) => otherValue(rule, split, random)) : own;
    const about = (rule: ReadingRule) => ({ rule, request: requestFor(family, split, random) });
    const shown = condition === 'silent' ? NO_LESSONS : showRules(rules.map(about), place, { split, random });
    return {
      ...{ id, family, facts, rules, shown, recall: { task: request }, form: first.form.id },
      ...(condition === 'told' && { learnedWith: NO_LESSONS }),
      condition: 'present',
      stray: [],
      // What other people's houses ask of such files.
      untold: own.map((rule) => otherValue(rule, REPORT, random)),
      open: async () => openFileAttempt(request, { family, facts, rules, stray: [] }),
    };
  });
}

function otherValue({ form, value }: ReadingRule, split: ReadingSplit, random: Random): ReadingRule {
  const others = valuesFor(form.values, split).filter((one) => one !== value);
  return { form, value: pickOne(random, others) };
}

/**
 * What is learned so that the rules of a house need no lesson any more. Besides the house's own requests: requests for its files under other
 * values, so that a prompt still decides; lessons of other people, so that reading is kept; and what no rule is about.
 */
export function rememberHouse({
  house,
  place,
  seed,
  count,
}: Pick<HouseOptions, 'house' | 'place' | 'seed' | 'count'>): readonly TrainingTask[] {
  const share = (part: number): number => Math.round(count * part);
  const own = { house, place, seed, split: 'train' } as const;
  return shuffle(createRandom(`remember/${seed}`), [
    ...drawHouseTasks('told', { ...own, count: share(0.4) }),
    ...drawHouseTasks('changed', { ...own, count: share(0.12) }),
    ...drawReadingTasks({
      ...{ set: 'trained', place, seed: seed + 3_000, count: share(0.28) },
      mix: { present: 5, contradicted: 3, absent: 1, irrelevant: 1 },
    }),
    ...drawPlainTasks(share(0.2), seed),
  ]);
}
