import { writeTicket } from '../../documents/json-papers.ts';
import { writeDate } from '../../documents/write-moment.ts';
import { pick, some } from '../../draw.ts';
import type { Ticket } from '../../world.ts';
import { cite, type Property, propertyClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

const PROPERTIES: readonly Property<Ticket>[] = [
  {
    name: 'owner',
    read: ({ owner }) => owner,
    say: ({ number }, value) => [
      `Ticket ${number} is owned by ${value}`,
      `${value} is the owner of ticket ${number}`,
    ],
  },
  {
    name: 'state',
    read: ({ state }) => state,
    say: ({ number }, value) => [
      `Ticket ${number} has the state "${value}"`,
      `The board shows ticket ${number} as "${value}"`,
    ],
  },
  {
    name: 'project',
    read: ({ project }) => project,
    say: ({ number }, value) => [
      `Ticket ${number} belongs to ${value}`,
      `${value} is the project of ticket ${number}`,
    ],
  },
  {
    name: 'due',
    read: ({ dueAt }) => writeDate(dueAt),
    say: ({ number }, value) => [
      `Ticket ${number} is due on ${value}`,
      `The day by which ticket ${number} is wanted is ${value}`,
    ],
  },
  {
    name: 'estimate',
    read: ({ estimateHours }) => estimateHours,
    say: ({ number }, value) => [
      `Ticket ${number} is estimated at ${value} hours`,
      `The estimate for ticket ${number} is ${value} hours`,
    ],
  },
  {
    name: 'title',
    read: ({ title }) => title,
    say: ({ number }, value) => [
      `The title of ticket ${number} is "${value}"`,
      `Ticket ${number} asks to "${value}"`,
    ],
  },
];

export const tickets: Kind = {
  name: 'tickets',
  papers: ['board'],
  draft({ day }, random) {
    const subjects = some(random, day.tickets, 3);
    const list = subjects.map(({ number }) => number).join(', ');
    return {
      stem: pick(random, [
        `Open the board and look at the tickets ${list}. What does it say about them?`,
        `Which of these sentences about the tickets ${list} does the board bear out?`,
        `We are about to plan around the tickets ${list}. What is right according to the board?`,
      ]),
      claims: propertyClaims({
        subjects,
        all: day.tickets,
        nameOf: ({ number }) => number,
        properties: PROPERTIES,
        evidenceOf: (ticket) => [cite(day, 'board', writeTicket(ticket))],
      }),
    };
  },
};
