import { writeAssumption, writeFinding } from '../../documents/figure-papers.ts';
import { pick, some } from '../../draw.ts';
import type { Assumption, Finding } from '../../make-world/day-facts.ts';
import { type Claim, cite, type Property, propertyClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

const PROPERTIES: readonly Property<Assumption>[] = [
  {
    name: 'value',
    read: ({ value }) => value,
    say: ({ figure }, value) => [`The plan reckons with ${value} ${figure.unit} for the ${figure.name}`],
  },
  {
    name: 'segment',
    read: ({ segment }) => segment,
    say: ({ figure }, value) => [
      `The plan applies the ${figure.name} to ${value}`,
      `In the sheet, the ${figure.name} stands for ${value}`,
    ],
  },
  {
    name: 'source',
    read: ({ source }) => source,
    say: ({ figure }, value) => [
      `The sheet enters ${value} as the source of the ${figure.name}`,
      `According to the sheet, the ${figure.name} comes from ${value}`,
    ],
  },
  {
    name: 'by',
    read: ({ by }) => by,
    say: ({ figure }, value) => [`The figure for the ${figure.name} was entered in the sheet by ${value}`],
  },
];

/** The sheet of assumptions and the note it draws on: same name, but is it the same value, segment and source? */
export const assumptions: Kind = {
  name: 'assumptions',
  papers: ['assumptions', 'market'],
  draft(facts, random) {
    const subjects = some(random, facts.assumptions, 2);
    const findingOf = ({ figure }: Assumption): Finding | undefined =>
      facts.findings.find((finding) => finding.figure.name === figure.name);
    const list = subjects.map(({ figure }) => `the ${figure.name}`).join(' and ');
    return {
      stem: pick(random, [
        `Hold the sheet of assumptions against the market note, for ${list}. Which descriptions are right?`,
        `Does the plan use ${list} as they were measured? Select the statements that both papers bear out.`,
        `Regarding origin and use of ${list} in the plan: what agrees with the papers?`,
      ]),
      claims: [
        ...propertyClaims({
          subjects,
          // What was measured passes for what is assumed.
          all: [
            ...facts.findings.map(
              ({ figure, segment }): Assumption => ({
                figure,
                value: figure.value,
                segment,
                source: figure.source,
                by: facts.assumptions[0]?.by ?? '',
              }),
            ),
            ...facts.assumptions,
          ],
          nameOf: ({ figure }) => figure.name,
          properties: PROPERTIES,
          evidenceOf: (assumption) => [cite(facts.day, 'assumptions', writeAssumption(assumption))],
        }),
        ...subjects.flatMap((assumption) => {
          const finding = findingOf(assumption);
          if (finding === undefined) return [];
          const evidence = [
            cite(facts.day, 'assumptions', writeAssumption(assumption)),
            cite(facts.day, 'market', writeFinding(finding)),
          ];
          return comparisons(assumption, finding).map((claim): Claim => ({ ...claim, evidence }));
        }),
      ],
    };
  },
};

const comparisons = ({ figure, value, segment, source }: Assumption, finding: Finding): readonly Claim[] => [
  ...verdictClaims({
    slot: `${figure.name}/same segment`,
    isSo: segment === finding.segment,
    yes: [`The plan applies the ${figure.name} to the segment on which it was measured`],
    no: [`The figure for the ${figure.name} was measured on one segment and is applied to another`],
    evidence: [],
  }),
  ...verdictClaims({
    slot: `${figure.name}/same value`,
    isSo: value === figure.value,
    yes: [`For the ${figure.name}, sheet and note have the same value`],
    no: [`For the ${figure.name}, the sheet departs from the value in the note`],
    evidence: [],
  }),
  ...verdictClaims({
    slot: `${figure.name}/same source`,
    isSo: source === figure.source,
    yes: [`The source entered for the ${figure.name} is the one the market note gives`],
    no: [`The source entered for the ${figure.name} is not the one the market note gives`],
    evidence: [],
  }),
];
