import { createRandom, type Random } from '../../../../src/base/random.ts';
import type { ChoiceQuestion } from '../../suite.ts';
import { between, fill, pick } from '../draw.ts';
import { applySteps, createDraft, stepsOf, type WorkDraft } from '../files/draft.ts';
import { type Plan, twoDigits } from '../files/plan.ts';
import { folderAt, type Scene } from '../files/scene.ts';
import { SHORT_TASK_KINDS } from '../files/short-tasks.ts';
import { tellToday } from '../files/spoken-time.ts';
import { observeWork } from '../files/work.ts';
import type { DayWorld, Split } from '../world.ts';
import type { HouseRule, RuleSet } from './rule-set.ts';

interface RuleChoiceOptions {
  readonly rule: HouseRule;
  readonly day: DayWorld;
  readonly id: string;
  readonly seed: string;
  readonly split: Split;
  /** The rule's set: every option obeys the other active rules of it. */
  readonly rules?: RuleSet;
}

const LETTERS = [...'ABCD'];
const TRIES = 60;
/** A rule may apply to one small task in a hundred. */
const PLAN_TRIES = 2000;
/** The most characters of a question with four options. */
const LONGEST = 320;

const STEM = '{today}. Which are our way, as to {about}?';
const ENDING = 'Answer \\bbox{X,Y}.';

interface Option {
  readonly text: string;
  readonly isRight: boolean;
  readonly why: string;
}

/**
 * A question that requires knowledge of the rule. The set of right letters is drawn first, all non-empty sets equally likely; the rule's
 * own check decides whether an option is right.
 */
export function makeRuleChoice(choice: RuleChoiceOptions): ChoiceQuestion {
  const random = createRandom(`${choice.seed}/rule-choice/${choice.rule.id}`);
  const question = compose(choice, 4, random);
  // Some rules show only in whole commands or files, of which a small policy can read two.
  return question.text.length <= LONGEST ? question : compose(choice, 2, random);
}

function compose(choice: RuleChoiceOptions, count: number, random: Random): ChoiceQuestion {
  const { rule, day, id, split } = choice;
  const pattern = 1 + random.below(2 ** count - 1);
  const others =
    choice.rules?.rules.filter(({ id: other, since }) => other !== rule.id && since <= day.index) ?? [];
  const plans = planMaker(rule, day, split, random);
  const options: Option[] = [];
  for (let tries = 0; options.length < count; tries++) {
    if (tries > TRIES * count) throw new Error(`too few ways to show ${rule.id} on ${day.id}`);
    const isRight = ((pattern >> options.length) & 1) === 1;
    const option = makeOption(rule, startOf(plans(), others), isRight, random);
    const isNew = options.every(({ text }) => text !== option.text);
    if (isNew && option.isRight === isRight) options.push(option);
  }
  const told = rule.tell(plans(), split, random);
  const letters = LETTERS.slice(0, count);
  const byLetter = letters.map((letter, at) => [letter, options[at]?.text ?? ''] as const);
  const words = { about: rule.about, today: tellToday(day.today) };
  const stem = fill(STEM, words);
  const lines = byLetter.map(([letter, text]) => `${letter}. ${text}`).join('\n');
  return {
    kind: 'choice',
    id,
    text: [stem, lines, ENDING].join('\n'),
    options: Object.fromEntries(byLetter),
    answer: letters.filter((_, at) => options[at]?.isRight === true),
    rule: rule.id,
    feedback: (chosen) => {
      if (chosen === undefined) return 'I found no letters in \\bbox{} in what you wrote.';
      const notes = letters.flatMap((letter, at) => noteOn(letter, options[at], chosen.includes(letter)));
      return notes.length === 0 ? 'That is right, all of it.' : [told, ...notes].join('\n');
    },
  };
}

function noteOn(letter: string, option: Option | undefined, isChosen: boolean): readonly string[] {
  if (option === undefined || option.isRight === isChosen) return [];
  return [
    option.isRight
      ? `I would have taken ${letter} as well.`
      : `I would not have taken ${letter} (${option.why}).`,
  ];
}

/** Yields small tasks of the day to which the rule applies. */
function planMaker(rule: HouseRule, day: DayWorld, split: Split, random: Random): () => Plan {
  let number = 0;
  return () => {
    for (let tries = 0; tries < PLAN_TRIES; tries++) {
      number++;
      const scene: Scene = {
        ...{ day, random, split },
        task: `t${twoDigits(day.index + 1)}${twoDigits(number % 100)}`,
        now: { ...day.today, hour: between(random, 9, 17), minute: random.below(60) },
        folders: [folderAt(random.below(12)), folderAt(12 + random.below(12))],
      };
      const { plan } = pick(random, SHORT_TASK_KINDS).make(scene);
      if (rule.appliesTo(plan)) return plan;
    }
    throw new Error(`nothing on ${day.id} is about ${rule.id}`);
  };
}

/** The work of somebody who obeys the other rules. */
const startOf = (plan: Plan, others: readonly HouseRule[]): WorkDraft =>
  others.reduce((draft, other) => other.obey(draft), createDraft(plan));

function makeOption(rule: HouseRule, start: WorkDraft, isRight: boolean, random: Random): Option {
  if (isRight) return show(rule, rule.obey(start), '');
  const slip = random.below(rule.slips.length + 1) === 0 ? undefined : pick(random, rule.slips);
  const slipped = slip?.make(start);
  return slipped === undefined
    ? show(rule, start, 'that is not how we do it')
    : show(rule, slipped, slip?.why ?? '');
}

function show(rule: HouseRule, draft: WorkDraft, why: string): Option {
  const { plan } = draft;
  const before = plan.edits.map((edit) => [edit.path, edit.before] as const);
  const steps = stepsOf(draft);
  const work = observeWork(plan, applySteps(new Map(before), steps));
  return { text: rule.excerpt(work, steps), isRight: rule.check(work).length === 0, why };
}
