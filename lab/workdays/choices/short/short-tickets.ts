import { SPOKEN } from '../../documents/meeting-notes.ts';
import { pick, some } from '../../draw.ts';
import { propertyClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';
import { ASK } from './ask.ts';

export const shortTickets: Kind = {
  name: 'short-tickets',
  papers: [],
  draft({ day }, random) {
    const all = some(random, day.tickets, 2);
    const facts = all.map(({ number, owner, state }) => `${number} (${owner}) ${SPOKEN[state]}`).join(', ');
    return {
      stem: `Board: ${facts}. ${pick(random, ASK)}`,
      claims: propertyClaims({
        subjects: all,
        all: [...all, ...day.tickets],
        nameOf: ({ number }) => number,
        evidenceOf: () => [],
        properties: [
          {
            name: 'owner',
            read: ({ owner }) => owner,
            say: ({ number }, value) => [`${value} has ${number}`],
          },
          {
            name: 'state',
            read: ({ state }) => SPOKEN[state],
            say: ({ number }, value) => [`${number} is ${value}`],
          },
        ],
      }),
    };
  },
};
