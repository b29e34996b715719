import { writeDate } from '../../documents/write-moment.ts';
import { pick, some } from '../../draw.ts';
import { dayNumberOf } from '../../make-world/calendar.ts';
import { propertyClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';
import { ASK } from './ask.ts';

export const shortDue: Kind = {
  name: 'short-due',
  papers: [],
  draft({ day }, random) {
    const all = some(random, day.tickets, 2);
    const [one, two] = all;
    const facts = all.map(
      ({ number, dueAt, estimateHours }) => `${number} ${writeDate(dueAt)}, ${estimateHours} h`,
    );
    return {
      stem: `${pick(random, ['Due', 'Deadlines'])}: ${facts.join('; ')}. ${pick(random, ASK)}`,
      claims: [
        ...propertyClaims({
          subjects: all,
          all,
          nameOf: ({ number }) => number,
          evidenceOf: () => [],
          properties: [
            {
              name: 'hours',
              read: ({ estimateHours }) => estimateHours,
              say: ({ number }, value) => [`${number} takes ${value} h`],
            },
            {
              name: 'due',
              read: ({ dueAt }) => writeDate(dueAt),
              say: ({ number }, value) => [`${number} is due ${value}`],
            },
          ],
        }),
        ...(one === undefined || two === undefined
          ? []
          : verdictClaims({
              slot: 'order',
              isSo: dayNumberOf(one.dueAt) < dayNumberOf(two.dueAt),
              yes: [`${one.number} comes first`],
              no: [`${one.number} does not come first`],
              evidence: [],
            })),
      ],
    };
  },
};
