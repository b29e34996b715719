import { writeRuling } from '../../documents/decision-memo.ts';
import { writeWish } from '../../documents/meeting-notes.ts';
import { pick, some } from '../../draw.ts';
import type { Wish } from '../../make-world/day-facts.ts';
import { cite, type Property, propertyClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

const PROPERTIES: readonly Property<Wish>[] = [
  {
    name: 'by',
    read: ({ by }) => by,
    say: ({ ruling }, value) => [
      `In the meeting, ${value} gave an opinion on the ${ruling.topic}`,
      `The opinion on ${ruling.decision.id} in the notes is that of ${value}`,
    ],
  },
  {
    name: 'wished',
    read: ({ way }) => way,
    among: ({ ruling }) => [ruling.way, ...ruling.ways],
    say: ({ ruling, by }, value) => [
      `${by} would like ${value} for the ${ruling.topic}`,
      `What ${by} spoke for in the matter of the ${ruling.topic} is ${value}`,
    ],
  },
  {
    name: 'decided',
    read: ({ ruling }) => ruling.way,
    among: ({ way, ruling }) => [way, ...ruling.ways],
    say: ({ ruling }, value) => [
      `What was decided for the ${ruling.topic} is ${value}`,
      `By ${ruling.decision.id}, the ${ruling.topic} is settled with ${value}`,
    ],
  },
  {
    name: 'decider',
    read: ({ ruling }) => ruling.decision.by,
    say: ({ ruling }, value) => [
      `The ${ruling.topic} was decided by ${value}, whoever else had a view on it`,
    ],
  },
];

/** What somebody would like is not what was decided, even when it happens to be the same. */
export const opinions: Kind = {
  name: 'opinions',
  papers: ['decisions', 'meeting'],
  draft({ day, wishes }, random) {
    const subjects = some(random, wishes, 2);
    const list = subjects.map(({ ruling }) => `the ${ruling.topic}`).join(' and ');
    const evidenceOf = (wish: Wish) => [
      cite(day, 'meeting', writeWish(wish)),
      cite(day, 'decisions', writeRuling(wish.ruling)),
    ];
    return {
      stem: pick(random, [
        `What was said about ${list}, and what was decided? Select the sentences that keep the two apart correctly.`,
        `On ${list}, the meeting notes and the decision memo: which of these agree with them?`,
        `Somebody quotes the meeting on ${list}. Which statements are right, decisions and opinions each for what they are?`,
      ]),
      claims: [
        ...propertyClaims({
          subjects,
          all: wishes,
          nameOf: ({ ruling }) => ruling.decision.id,
          properties: PROPERTIES,
          evidenceOf,
        }),
        ...subjects.flatMap((wish) =>
          verdictClaims({
            slot: `${wish.ruling.decision.id}/agrees`,
            isSo: wish.way === wish.ruling.way,
            yes: [`The view that ${wish.by} took on the ${wish.ruling.topic} is also what was decided`],
            no: [`The view that ${wish.by} took on the ${wish.ruling.topic} is not what was decided`],
            evidence: evidenceOf(wish),
          }),
        ),
      ],
    };
  },
};
