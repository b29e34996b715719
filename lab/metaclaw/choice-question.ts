import type { ChoiceQuestion } from '../suite/suite.ts';
import { CARRY_ON } from './carry-on.ts';
import type { ChoiceRound } from './data-schema.ts';

const NO_ANSWER =
  'I could not read an answer: put the letters into \\bbox{…}, \\bbox{A} for one or \\bbox{A,B} for several.';

/**
 * After a wrong answer the user explains the options that were got wrong, those left out and those chosen, and is silent
 * about the others, as the published harness is.
 */
export function choiceQuestion(id: string, round: ChoiceRound): ChoiceQuestion {
  const { options, answer } = round.eval;
  const { correct, options: said } = round.feedback;
  const explain = (letter: string): string => (Object.hasOwn(said, letter) ? (said[letter] ?? '') : '');
  return {
    kind: 'choice',
    id,
    text: round.question,
    options,
    answer,
    feedback: (chosen) => {
      if (chosen === undefined) return `${NO_ANSWER} ${CARRY_ON}`;
      const leftOut = answer.filter((letter) => !chosen.includes(letter)).sort();
      const tooMany = chosen.filter((letter) => !answer.includes(letter)).sort();
      if (leftOut.length + tooMany.length === 0) return correct;
      const lines = [
        ...leftOut.map((letter) => `You left out ${letter}. ${explain(letter)}`),
        ...tooMany.map((letter) =>
          Object.hasOwn(options, letter)
            ? `You chose ${letter}. ${explain(letter)}`
            : `You chose ${letter}, which is no option.`,
        ),
        CARRY_ON,
      ];
      return lines.map((line) => line.trim()).join('\n');
    },
  };
}
