import { pick, some } from '../../draw.ts';
import { propertyClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';
import { ASK } from './ask.ts';

export const shortBudgets: Kind = {
  name: 'short-budgets',
  papers: [],
  draft({ budgets }, random) {
    const all = some(random, budgets, 2);
    const facts = all
      .map(({ project, planned, spent }) => `${project} planned ${planned}, spent ${spent}`)
      .join('; ');
    return {
      stem: `${pick(random, ['Budget', 'Money'])}: ${facts}. ${pick(random, ASK)}`,
      claims: [
        ...propertyClaims({
          subjects: all,
          all: [
            ...all,
            ...all.map(({ project, planned, spent }) => ({ project, planned: spent, spent: planned })),
          ],
          nameOf: ({ project }) => project,
          evidenceOf: () => [],
          properties: [
            {
              name: 'spent',
              read: ({ spent }) => spent,
              say: ({ project }, value) => [`${project} spent ${value}`],
            },
          ],
        }),
        ...all.flatMap(({ project, planned, spent }) =>
          verdictClaims({
            slot: `${project}/over`,
            isSo: spent > planned,
            yes: [`${project} is over plan`],
            no: [`${project} is within plan`],
            evidence: [],
          }),
        ),
      ],
    };
  },
};
