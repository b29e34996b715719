import { writeTicket } from '../../documents/json-papers.ts';
import { SPOKEN, writeReport } from '../../documents/meeting-notes.ts';
import { pick, some } from '../../draw.ts';
import type { Report } from '../../make-world/day-facts.ts';
import { cite, type Property, propertyClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

const PROPERTIES: readonly Property<Report>[] = [
  {
    name: 'said',
    read: ({ state }) => SPOKEN[state],
    say: ({ ticket, by }, value) => [
      `In the meeting, ${by} called ticket ${ticket.number} ${value}`,
      `Going by the notes alone, ticket ${ticket.number} is ${value}`,
    ],
  },
  {
    name: 'shown',
    read: ({ ticket }) => ticket.state,
    say: ({ ticket }, value) => [
      `The board has ticket ${ticket.number} as "${value}", whatever was said`,
      `This morning's export shows ticket ${ticket.number} as "${value}"`,
    ],
  },
];

/** What was said of a ticket against what the board says. */
export const reports: Kind = {
  name: 'reports',
  papers: ['meeting', 'board'],
  draft(facts, random) {
    const subjects = some(random, facts.reports, 3);
    const list = subjects.map(({ ticket }) => ticket.number).join(', ');
    const evidenceOf = (report: Report) => [
      cite(facts.day, 'meeting', writeReport(report)),
      cite(facts.day, 'board', writeTicket(report.ticket)),
    ];
    return {
      stem: pick(random, [
        `Do the meeting notes and the board agree on the tickets ${list}? Select what is right.`,
        `For the tickets ${list}, compare what was said with what the board shows.`,
        `Which statements about the tickets ${list} hold, taking the notes and the board each at their word?`,
      ]),
      claims: [
        ...propertyClaims({
          subjects,
          all: facts.reports,
          nameOf: ({ ticket }) => ticket.number,
          properties: PROPERTIES,
          evidenceOf,
        }),
        ...subjects.flatMap((report) =>
          verdictClaims({
            slot: `${report.ticket.number}/agree`,
            isSo: report.state === report.ticket.state,
            yes: [`Notes and board agree about the state of ticket ${report.ticket.number}`],
            no: [`Notes and board contradict each other about the state of ticket ${report.ticket.number}`],
            evidence: evidenceOf(report),
          }),
        ),
      ],
    };
  },
};
