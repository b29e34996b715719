import { writeRuling } from '../../documents/decision-memo.ts';
import { writeDate } from '../../documents/write-moment.ts';
import { pick, some } from '../../draw.ts';
import { compareMoments } from '../../make-world/calendar.ts';
import type { Ruling } from '../../make-world/day-facts.ts';
import { cite, near, valueClaims, verdictClaims } from '../claim.ts';
import type { Kind } from '../kind.ts';

/** How entries of the memo stand to each other. */
export const decisionOrder: Kind = {
  name: 'decision-order',
  papers: ['decisions'],
  draft({ day, rulings }, random) {
    const evidenceOf = (of: readonly Ruling[]) =>
      of.map((ruling) => cite(day, 'decisions', writeRuling(ruling)));
    const all = evidenceOf(rulings);
    const [first, ...rest] = some(random, rulings, 4);
    const deciders = [...new Set(rulings.map(({ decision }) => decision.by))];
    const replaced = rulings.filter(({ earlier }) => earlier !== undefined).length;
    const pairs =
      first === undefined
        ? []
        : rest.map((other) => ({ a: first.decision, b: other.decision, of: [first, other] }));
    return {
      stem: pick(random, [
        `Compare the entries of the decision memo of ${writeDate(day.today)} with each other. Which statements hold?`,
        `Which of these follow from the dates and names in the decision memo (${writeDate(day.today)})?`,
        `For an overview of what ${day.world.company} decided up to ${writeDate(day.today)}: which sentences are right?`,
      ]),
      claims: [
        ...pairs.flatMap(({ a, b, of }) => [
          ...verdictClaims({
            slot: `at/${a.id}/${b.id}`,
            isSo: compareMoments(a.at, b.at) < 0,
            yes: [`${a.id} was decided before ${b.id}`],
            no: [`${a.id} was not decided before ${b.id}`],
            evidence: evidenceOf(of),
          }),
          ...verdictClaims({
            slot: `review/${a.id}/${b.id}`,
            isSo: compareMoments(a.reviewAt, b.reviewAt) < 0,
            yes: [`${a.id} is reviewed sooner than ${b.id}`],
            no: [`${a.id} is not reviewed sooner than ${b.id}`],
            evidence: evidenceOf(of),
          }),
          ...verdictClaims({
            slot: `by/${a.id}/${b.id}`,
            isSo: a.by === b.by,
            yes: [`${a.id} and ${b.id} were decided by the same person`],
            no: [`${a.id} and ${b.id} were decided by two different people`],
            evidence: evidenceOf(of),
          }),
        ]),
        ...deciders.flatMap((name) => {
          const count = rulings.filter(({ decision }) => decision.by === name).length;
          return valueClaims({
            slot: `count/${name}`,
            actual: count,
            others: near(count),
            say: (value) => [
              `The number of entries decided by ${name} is ${value}`,
              `${name} stands behind this many entries: ${value}`,
            ],
            evidence: all,
          });
        }),
        ...valueClaims({
          slot: 'replaced',
          actual: replaced,
          others: near(replaced),
          say: (value) => [`The number of entries that replace another is ${value}`],
          evidence: all,
        }),
      ],
    };
  },
};
