import { createRandom } from '../../../src/base/random.ts';
import { writeLesson } from '../../../src/learn/distiller/write-lesson.ts';
import { pick } from '../../workdays/draw.ts';
import type { PlannedQuestion } from '../../workdays/files/make-file-questions.ts';
import { HOUSE_RULES } from '../../workdays/rules/house-rules.ts';
import type { HouseRule } from '../../workdays/rules/rule-set.ts';
import { createWorkdays } from '../../workdays/workdays.ts';
import type { Split } from '../../workdays/world.ts';
import type { PairLesson } from '../recall/synthetic.ts';

type SkillText = Omit<PairLesson, 'id'>;
/** By rule id: lessons that teach the rule. */
export type LessonPool = ReadonlyMap<string, readonly SkillText[]>;

/** Lessons as the distiller writes them from the feedback of a split: they quote what the user said. */
export function makeLessons(
  split: Split,
  perRule: number,
  rules: readonly HouseRule[] = HOUSE_RULES.rules,
): LessonPool {
  const plans = createWorkdays({ seed: 900_000, split, form: 'short', rules: HOUSE_RULES })
    .days.flatMap(({ questions }) => questions)
    .flatMap((question) => (question.kind === 'files' ? [question as PlannedQuestion] : []));
  return new Map(
    rules.map((rule) => {
      const fitting = plans.filter(({ plan }) => rule.appliesTo(plan));
      const lessons = Array.from({ length: perRule }, (_, number) => {
        const random = createRandom(`lesson/${split}/${rule.id}/${number}`);
        const { plan, text } = pick(random, fitting.length === 0 ? plans : fitting);
        const count = 1 + random.below(3);
        return writeLesson({
          speaker: 'user',
          count,
          quotes: [rule.tell(plan, split, random)],
          tasks: [text],
        });
      });
      return [rule.id, lessons] as const;
    }),
  );
}
