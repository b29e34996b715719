import path from 'node:path';
import type { ChoiceQuestion } from '../../suite/suite.ts';
import { phraseFor } from '../draw.ts';
import type { Form } from '../world.ts';
import type { Claim } from './claim.ts';

interface Option {
  readonly letter: string;
  readonly claim: Claim | undefined;
}

/** What the user says to an answer: for each letter that is wrong or missing, what the papers say. */
export function choiceFeedback(
  options: readonly Option[],
  key: string,
  form: Form,
): ChoiceQuestion['feedback'] {
  return (chosen) => {
    if (chosen === undefined)
      return phraseFor(`${key}/none`, form === 'full' ? UNREADABLE : UNREADABLE_SHORT);
    const wrong = options.flatMap(({ letter, claim }) =>
      claim === undefined || chosen.includes(letter) === claim.isTrue ? [] : [{ letter, claim }],
    );
    if (wrong.length === 0) return phraseFor(`${key}/right`, form === 'full' ? RIGHT : RIGHT_SHORT);
    return form === 'short'
      ? `${phraseFor(`${key}/wrong`, WRONG_SHORT)} ${wrong.map(({ letter, claim }) => `${letter} is ${claim.isTrue ? 'right' : 'wrong'}.`).join(' ')}`
      : [
          phraseFor(`${key}/wrong`, WRONG),
          ...wrong.map(({ letter, claim }) => correct(letter, claim, key)),
        ].join('\n');
  };
}

function correct(letter: string, claim: Claim, key: string): string {
  const papers = [...new Set(claim.evidence.map((evidence) => path.posix.basename(evidence.path)))].join(
    ' and ',
  );
  return claim.isTrue
    ? phraseFor(`${key}/${letter}/missing`, [
        `${letter} is missing: it is borne out by ${papers}.`,
        `You left out ${letter}, which can be read in ${papers}.`,
        `${letter} belongs in the answer, see ${papers}.`,
      ])
    : phraseFor(`${key}/${letter}/extra`, [
        `${letter} is wrong. From ${papers}: ${claim.truth}.`,
        `${letter} should not be there; it is otherwise in ${papers}: ${claim.truth}.`,
        `Not ${letter}. What one reads in ${papers} is this: ${claim.truth}.`,
      ]);
}

const RIGHT = [
  'That is right, all of it.',
  'Correct: exactly these.',
  'Yes, that agrees with the papers.',
  'Good, nothing missing and nothing too many.',
];
const RIGHT_SHORT = ['Right.', 'Correct.', 'Yes.'];
const WRONG = [
  'Not quite.',
  'Please look again.',
  'This does not agree with the papers.',
  'No, not all of it.',
];
const WRONG_SHORT = ['Not quite.', 'No.', 'Look again.'];
const UNREADABLE = [
  'I found no answer in what you wrote. The letters go into \\bbox{}, like \\bbox{A} or \\bbox{A,B}.',
  'There is no \\bbox{} with letters in your reply, so I cannot take it as an answer.',
];
const UNREADABLE_SHORT = ['No answer found. Use \\bbox{A} or \\bbox{A,B}.'];
