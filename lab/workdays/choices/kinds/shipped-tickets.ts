import { writeDeploy, writeTicket } from '../../documents/json-papers.ts';
import { pick, some } from '../../draw.ts';
import type { Deploy, Ticket } from '../../world.ts';
import { cite, type Property, propertyClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

/** A change of a deploy with the ticket behind it; the log knows only its title. */
interface Shipped {
  readonly deploy: Deploy;
  readonly ticket: Ticket;
}

const PROPERTIES: readonly Property<Shipped>[] = [
  {
    name: 'number',
    read: ({ ticket }) => ticket.number,
    say: ({ deploy, ticket }, value) => [
      `"${ticket.title}", shipped in ${deploy.version}, is ticket ${value}`,
      `The ticket number behind the change "${ticket.title}" in ${deploy.version} is ${value}`,
    ],
  },
  {
    name: 'owner',
    read: ({ ticket }) => ticket.owner,
    say: ({ deploy, ticket }, value) => [
      `The change "${ticket.title}" in ${deploy.version} is owned by ${value}`,
      `${value} owns the ticket that ${deploy.version} brought in as "${ticket.title}"`,
    ],
  },
  {
    name: 'state',
    read: ({ ticket }) => ticket.state,
    say: ({ deploy, ticket }, value) => [
      `"${ticket.title}" is part of ${deploy.version}, and its ticket is "${value}"`,
      `The board has the change "${ticket.title}" of ${deploy.version} as "${value}"`,
    ],
  },
  {
    name: 'outcome',
    read: ({ deploy }) => deploy.outcome,
    say: ({ ticket }, value) => [
      `The deploy that carried ticket ${ticket.number} ended as "${value}"`,
      `Ticket ${ticket.number} was part of a deploy with the outcome "${value}"`,
    ],
  },
];

export const shippedTickets: Kind = {
  name: 'shipped-tickets',
  papers: ['deploys', 'board'],
  draft({ day }, random) {
    const all = day.deploys.flatMap((deploy): readonly Shipped[] =>
      day.tickets.filter(({ title }) => deploy.changes.includes(title)).map((ticket) => ({ deploy, ticket })),
    );
    const subjects = some(random, all, 2);
    const evidenceOf = ({ deploy, ticket }: Shipped) => [
      cite(day, 'deploys', writeDeploy(deploy)),
      cite(day, 'board', writeTicket(ticket)),
    ];
    const versions = [...new Set(subjects.map(({ deploy }) => deploy.version))].join(' and ');
    return {
      stem: pick(random, [
        `The deploy log names changes, the board has their tickets. What is right about ${versions}?`,
        `Follow what went out with ${versions} from the deploy log to the board. Which statements hold?`,
        `Match the changes of ${versions} with their tickets. Which of these agree with both papers?`,
      ]),
      claims: [
        ...propertyClaims({
          subjects,
          all,
          nameOf: ({ ticket }) => ticket.number,
          properties: PROPERTIES,
          evidenceOf,
        }),
        ...subjects.flatMap((shipped) =>
          verdictClaims({
            slot: `own/${shipped.ticket.number}`,
            isSo: shipped.deploy.by === shipped.ticket.owner,
            yes: [`Ticket ${shipped.ticket.number} was deployed by its own owner`],
            no: [`Ticket ${shipped.ticket.number} was deployed by somebody other than its owner`],
            evidence: evidenceOf(shipped),
          }),
        ),
      ],
    };
  },
};
