import { pick, some } from '../../draw.ts';
import { propertyClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';
import { ASK } from './ask.ts';

export const shortDecisions: Kind = {
  name: 'short-decisions',
  papers: [],
  draft({ rulings }, random) {
    const all = some(random, rulings, 2);
    const facts = all
      .map(({ decision, topic, way }) => `${decision.id} ${topic}: ${way}, by ${decision.by}`)
      .join('. ');
    return {
      stem: `${facts}. ${pick(random, ASK)}`,
      claims: propertyClaims({
        subjects: all,
        all: [...all, ...rulings],
        nameOf: ({ decision }) => decision.id,
        evidenceOf: () => [],
        properties: [
          {
            name: 'by',
            read: ({ decision }) => decision.by,
            say: ({ decision }, value) => [`${value} decided ${decision.id}`],
          },
          {
            name: 'way',
            read: ({ way }) => way,
            among: ({ ways }) => ways,
            say: ({ decision }, value) => [`${decision.id}: ${value}`],
          },
        ],
      }),
    };
  },
};
