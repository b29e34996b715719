import type { Random } from '../../../../src/base/random.ts';
import { pick } from '../../../suites/workdays/draw.ts';
import { newWord } from '../placeholders.ts';
import { RENAME } from '../tell/file-clauses.ts';
import { drawNoun, fieldNoun } from '../tell/nouns.ts';
import { type Demand, type Meaning, tell } from '../tell/tell.ts';
import { AROUND, FRONT } from '../tell/value-clauses.ts';
import { drawSigns } from './draw-marks.ts';
import { drawKey } from './targets.ts';
import { type AuxiliaryRule, mapRecords, newRecord } from './task-steps.ts';

/** How keys are written: never with something behind them, nor in other letters, which is kept back. */
interface KeyChange {
  readonly name: string;
  write(key: string): string;
  readonly demand: Demand;
}

function drawMarks(random: Random): KeyChange {
  if (random.next() < 0.4) {
    const [left, right] = drawSigns(random);
    return {
      name: 'around',
      write: (key) => left + key + right,
      demand: { clauses: AROUND, words: { left, right } },
    };
  }
  const sign = pick(random, ['_', '-', '.', ':', '~', '+', '#', '/']);
  const left = random.next() < 0.25 ? sign : newWord(random).slice(0, 5) + sign;
  return { name: 'front', write: (key) => left + key, demand: { clauses: FRONT, words: { left } } };
}

/** A rule on the keys of new documents: all of them or one, with something before or around them, or another name. */
export function drawKeyRule(random: Random, invented: readonly string[]): AuxiliaryRule {
  const luck = random.next();
  const one = invented.length > 0 && random.next() < 0.4 ? pick(random, invented) : drawKey(random);
  const isAll = luck < 0.45;
  const to = newWord(random);
  const isRenamed = luck >= 0.7;
  const marks = isRenamed ? undefined : drawMarks(random);
  const write = (key: string): string => {
    if (!isAll && key !== one) return key;
    return marks === undefined ? to : marks.write(key);
  };
  return {
    form: `key ${isAll ? 'all' : 'one'} ${marks?.name ?? 'rename'}`,
    aspects: ['keys', 'fields', 'order'],
    apply: (task) =>
      mapRecords(
        task,
        (record) => Object.fromEntries(Object.entries(record).map(([key, value]) => [write(key), value])),
        'new',
      ),
    tell: (example, own, longest) => {
      const plain = isAll ? (Object.keys(newRecord(example) ?? {})[0] ?? 'topic') : one;
      const meaning: Meaning =
        marks === undefined
          ? { demands: [{ clauses: RENAME, words: { from: one, to } }] }
          : {
              demands: [marks.demand],
              noun: (teller) =>
                isAll ? drawNoun('key', teller) : asKey(fieldNoun(one, teller).one, one, teller),
              ...{ plain, example: write(plain), isShownWhole: isAll },
            };
      return tell(meaning, own, longest);
    },
  };
}

/** A key by its name, and not the value that it has. */
const asKey = (said: string, key: string, random: Random) => ({
  one: /^[`"]/.test(said)
    ? `key ${said}`
    : pick(random, [`key ${key}`, `field name ${key}`, `name of the field ${key}`]),
  many: `keys called ${key}`,
});
