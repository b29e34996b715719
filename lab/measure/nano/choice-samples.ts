import type { Random } from '../../../src/base/random.ts';
import type { NanoReply } from '../../../train/nano/policy/nano-template.ts';
import { makeChoices } from '../../suites/workdays/choices/make-choices.ts';
import { shuffled } from '../../suites/workdays/draw.ts';
import { makeRuleChoice } from '../../suites/workdays/rules/make-rule-choice.ts';
import type { DayFacts } from '../../suites/workdays/world.ts';
import type { DayTask } from './day-tasks.ts';
import { lessonOf } from './draw-lessons.ts';
import { createPlaceholders } from './placeholders.ts';
import { type DraftLine, distractorsFor, linesFor, type Sample } from './sample-lines.ts';
import { drawSeenRules } from './seen-rules.ts';

/** The probability that a letter of a known choice is inverted. */
const SLIP_OF_LETTER = 0.03;

/** Questions on documents and on rules. */
export function* makeChoiceSamples(
  facts: DayFacts,
  tasks: readonly DayTask[],
  seed: number,
  mayOpen: boolean,
  random: Random,
): Generator<Sample> {
  const ids = Array.from({ length: 3 }, (_, at) => `c${at}`);
  const papers = makeChoices({ facts, ids, seed: `samples/${seed}`, asked: new Set() });
  for (const { text, answer, options } of papers)
    yield choiceSample(
      'choice',
      text,
      answer,
      Object.keys(options),
      random.next() < 0.4 ? [] : distractorsFor('skill', random),
      true,
      mayOpen,
      random,
    );
  const rules = drawSeenRules(`choice/${seed}`, 4);
  for (const [at, rule] of rules.entries()) {
    const question = tryQuestion(() =>
      makeRuleChoice({
        rule,
        day: facts.day,
        id: `r${at}`,
        split: 'train',
        seed: `samples/${seed}/${at}`,
        rules: { name: 'seen', rules: [rule] },
      }),
    );
    if (question === undefined) continue;
    const isKnown = random.next() >= 0.15;
    const others = shuffled(
      random,
      rules.filter((other) => other !== rule),
    ).slice(0, random.below(4));
    const lessons = [...(isKnown ? [rule] : []), ...others].map((one) => lessonOf(one, tasks));
    yield choiceSample(
      'rule-choice',
      question.text,
      question.answer,
      Object.keys(question.options),
      linesFor(lessons, random),
      isKnown,
      mayOpen,
      random,
    );
  }
}

/** Some rules can be shown in too few ways to make a question of. */
function tryQuestion<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function choiceSample(
  kind: 'choice' | 'rule-choice',
  text: string,
  answer: readonly string[],
  letters: readonly string[],
  lines: readonly DraftLine[],
  isKnown: boolean,
  mayOpen: boolean,
  random: Random,
): Sample {
  const { open } = createPlaceholders();
  const say = (chosen: readonly string[]): NanoReply => ({ is: 'say', text: `\\bbox{${chosen.join(',')}}` });
  const isOpen = mayOpen && random.next() < 0.5;
  const shown = (said: string): string => (isOpen ? open(said) : said);
  const replied = (): NanoReply => say(isKnown ? slipped(answer, letters, random) : anyOf(letters, random));
  return {
    kind,
    task: shown(text),
    lines: lines.map(({ mark, texts }) => ({ mark, texts: texts.map(({ text: said }) => shown(said)) })),
    clean: isKnown ? say(answer) : replied(),
    noisy: [replied()],
  };
}

const slipped = (
  answer: readonly string[],
  letters: readonly string[],
  random: Random,
): readonly string[] => {
  const chosen = letters.filter((letter) => answer.includes(letter) !== random.next() < SLIP_OF_LETTER);
  return chosen.length === 0 ? answer : chosen;
};

const anyOf = (letters: readonly string[], random: Random): readonly string[] => {
  const bits = 1 + random.below(2 ** letters.length - 1);
  return letters.filter((_, at) => ((bits >> at) & 1) === 1);
};
