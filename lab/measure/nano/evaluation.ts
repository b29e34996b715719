import { renderTask } from '../../../nano/policy/render-prompt.ts';
import type { NanoTokenizer } from '../../../nano/policy/tokenizer.ts';
import { createRandom } from '../../../src/base/random.ts';
import type { SuiteQuestion } from '../../suite/suite.ts';
import { pick, shuffled } from '../../workdays/draw.ts';
import { HOUSE_RULES } from '../../workdays/rules/house-rules.ts';
import { OTHER_RULES } from '../../workdays/rules/other-rules.ts';
import type { RuleSet } from '../../workdays/rules/rule-set.ts';
import { createWorkdays } from '../../workdays/workdays.ts';
import type { LessonPool } from './lessons.ts';
import { makeForeignTask } from './samples.ts';

/** A prompt of the gate split, and the place of its question. */
export interface EvaluationPrompt {
  readonly condition: string;
  readonly seed: number;
  readonly day: number;
  readonly question: string;
  readonly prompt: readonly number[];
}

/** Every rule counts from the first day on. */
const fromTheStart = ({ name, rules }: RuleSet): RuleSet => ({
  name,
  rules: rules.map((rule) => ({ ...rule, since: 0 })),
});
const HOUSE = fromTheStart(HOUSE_RULES);
const OTHER = fromTheStart(OTHER_RULES);

const EVALUATION_SEED = 30_000;
const rulesIn = (condition: string): RuleSet => (condition.startsWith('other') ? OTHER : HOUSE);

/** [condition, kind of questions, count, the split whose wording the lessons have] */
const CONDITIONS: readonly (readonly [
  string,
  'files' | 'choice' | 'rule',
  number,
  'none' | 'gate' | 'train',
])[] = [
  ['skills', 'files', 500, 'gate'],
  ['skills in seen words', 'files', 250, 'train'],
  ['no skills', 'files', 250, 'none'],
  ['other rules', 'files', 200, 'gate'],
  ['choices', 'choice', 300, 'none'],
  ['rule choices', 'rule', 250, 'gate'],
  ['rule choices, no skills', 'rule', 150, 'none'],
];

/** Questions of the gate split with lessons that the distiller made from its feedback, and texts that are not tasks. */
export function makeEvaluation(
  lessons: { readonly train: LessonPool; readonly gate: LessonPool },
  tokenizer: NanoTokenizer,
): readonly EvaluationPrompt[] {
  const asked = CONDITIONS.flatMap(([condition, kind, count, words], number) => {
    const out: EvaluationPrompt[] = [];
    for (let seed = EVALUATION_SEED; out.length < count; seed++) {
      const random = createRandom(`evaluation/${condition}/${seed}`);
      const rules = rulesIn(condition);
      const { days } = createWorkdays({ seed, split: 'gate', form: 'short', rules });
      for (const [day, { questions }] of days.entries())
        for (const question of questions) {
          const of = question.kind === 'files' ? 'files' : question.rule === undefined ? 'choice' : 'rule';
          if (of !== kind || out.length >= count || random.below(3) !== number % 3) continue;
          const pool = words === 'none' ? undefined : lessons[words];
          const lines = rules.rules.flatMap(({ id }) =>
            pool === undefined ? [] : pick(random, pool.get(id) ?? ['']),
          );
          const prompt = renderTask(shuffled(random, lines), question.text, tokenizer);
          if (prompt.is === 'prompt')
            out.push({ condition, seed, day, question: question.id, prompt: [...prompt.tokens] });
        }
    }
    return out;
  });
  const random = createRandom('evaluation/foreign');
  const foreign = Array.from({ length: 100 }, (_, at): readonly EvaluationPrompt[] => {
    const prompt = renderTask([], makeForeignTask(random), tokenizer);
    return prompt.is === 'prompt'
      ? [{ condition: 'foreign', seed: 0, day: 0, question: `f${at}`, prompt: [...prompt.tokens] }]
      : [];
  });
  return [...asked, ...foreign.flat()];
}

export const questionOf = ({ condition, seed, day, question }: EvaluationPrompt): SuiteQuestion | undefined =>
  createWorkdays({ seed, split: 'gate', form: 'short', rules: rulesIn(condition) }).days[day]?.questions.find(
    ({ id }) => id === question,
  );
