import { SPOKEN, writeDate, writeDeploy, writeReport, writeTicket } from '../documents/paper-text.ts';
import { fill, pick, some } from '../draw.ts';
import { compareMoments } from '../make-world/calendar.ts';
import type { DayFacts, Deploy, Ticket, TicketReport } from '../world.ts';
import { cite, pairClaims, type QuestionKind, valueClaims, wrongCounts } from './claim.ts';
import { paperKind } from './question-table.ts';

const boardQuote = ({ day }: Pick<DayFacts, 'day'>, ticket: Ticket) =>
  cite(day, 'board', writeTicket(ticket));
const deployQuote = ({ day }: Pick<DayFacts, 'day'>, deploy: Deploy) =>
  cite(day, 'deploys', writeDeploy(deploy));
const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)];

export const tickets: QuestionKind = paperKind<Ticket>({
  name: 'tickets',
  papers: ['board'],
  all: ({ day }) => day.tickets,
  subjects: 3,
  nameOf: ({ number }) => number,
  words: ({ number }) => ({ number }),
  label: '{number}',
  joint: ', ',
  stems: [
    'Open the board and look at the tickets {list}. What does it say about them?',
    'Which of these sentences about the tickets {list} does the board bear out?',
    'We are about to plan around the tickets {list}. What is right according to the board?',
  ],
  properties: [
    {
      name: 'owner',
      read: ({ owner }) => owner,
      say: ['Ticket {number} is owned by {value}', '{value} is the owner of ticket {number}'],
    },
    {
      name: 'state',
      read: ({ state }) => state,
      say: ['Ticket {number} has the state "{value}"', 'The board shows ticket {number} as "{value}"'],
    },
    {
      name: 'project',
      read: ({ project }) => project,
      say: ['Ticket {number} belongs to {value}', '{value} is the project of ticket {number}'],
    },
    {
      name: 'due',
      read: ({ dueAt }) => writeDate(dueAt),
      say: ['Ticket {number} is due on {value}', 'The day by which ticket {number} is wanted is {value}'],
    },
    {
      name: 'estimate',
      read: ({ estimateHours }) => estimateHours,
      say: [
        'Ticket {number} is estimated at {value} hours',
        'The estimate for ticket {number} is {value} hours',
      ],
    },
    {
      name: 'title',
      read: ({ title }) => title,
      say: ['The title of ticket {number} is "{value}"', 'Ticket {number} asks to "{value}"'],
    },
  ],
  evidenceOf: (ticket, facts) => [boardQuote(facts, ticket)],
});

const STATES: readonly Ticket['state'][] = ['todo', 'doing', 'done'];
const hoursOf = (of: readonly Ticket[]): number =>
  of.reduce((sum, { estimateHours }) => sum + estimateHours, 0);

/** The whole board: no entry contains the answer, it has to be counted and added. */
export const board: QuestionKind = {
  name: 'board',
  papers: ['board'],
  draft: (facts, random) => {
    const { today, tickets: all, world } = facts.day;
    const evidence = all.map((ticket) => boardQuote(facts, ticket));
    const projects = distinct(all.map(({ project }) => project));
    const compared = some(random, all, 2);
    const claims = [
      ...projects.flatMap((project) => {
        const state = pick(random, STATES);
        const actual = all.filter((ticket) => ticket.project === project && ticket.state === state).length;
        return valueClaims({
          slot: `count/${project}`,
          actual,
          others: wrongCounts(actual),
          say: (value) => [
            `The number of tickets of ${project} in the state "${state}" is ${value}`,
            `Counting what is "${state}" for ${project} gives ${value}`,
          ],
          evidence,
        });
      }),
      ...projects.flatMap((project) =>
        valueClaims({
          slot: `hours/${project}`,
          actual: hoursOf(all.filter((ticket) => ticket.project === project)),
          others: projects.map((name) => hoursOf(all.filter((ticket) => ticket.project === name))),
          say: (value) => [
            `The estimates of all tickets of ${project} add up to ${value} hours`,
            `Taken together, ${project} has ${value} estimated hours on the board`,
          ],
          evidence,
        }),
      ),
      ...distinct(all.map(({ owner }) => owner)).flatMap((owner) => {
        const actual = all.filter((ticket) => ticket.owner === owner && ticket.state !== 'done').length;
        return valueClaims({
          slot: `open/${owner}`,
          actual,
          others: wrongCounts(actual),
          say: (value) => [
            `The number of tickets of ${owner} that are not done is ${value}`,
            `${owner} still has this many tickets to finish: ${value}`,
          ],
          evidence,
        });
      }),
      ...pairClaims({
        things: compared,
        nameOf: ({ number }) => number,
        rows: [
          {
            name: 'before',
            isSo: (a, b) => compareMoments(a.dueAt, b.dueAt) < 0,
            yes: 'Ticket {a} is due before ticket {b}',
            no: 'Ticket {a} is not due before ticket {b}',
          },
        ],
        evidenceOf: () => evidence,
      }),
    ];
    const stem = pick(random, [
      'Taking the board of {today} as a whole, which of these hold?',
      'For the summary of {today}: which totals and comparisons follow from the board?',
      'Add up what is on the board for {product} ({today}). Which statements come out right?',
    ]);
    return { stem: fill(stem, { today: writeDate(today), product: world.product }), claims };
  },
};

