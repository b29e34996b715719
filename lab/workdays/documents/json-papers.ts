import type { DayFacts } from '../make-world/day-facts.ts';
import type { Deploy, Ticket } from '../world.ts';
import { writeMoment } from './write-moment.ts';

/** An object as it stands in a list one level down, so that the text can be quoted as it is. */
const asEntry = (value: object): string => JSON.stringify(value, null, 2).replaceAll('\n', '\n    ');

export const writeTicket = (ticket: Ticket): string =>
  asEntry({
    number: ticket.number,
    title: ticket.title,
    project: ticket.project,
    owner: ticket.owner,
    state: ticket.state,
    due: writeMoment(ticket.dueAt),
    estimate_hours: ticket.estimateHours,
  });

export const writeDeploy = (deploy: Deploy): string =>
  asEntry({
    version: deploy.version,
    project: deploy.project,
    environment: deploy.environment,
    when: writeMoment(deploy.at),
    by: deploy.by,
    outcome: deploy.outcome,
    changes: deploy.changes,
  });

const asList = (head: Readonly<Record<string, string>>, name: string, entries: readonly string[]): string =>
  [
    '{',
    ...Object.entries(head).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)},`),
    `  ${JSON.stringify(name)}: [`,
    entries.map((entry) => `    ${entry}`).join(',\n'),
    '  ]',
    '}',
    '',
  ].join('\n');

export const writeBoard = ({ day }: DayFacts): string =>
  asList(
    { team: day.world.product, exported: writeMoment(day.today) },
    'tickets',
    day.tickets.map(writeTicket),
  );

export const writeDeployLog = ({ day }: DayFacts): string =>
  asList({ product: day.world.product }, 'deploys', day.deploys.map(writeDeploy));
