import { writeRuling } from '../../documents/decision-memo.ts';
import { writeDate } from '../../documents/write-moment.ts';
import { pick, some } from '../../draw.ts';
import type { Ruling } from '../../make-world/day-facts.ts';
import { cite, type Property, propertyClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

const PROPERTIES: readonly Property<Ruling>[] = [
  {
    name: 'by',
    read: ({ decision }) => decision.by,
    say: ({ decision: { id } }, value) => [
      `${id} was decided by ${value}`,
      `It was ${value} who decided ${id}`,
    ],
  },
  {
    name: 'at',
    read: ({ decision }) => writeDate(decision.at),
    say: ({ decision: { id } }, value) => [
      `${id} was decided on ${value}`,
      `The date of the decision ${id} is ${value}`,
    ],
  },
  {
    name: 'review',
    read: ({ decision }) => writeDate(decision.reviewAt),
    say: ({ decision: { id } }, value) => [
      `${id} comes up for review on ${value}`,
      `The review of ${id} is set for ${value}`,
    ],
  },
  {
    name: 'project',
    read: ({ decision }) => decision.project,
    say: ({ topic, decision: { id } }, value) => [
      `${id} was taken for the project ${value}`,
      `The ${topic} was settled for the project ${value}`,
    ],
  },
  {
    name: 'rationale',
    read: ({ decision }) => decision.rationale,
    say: ({ topic, decision: { id } }, value) => [
      `The rationale of ${id} is that ${value}`,
      `The choice for the ${topic} was made because ${value}`,
    ],
  },
];

export const decisions: Kind = {
  name: 'decisions',
  papers: ['decisions'],
  draft({ day, rulings }, random) {
    const subjects = some(random, rulings, 2);
    const list = subjects.map(({ topic, decision }) => `${decision.id} (${topic})`).join(' and ');
    return {
      stem: pick(random, [
        `What does the current decision memo say about ${list}?`,
        `Somebody asks about ${list}. Which answers agree with the memo in force?`,
        `Check these sentences on ${list} against the decision memo. Which are right?`,
      ]),
      claims: propertyClaims({
        subjects,
        all: rulings,
        nameOf: ({ decision }) => decision.id,
        properties: PROPERTIES,
        evidenceOf: (ruling) => [cite(day, 'decisions', writeRuling(ruling))],
      }),
    };
  },
};