export const deploys: QuestionKind = paperKind<Deploy>({
  name: 'deploys',
  papers: ['deploys'],
  all: ({ day }) => day.deploys,
  subjects: 3,
  nameOf: ({ version }) => version,
  words: ({ version }) => ({ version }),
  label: '{version}',
  joint: ', ',
  stems: [
    'Look up the versions {list} in the deploy log. Which statements agree with it?',
    'What does the deploy log record about the versions {list}?',
    'Before we ship again: what is right about the versions {list}, going by the deploy log?',
  ],
  properties: [
    {
      name: 'environment',
      read: ({ environment }) => environment,
      say: ['Version {version} went to {value}', 'The target of version {version} was {value}'],
    },
    {
      name: 'outcome',
      read: ({ outcome }) => outcome,
      say: [
        'The outcome of version {version} is "{value}"',
        'The log closes version {version} with "{value}"',
      ],
    },
    {
      name: 'by',
      read: ({ by }) => by,
      say: ['Version {version} was deployed by {value}', '{value} deployed version {version}'],
    },
    {
      name: 'project',
      read: ({ project }) => project,
      say: ['Version {version} is a deploy of {value}', '{value} is what version {version} updates'],
    },
    {
      name: 'when',
      read: ({ at }) => writeDate(at),
      say: ['Version {version} was deployed on {value}'],
    },
  ],
  evidenceOf: (deploy, facts) => [deployQuote(facts, deploy)],
});

/** The log is not in order of time: what came first, and how often something went wrong, has to be worked out. */
export const deployHistory: QuestionKind = {
  name: 'deploy-history',
  papers: ['deploys'],
  draft: (facts, random) => {
    const { today, deploys: all, world } = facts.day;
    const evidence = all.map((deploy) => deployQuote(facts, deploy));
    const byTime = all.toSorted((a, b) => compareMoments(a.at, b.at));
    const compared = some(random, all, 4);
    const count = (slot: string, isMeant: (deploy: Deploy) => boolean, ...say: readonly string[]) => {
      const actual = all.filter(isMeant).length;
      const sentences = (value: string) => say.map((one) => fill(one, { value }));
      return valueClaims({ slot, actual, others: wrongCounts(actual), say: sentences, evidence });
    };
    const stem = pick(random, [
      'Read the deploy log of {product} up to {today} as a whole. Which statements hold?',
      'Which of these follow from the deploy log as it stood on {today}?',
      'For the look back on {today}: what does the deploy log add up to?',
    ]);
    return {
      stem: fill(stem, { today: writeDate(today), product: world.product }),
      claims: [
        ...distinct(all.map(({ by }) => by)).flatMap((name) =>
          count(
            `bad/${name}`,
            ({ by, outcome }) => by === name && outcome !== 'succeeded',
            `The number of deploys by ${name} that did not succeed is {value}`,
            `Failed or rolled back while ${name} was deploying: {value}`,
          ),
        ),
        ...distinct(all.map(({ project }) => project)).flatMap((name) => [
          ...count(
            `good/${name}`,
            ({ project, outcome }) => project === name && outcome === 'succeeded',
            `${name} was deployed with success this many times: {value}`,
          ),
          ...count(
            `live/${name}`,
            ({ project, environment }) => project === name && environment === 'production',
            `The number of times that ${name} went to production, well or not, is {value}`,
          ),
        ]),
        ...[byTime.at(0), byTime.at(-1)].flatMap((deploy, at) =>
          valueClaims({
            slot: `end/${at}`,
            actual: deploy?.version ?? '',
            others: all.map(({ version }) => version),
            say: (value) => [
              `In the order of time, ${value} is the ${at === 0 ? 'first' : 'last'} in the log`,
            ],
            evidence,
          }),
        ),
        ...pairClaims({
          things: compared,
          nameOf: ({ version }) => version,
          rows: [
            {
              name: 'before',
              isSo: (a, b) => compareMoments(a.at, b.at) < 0,
              yes: 'Version {a} was deployed before {b}',
              no: 'Version {a} was deployed after {b}',
            },
          ],
          evidenceOf: () => evidence,
        }),
      ],
    };
  },
};

