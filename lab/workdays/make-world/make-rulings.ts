import { between, pick, some } from '../draw.ts';
import { forSplit, numberFor } from '../splits.ts';
import { workdayBefore } from './calendar.ts';
import type { Ruling, Wish } from './day-facts.ts';
import { dayNear, type RecordOptions, timeOn } from './make-records.ts';
import { REASONS, TOPICS } from './topics.ts';

/** Decision numbers of one day, so that those of two days never meet. */
const NUMBERS_PER_DAY = 30;

/** What was decided lately, each matter once a day; about half of it had been decided otherwise before. */
export function makeRulings({ random, world, split, index, today, count }: RecordOptions): readonly Ruling[] {
  const deciders = some(random, world.people, 4);
  const projects = some(random, world.projects, 3);
  return some(random, forSplit(TOPICS, split), count).map((topic, at): Ruling => {
    const [way = '', before = ''] = some(random, topic.ways, 2);
    const day = dayNear(random, today, split, -15);
    const reason = pick(random, forSplit(REASONS, split));
    const hadAnother = at === 0 || random.below(2) === 0;
    return {
      topic: topic.name,
      way,
      ways: topic.ways,
      decision: {
        id: `D-${numberFor(11 + index * NUMBERS_PER_DAY + at * 3, split)}`,
        project: pick(random, projects),
        at: timeOn(random, day),
        decision: `For the ${topic.name}, choose ${way}`,
        rationale: reason.replace('#', String(numberFor(between(random, 12, 380), split))),
        by: pick(random, deciders).name,
        reviewAt: timeOn(random, dayNear(random, today, split, 70)),
      },
      ...(hadAnother && {
        earlier: {
          way: before,
          by: pick(random, deciders).name,
          at: timeOn(random, workdayBefore(day - between(random, 3, 20), split)),
        },
      }),
    };
  });
}

/** Half of what people would rather have is what was decided; only looking it up tells which half. */
export const makeWishes = ({ random, world }: RecordOptions, rulings: readonly Ruling[]): readonly Wish[] =>
  rulings.map((ruling) => {
    const others = world.people.filter(({ name }) => name !== ruling.decision.by);
    return {
      ruling,
      by: pick(random, others).name,
      way:
        random.below(2) === 0
          ? ruling.way
          : pick(
              random,
              ruling.ways.filter((way) => way !== ruling.way),
            ),
    };
  });
