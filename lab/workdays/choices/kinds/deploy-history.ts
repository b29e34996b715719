import { writeDeploy } from '../../documents/json-papers.ts';
import { writeDate } from '../../documents/write-moment.ts';
import { pick, some } from '../../draw.ts';
import { compareMoments } from '../../make-world/calendar.ts';
import type { Deploy } from '../../world.ts';
import { cite, near, valueClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)];

/** The log is not in the order of time: what came first, and how often something went wrong, has to be found out. */
export const deployHistory: Kind = {
  name: 'deploy-history',
  papers: ['deploys'],
  draft({ day }, random) {
    const all = day.deploys;
    const evidence = all.map((deploy) => cite(day, 'deploys', writeDeploy(deploy)));
    const byTime = all.toSorted((a, b) => compareMoments(a.at, b.at));
    const versions = all.map(({ version }) => version);
    const [one, ...others] = some(random, all, 4);
    const count = (
      slot: string,
      isMeant: (deploy: Deploy) => boolean,
      say: (value: string) => readonly string[],
    ) => {
      const actual = all.filter(isMeant).length;
      return valueClaims({ slot, actual, others: near(actual), say, evidence });
    };
    return {
      stem: pick(random, [
        `Read the deploy log of ${day.world.product} up to ${writeDate(day.today)} as a whole. Which statements hold?`,
        `Which of these follow from the deploy log as it stood on ${writeDate(day.today)}?`,
        `For the look back on ${writeDate(day.today)}: what does the deploy log add up to?`,
      ]),
      claims: [
        ...distinct(all.map(({ by }) => by)).flatMap((name) =>
          count(
            `bad/${name}`,
            ({ by, outcome }) => by === name && outcome !== 'succeeded',
            (value) => [
              `The number of deploys by ${name} that did not succeed is ${value}`,
              `Failed or rolled back while ${name} was deploying: ${value}`,
            ],
          ),
        ),
        ...distinct(all.map(({ project }) => project)).flatMap((name) => [
          ...count(
            `good/${name}`,
            ({ project, outcome }) => project === name && outcome === 'succeeded',
            (value) => [`${name} was deployed with success this many times: ${value}`],
          ),
          ...count(
            `live/${name}`,
            ({ project, environment }) => project === name && environment === 'production',
            (value) => [`The number of times that ${name} went to production, well or not, is ${value}`],
          ),
        ]),
        ...[byTime.at(0), byTime.at(-1)].flatMap((deploy, at) =>
          valueClaims({
            slot: `end/${at}`,
            actual: deploy?.version ?? '',
            others: versions,
            say: (value) => [
              `In the order of time, ${value} is the ${at === 0 ? 'first' : 'last'} in the log`,
            ],
            evidence,
          }),
        ),
        ...others.flatMap((other) =>
          one === undefined
            ? []
            : verdictClaims({
                slot: `before/${other.version}`,
                isSo: compareMoments(one.at, other.at) < 0,
                yes: [`Version ${one.version} was deployed before ${other.version}`],
                no: [`Version ${one.version} was deployed after ${other.version}`],
                evidence,
              }),
        ),
      ],
    };
  },
};
