import { writeTicket } from '../../documents/json-papers.ts';
import { writeDate } from '../../documents/write-moment.ts';
import { pick, some } from '../../draw.ts';
import { compareMoments } from '../../make-world/calendar.ts';
import type { Ticket } from '../../world.ts';
import { type Claim, cite, near, valueClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

const STATES: readonly Ticket['state'][] = ['todo', 'doing', 'done'];
const hoursOf = (tickets: readonly Ticket[]): number =>
  tickets.reduce((sum, { estimateHours }) => sum + estimateHours, 0);
const distinct = (values: readonly string[]): readonly string[] => [...new Set(values)];

/** Questions on the whole board: nothing in it says the answer, one has to count and add. */
export const board: Kind = {
  name: 'board',
  papers: ['board'],
  draft({ day }, random) {
    const all = day.tickets;
    const evidence = all.map((ticket) => cite(day, 'board', writeTicket(ticket)));
    const projects = distinct(all.map(({ project }) => project));
    const owners = distinct(all.map(({ owner }) => owner));
    const [one, other] = some(random, all, 2);
    const claims: Claim[] = [
      ...projects.flatMap((project) => {
        const state = pick(random, STATES);
        const count = all.filter((ticket) => ticket.project === project && ticket.state === state).length;
        return valueClaims({
          slot: `count/${project}`,
          actual: count,
          others: near(count),
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
      ...owners.flatMap((owner) => {
        const count = all.filter((ticket) => ticket.owner === owner && ticket.state !== 'done').length;
        return valueClaims({
          slot: `open/${owner}`,
          actual: count,
          others: near(count),
          say: (value) => [
            `The number of tickets of ${owner} that are not done is ${value}`,
            `${owner} still has this many tickets to finish: ${value}`,
          ],
          evidence,
        });
      }),
      ...(one === undefined || other === undefined
        ? []
        : verdictClaims({
            slot: `before/${one.number}/${other.number}`,
            isSo: compareMoments(one.dueAt, other.dueAt) < 0,
            yes: [`Ticket ${one.number} is due before ticket ${other.number}`],
            no: [`Ticket ${one.number} is not due before ticket ${other.number}`],
            evidence,
          })),
    ];
    return {
      stem: pick(random, [
        `Taking the board of ${writeDate(day.today)} as a whole, which of these hold?`,
        `For the summary of ${writeDate(day.today)}: which totals and comparisons follow from the board?`,
        `Add up what is on the board for ${day.world.product} (${writeDate(day.today)}). Which statements come out right?`,
      ]),
      claims,
    };
  },
};