/** A change of a deploy and its ticket; the log has only the title. */
interface ShippedTicket {
  readonly deploy: Deploy;
  readonly ticket: Ticket;
}

export const shippedTickets: QuestionKind = paperKind<ShippedTicket>({
  name: 'shipped-tickets',
  papers: ['deploys', 'board'],
  all: ({ day }) =>
    day.deploys.flatMap((deploy) =>
      day.tickets.filter(({ title }) => deploy.changes.includes(title)).map((ticket) => ({ deploy, ticket })),
    ),
  subjects: 2,
  nameOf: ({ ticket }) => ticket.number,
  words: ({ deploy, ticket }) => ({ version: deploy.version, number: ticket.number, title: ticket.title }),
  label: '{version}',
  stems: [
    'The deploy log names changes, the board has their tickets. What is right about {list}?',
    'Follow what went out with {list} from the deploy log to the board. Which statements hold?',
    'Match the changes of {list} with their tickets. Which of these agree with both papers?',
  ],
  properties: [
    {
      name: 'number',
      read: ({ ticket }) => ticket.number,
      say: [
        '"{title}", shipped in {version}, is ticket {value}',
        'The ticket number behind the change "{title}" in {version} is {value}',
      ],
    },
    {
      name: 'owner',
      read: ({ ticket }) => ticket.owner,
      say: [
        'The change "{title}" in {version} is owned by {value}',
        '{value} owns the ticket that {version} brought in as "{title}"',
      ],
    },
    {
      name: 'state',
      read: ({ ticket }) => ticket.state,
      say: [
        '"{title}" is part of {version}, and its ticket is "{value}"',
        'The board has the change "{title}" of {version} as "{value}"',
      ],
    },
    {
      name: 'outcome',
      read: ({ deploy }) => deploy.outcome,
      say: [
        'The deploy that carried ticket {number} ended as "{value}"',
        'Ticket {number} was part of a deploy with the outcome "{value}"',
      ],
    },
  ],
  rows: [
    {
      name: 'own',
      isSo: ({ deploy, ticket }) => deploy.by === ticket.owner,
      yes: ['Ticket {number} was deployed by its own owner'],
      no: ['Ticket {number} was deployed by somebody other than its owner'],
    },
  ],
  evidenceOf: ({ deploy, ticket }, facts) => [deployQuote(facts, deploy), boardQuote(facts, ticket)],
});

/** What was said about a ticket, compared with the board. */
export const reports: QuestionKind = paperKind<TicketReport>({
  name: 'reports',
  papers: ['meeting', 'board'],
  all: (facts) => facts.reports,
  subjects: 3,
  nameOf: ({ ticket }) => ticket.number,
  words: ({ ticket, by }) => ({ number: ticket.number, by }),
  label: '{number}',
  joint: ', ',
  stems: [
    'Do the meeting notes and the board agree on the tickets {list}? Select what is right.',
    'For the tickets {list}, compare what was said with what the board shows.',
    'Which statements about the tickets {list} hold, taking the notes and the board each at their word?',
  ],
  properties: [
    {
      name: 'said',
      read: ({ state }) => SPOKEN[state],
      say: [
        'In the meeting, {by} called ticket {number} {value}',
        'Going by the notes alone, ticket {number} is {value}',
      ],
    },
    {
      name: 'shown',
      read: ({ ticket }) => ticket.state,
      say: [
        'The board has ticket {number} as "{value}", whatever was said',
        'This morning\'s export shows ticket {number} as "{value}"',
      ],
    },
  ],
  rows: [
    {
      name: 'agree',
      isSo: ({ state, ticket }) => state === ticket.state,
      yes: ['Notes and board agree about the state of ticket {number}'],
      no: ['Notes and board contradict each other about the state of ticket {number}'],
    },
  ],
  evidenceOf: (report, facts) => [
    cite(facts.day, 'meeting', writeReport(report)),
    boardQuote(facts, report.ticket),
  ],
});
