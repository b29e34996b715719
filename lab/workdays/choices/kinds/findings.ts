import { writeFinding } from '../../documents/figure-papers.ts';
import { writeDate } from '../../documents/write-moment.ts';
import { pick, some } from '../../draw.ts';
import type { Finding } from '../../make-world/day-facts.ts';
import { cite, type Property, propertyClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

const PROPERTIES: readonly Property<Finding>[] = [
  {
    name: 'statistic',
    read: ({ statistic }) => statistic,
    say: ({ figure }, value) => [
      `The ${figure.value} ${figure.unit} of the ${figure.name} are a ${value}`,
      `What the note gives for the ${figure.name} is the ${value}`,
    ],
  },
  {
    name: 'segment',
    read: ({ segment }) => segment,
    say: ({ figure }, value) => [
      `The figure for the ${figure.name} was measured on ${value}`,
      `Behind the figure for the ${figure.name} are ${value}`,
    ],
  },
  {
    name: 'sample',
    read: ({ sample }) => sample,
    say: ({ figure }, value) => [
      `The sample behind the ${figure.name} has the size ${value}`,
      `The figure for the ${figure.name} rests on ${value} of those that were looked at`,
    ],
  },
  {
    name: 'source',
    read: ({ figure }) => figure.source,
    say: ({ figure }, value) => [
      `The market note takes the ${figure.name} from ${value}`,
      `In the market note, the ${figure.name} goes back to ${value}`,
    ],
  },
  {
    name: 'project',
    read: ({ figure }) => figure.project,
    say: ({ figure }, value) => [`The figure for the ${figure.name} was measured for ${value}`],
  },
  {
    name: 'at',
    read: ({ figure }) => writeDate(figure.at),
    say: ({ figure }, value) => [`The figure for the ${figure.name} was read off on ${value}`],
  },
];

export const findings: Kind = {
  name: 'findings',
  papers: ['market'],
  draft(facts, random) {
    const subjects = some(random, facts.findings, 2);
    const list = subjects.map(({ figure }) => `the ${figure.name}`).join(' and ');
    return {
      stem: pick(random, [
        `Where do the figures for ${list} come from? Select what the market note bears out.`,
        `Which statements about ${list} agree with the market note?`,
        `Before ${list} are used anywhere: what exactly did the market note measure?`,
      ]),
      claims: propertyClaims({
        subjects,
        all: facts.findings,
        nameOf: ({ figure }) => figure.name,
        properties: PROPERTIES,
        evidenceOf: (finding) => [cite(facts.day, 'market', writeFinding(finding))],
      }),
    };
  },
};
