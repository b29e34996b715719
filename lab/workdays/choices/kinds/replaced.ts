import { writeEarlier, writeRuling } from '../../documents/decision-memo.ts';
import { writeDate } from '../../documents/write-moment.ts';
import { pick } from '../../draw.ts';
import type { Ruling } from '../../make-world/day-facts.ts';
import { cite, type Property, propertyClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

type Replaced = Ruling & { readonly earlier: NonNullable<Ruling['earlier']> };
const isReplaced = (ruling: Ruling): ruling is Replaced => ruling.earlier !== undefined;

const PROPERTIES: readonly Property<Replaced>[] = [
  {
    name: 'way before',
    read: ({ earlier }) => earlier.way,
    among: ({ way, ways }) => [way, ...ways],
    say: ({ topic, decision: { id } }, value) => [
      `Before it was replaced, ${id} said: ${value}`,
      `What no longer holds for the ${topic} is this: ${value}`,
    ],
  },
  {
    name: 'by before',
    read: ({ earlier }) => earlier.by,
    say: ({ decision: { id } }, value) => [
      `The earlier entry ${id} was decided by ${value}`,
      `It was ${value} who decided the version of ${id} that was replaced`,
    ],
  },
  {
    name: 'at before',
    read: ({ earlier }) => writeDate(earlier.at),
    say: ({ decision: { id } }, value) => [`The earlier entry ${id} dates from ${value}`],
  },
  {
    name: 'way now',
    read: ({ way }) => way,
    among: ({ earlier, ways }) => [earlier.way, ...ways],
    say: ({ topic, decision: { id } }, value) => [
      `In force under ${id} is: ${value}`,
      `For the ${topic}, the choice that holds now is ${value}`,
    ],
  },
];

/** Two versions of the same memo: the wrong answers of this kind are what the other version says. */
export const replaced: Kind = {
  name: 'replaced',
  papers: ['decisions', 'earlier'],
  draft({ day, rulings }, random) {
    const all = rulings.filter(isReplaced);
    const subject = pick(random, all);
    const evidenceOf = (ruling: Replaced) => [
      cite(day, 'decisions', writeRuling(ruling)),
      cite(day, 'earlier', writeEarlier(ruling)),
    ];
    const { topic, decision, earlier, way } = subject;
    return {
      stem: pick(random, [
        `The ${topic} was decided twice (${decision.id}). Which sentences keep the two entries apart correctly?`,
        `What was once decided on the ${topic}, and what holds today? Both memos have an entry ${decision.id}.`,
        `Put the earlier and the current entry ${decision.id} side by side. What is right about the ${topic}?`,
      ]),
      claims: [
        ...propertyClaims({
          subjects: [subject],
          // Its own other version comes first among the wrong values.
          all: [{ ...subject, earlier: { way, by: decision.by, at: decision.at } }, ...all],
          nameOf: ({ decision: { id } }) => id,
          properties: PROPERTIES,
          evidenceOf,
        }),
        ...verdictClaims({
          slot: 'same person',
          isSo: earlier.by === decision.by,
          yes: [`The same person decided both versions of ${decision.id}`],
          no: [`The two versions of ${decision.id} were decided by different people`],
          evidence: evidenceOf(subject),
        }),
        ...verdictClaims({
          slot: 'same month',
          isSo: earlier.at.month === decision.at.month && earlier.at.year === decision.at.year,
          yes: [`Both versions of ${decision.id} were decided in the same month`],
          no: [`The two versions of ${decision.id} were decided in different months`],
          evidence: evidenceOf(subject),
        }),
      ],
    };
  },
};
