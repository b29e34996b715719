import { pick, some } from '../../draw.ts';
import { propertyClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';
import { ASK } from './ask.ts';

export const shortDeploys: Kind = {
  name: 'short-deploys',
  papers: [],
  draft({ day }, random) {
    const all = some(random, day.deploys, 3);
    const facts = all
      .map(({ version, environment, outcome }) => `${version} ${environment} ${outcome}`)
      .join(', ');
    return {
      stem: `Log: ${facts}. ${pick(random, ASK)}`,
      claims: propertyClaims({
        subjects: all,
        all: [...all, ...day.deploys],
        nameOf: ({ version }) => version,
        evidenceOf: () => [],
        properties: [
          {
            name: 'environment',
            read: ({ environment }) => environment,
            say: ({ version }, value) => [`${version} went to ${value}`],
          },
          {
            name: 'outcome',
            read: ({ outcome }) => outcome,
            say: ({ version }, value) => [`${version} ${value}`],
          },
        ],
      }),
    };
  },
};
