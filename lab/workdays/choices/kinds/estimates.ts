import { writeFinding } from '../../documents/figure-papers.ts';
import { writeEstimate } from '../../documents/meeting-notes.ts';
import { pick, some } from '../../draw.ts';
import type { Estimate } from '../../make-world/day-facts.ts';
import { cite, type Property, propertyClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

const PROPERTIES: readonly Property<Estimate>[] = [
  {
    name: 'by',
    read: ({ by }) => by,
    say: ({ figure }, value) => [
      `The guess at the ${figure.name} is that of ${value}`,
      `It was ${value} who guessed at the ${figure.name}`,
    ],
  },
  {
    name: 'measured',
    read: ({ figure }) => figure.value,
    say: ({ figure }, value) => [
      `Measured for the ${figure.name} were ${value} ${figure.unit}`,
      `The market note has ${value} ${figure.unit} for the ${figure.name}`,
    ],
  },
  {
    name: 'high',
    read: ({ high }) => high,
    say: ({ figure }, value) => [`The guess at the ${figure.name} goes up to ${value} ${figure.unit}`],
  },
  {
    name: 'low',
    read: ({ low }) => low,
    say: ({ figure }, value) => [`The guess at the ${figure.name} begins at ${value} ${figure.unit}`],
  },
];

/** A guess in a meeting against what was measured. */
export const estimates: Kind = {
  name: 'estimates',
  papers: ['meeting', 'market'],
  draft(facts, random) {
    const { day } = facts;
    const subjects = some(random, facts.estimates, 2);
    const list = subjects.map(({ figure }) => `the ${figure.name}`).join(' and ');
    const evidenceOf = (estimate: Estimate) => [
      cite(day, 'meeting', writeEstimate(estimate)),
      ...facts.findings
        .filter(({ figure }) => figure.name === estimate.figure.name)
        .map((finding) => cite(day, 'market', writeFinding(finding))),
    ];
    // Each bound and the measured value pass for one another.
    const mixed = subjects.flatMap((estimate): readonly Estimate[] =>
      [estimate.low, estimate.high].map((value) => ({
        ...estimate,
        low: estimate.figure.value,
        high: estimate.figure.value,
        figure: { ...estimate.figure, value },
      })),
    );
    return {
      stem: pick(random, [
        `In the meeting somebody guessed at ${list}. How do the guesses stand to the market note?`,
        `Guessed or measured? Select what the notes and the market note bear out for ${list}.`,
        `Which statements about ${list} agree with the meeting notes and with what was measured?`,
      ]),
      claims: [
        ...propertyClaims({
          subjects,
          all: [...mixed, ...facts.estimates],
          nameOf: ({ figure }) => figure.name,
          properties: PROPERTIES,
          evidenceOf,
        }),
        ...subjects.flatMap((estimate) => {
          const { figure, low, high, by } = estimate;
          return verdictClaims({
            slot: `${figure.name}/within`,
            isSo: low <= figure.value && figure.value <= high,
            yes: [`What was measured for the ${figure.name} lies within the guess of ${by}`],
            no: [`What was measured for the ${figure.name} lies outside the guess of ${by}`],
            evidence: evidenceOf(estimate),
          });
        }),
      ],
    };
  },
};
