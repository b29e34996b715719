import { asNumber, asObject, type JsonObject } from '../../src/core/json.ts';
import { LESSON_PLACES } from '../../src/core/lesson.ts';
import type { OpenTaskSource } from '../../src/core/task-source.ts';
import { drawReadingTasks, READING_CONDITIONS, READING_SETS, type ReadingMix } from './draw-tasks.ts';
import { drawPlainTasks } from './plain-tasks.ts';

/** Most tasks have the lessons that they need; the others teach what to do without, with foreign ones, and after a change. */
const MIX: ReadingMix = { present: 70, absent: 10, irrelevant: 10, contradicted: 10 };
/** Held-out tasks of each of the three sets, for each task to train on. */
const HELD_OUT_SHARE = 0.25;

const openReadingTasks: OpenTaskSource = async (options) => {
  const seed = asNumber(options.seed);
  const count = asNumber(options.count);
  const place = LESSON_PLACES.find((one) => one === options.place);
  if (seed === undefined || count === undefined || place === undefined)
    throw new Error(`reading tasks need a seed, a count and a place (${LESSON_PLACES.join(' or ')})`);
  const mix = options.mix === undefined ? MIX : mixIn(asObject(options.mix));
  const most = asNumber(options.heldOut) ?? Math.ceil(count * HELD_OUT_SHARE);
  const plain = asNumber(options.plain) ?? 0;
  const measured = options.measured === undefined ? undefined : mixIn(asObject(options.measured));
  const [trained, ...unseen] = READING_SETS;
  return {
    train: async () => [
      ...drawReadingTasks({ set: trained, count, seed, place, mix }),
      ...drawPlainTasks(plain, seed),
    ],
    heldOut: async () =>
      unseen.flatMap((set) =>
        drawReadingTasks({ set, count: most, seed, place, ...(measured && { mix: measured }) }),
      ),
  };
};

export { openReadingTasks as openTaskSource };

function mixIn(given: JsonObject): ReadingMix {
  const mix = READING_CONDITIONS.map((condition) => [condition, asNumber(given[condition]) ?? 0] as const);
  const unknown = Object.keys(given).filter((name) => !READING_CONDITIONS.some((one) => one === name));
  if (unknown.length > 0 || mix.every(([, share]) => share <= 0))
    throw new Error(`the mix of reading tasks has shares of ${READING_CONDITIONS.join(', ')}`);
  return Object.fromEntries(mix);
}
