import { pick } from '../../draw.ts';
import { valueClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';
import { ASK } from './ask.ts';

export const shortFigures: Kind = {
  name: 'short-figures',
  papers: [],
  draft({ assumptions, estimates }, random) {
    const { figure, value } = pick(random, assumptions);
    const guess = estimates.find((estimate) => estimate.figure.name === figure.name);
    const { low, high, by } = guess ?? { low: value, high: value, by: '' };
    const { unit } = figure;
    return {
      stem: `${figure.name}: measured ${figure.value} ${unit}, planned ${value}, ${by} guesses ${low} to ${high}. ${pick(random, ASK)}`,
      claims: [
        ...valueClaims({
          slot: 'planned',
          actual: value,
          others: [figure.value, low, high],
          say: (said) => [`The plan has ${said} ${unit}`],
          evidence: [],
        }),
        ...valueClaims({
          slot: 'measured',
          actual: figure.value,
          others: [value, low, high],
          say: (said) => [`Measured were ${said} ${unit}`],
          evidence: [],
        }),
        ...valueClaims({
          slot: 'by',
          actual: by,
          others: estimates.map((other) => other.by),
          say: (name) => [`${name} made the guess`],
          evidence: [],
        }),
        ...[...new Set([figure.value, value])].flatMap((number) =>
          verdictClaims({
            slot: `within/${number}`,
            isSo: low <= number && number <= high,
            yes: [`${number} is within the guess`],
            no: [`${number} is outside the guess`],
            evidence: [],
          }),
        ),
      ],
    };
  },
};
