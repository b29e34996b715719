import { writeDeploy } from '../../documents/json-papers.ts';
import { writeDate } from '../../documents/write-moment.ts';
import { pick, some } from '../../draw.ts';
import type { Deploy } from '../../world.ts';
import { cite, type Property, propertyClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

const PROPERTIES: readonly Property<Deploy>[] = [
  {
    name: 'environment',
    read: ({ environment }) => environment,
    say: ({ version }, value) => [
      `Version ${version} went to ${value}`,
      `The target of version ${version} was ${value}`,
    ],
  },
  {
    name: 'outcome',
    read: ({ outcome }) => outcome,
    say: ({ version }, value) => [
      `The outcome of version ${version} is "${value}"`,
      `The log closes version ${version} with "${value}"`,
    ],
  },
  {
    name: 'by',
    read: ({ by }) => by,
    say: ({ version }, value) => [
      `Version ${version} was deployed by ${value}`,
      `${value} deployed version ${version}`,
    ],
  },
  {
    name: 'project',
    read: ({ project }) => project,
    say: ({ version }, value) => [
      `Version ${version} is a deploy of ${value}`,
      `${value} is what version ${version} updates`,
    ],
  },
  {
    name: 'when',
    read: ({ at }) => writeDate(at),
    say: ({ version }, value) => [`Version ${version} was deployed on ${value}`],
  },
];

export const deploys: Kind = {
  name: 'deploys',
  papers: ['deploys'],
  draft({ day }, random) {
    const subjects = some(random, day.deploys, 3);
    const list = subjects.map(({ version }) => version).join(', ');
    return {
      stem: pick(random, [
        `Look up the versions ${list} in the deploy log. Which statements agree with it?`,
        `What does the deploy log record about the versions ${list}?`,
        `Before we ship again: what is right about the versions ${list}, going by the deploy log?`,
      ]),
      claims: propertyClaims({
        subjects,
        all: day.deploys,
        nameOf: ({ version }) => version,
        properties: PROPERTIES,
        evidenceOf: (deploy) => [cite(day, 'deploys', writeDeploy(deploy))],
      }),
    };
  },
};
