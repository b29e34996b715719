import type { Random } from '../../../../src/base/random.ts';
import type { JsonObject } from '../../../../src/core/json.ts';
import { pick } from '../../../suites/workdays/draw.ts';
import { newWord } from '../placeholders.ts';
import { FIELD } from '../tell/file-clauses.ts';
import { tell } from '../tell/tell.ts';
import { drawMark, drawSign, drawSigns, drawSource, drawWord } from './draw-marks.ts';
import { drawKey, KEYS } from './targets.ts';
import { type AuxiliaryRule, mapRecords, newRecord, type TaskSteps } from './task-steps.ts';

/** What a new field says: fixed, from the task, from another field, counted, or two of these. */
interface Content {
  readonly name: string;
  read(task: TaskSteps): string | undefined;
  said(random: Random): string;
}

const SIMPLE_KEYS = KEYS.filter((key) => key !== 'tags');

function drawContent(random: Random, keys: readonly string[]): Content {
  const luck = random.next();
  if (luck < 0.3) {
    const value = random.next() < 0.7 ? drawWord(random) : `${drawWord(random)} ${newWord(random)}`;
    return { name: 'fixed', read: () => value, said: () => `"${value}"` };
  }
  if (luck < 0.4)
    return {
      name: 'count',
      read: (task) => {
        const record = newRecord(task);
        return record === undefined ? undefined : String(Object.keys(record).length);
      },
      said: (own) =>
        pick(own, [
          'the number of the other fields',
          'how many other keys there are',
          'the count of fields that the task gives',
        ]),
    };
  const source = drawSource(random, keys);
  const one: Content = {
    name: source.name,
    read: (task) => source.read(task),
    said: (own) => pick(own, source.said),
  };
  if (luck < 0.85) return one;
  const other = drawSource(
    random,
    keys.filter((key) => !source.said[0]?.endsWith(key)),
  );
  if (other.said[0] === source.said[0]) return one;
  const sign = drawSign(random);
  return {
    name: `${source.name}&${other.name}`,
    read: (task) => {
      const [first, second] = [source.read(task), other.read(task)];
      return first === undefined || second === undefined ? undefined : first + sign + second;
    },
    said: (own) =>
      `${pick(own, source.said)}, "${sign}" and ${pick(own, other.said)}${pick(own, ['', ' in one', ' together'])}`,
  };
}

/** How the content is written. */
interface Writing {
  readonly name: string;
  write(text: string): string;
  readonly said: readonly string[];
}

function drawWriting(random: Random): Writing {
  const luck = random.next();
  if (luck < 0.45) return { name: 'plain', write: (text) => text, said: [''] };
  if (luck < 0.58)
    return {
      name: 'capitals',
      write: (text) => text.toUpperCase(),
      said: [' in capital letters', ' in capitals', ' in upper case'],
    };
  if (luck < 0.72) {
    const [a, b] = drawSigns(random);
    return {
      name: 'around',
      write: (text) => a + text + b,
      said: [
        ` between "${a}" and "${b}"`,
        ` with "${a}" before and "${b}" after it`,
        ` inside "${a}" and "${b}"`,
      ],
    };
  }
  const isBefore = luck < 0.86;
  const mark = drawMark(random, isBefore ? 'before' : 'behind');
  return isBefore
    ? {
        name: 'front',
        write: (text) => mark + text,
        said: [` with "${mark}" in front`, `, "${mark}" before it`, ` led by "${mark}"`, ` after "${mark}"`],
      }
    : {
        name: 'behind',
        write: (text) => text + mark,
        said: [
          ` with "${mark}" behind`,
          `, "${mark}" after it`,
          ` followed by "${mark}"`,
          ` before "${mark}"`,
        ],
      };
}

/** Where a new field stands: nowhere in particular, at the top, second, before or behind another one; never last, which is kept back. */
interface Place {
  readonly name: string;
  put(record: JsonObject, key: string, value: string): JsonObject | undefined;
  said(random: Random): string;
}

const insertAt = (record: JsonObject, at: number, key: string, value: string): JsonObject => {
  const entries = Object.entries(record);
  return Object.fromEntries([...entries.slice(0, at), [key, value], ...entries.slice(at)]);
};

function drawPlace(random: Random, keys: readonly string[]): Place {
  const luck = random.next();
  if (luck < 0.45)
    return { name: 'anywhere', put: (record, key, value) => ({ ...record, [key]: value }), said: () => '' };
  if (luck < 0.62)
    return {
      name: 'first',
      put: (record, key, value) => insertAt(record, 0, key, value),
      said: (own) =>
        pick(own, [', at the top', ', as the first key', ', before all other keys', ', first of all fields']),
    };
  if (luck < 0.72)
    return {
      name: 'second',
      put: (record, key, value) => insertAt(record, 1, key, value),
      said: (own) => pick(own, [', as the second key', ', right after the first key', ', in second place']),
    };
  const [other, isBefore] = [pick(random, keys), luck < 0.86];
  return {
    name: isBefore ? 'before' : 'behind',
    put: (record, key, value) => {
      const at = Object.keys(record).indexOf(other);
      // Behind the last one it would be last.
      const isPossible = at >= 0 && (isBefore || at < Object.keys(record).length - 1);
      return isPossible ? insertAt(record, isBefore ? at : at + 1, key, value) : undefined;
    },
    said: (own) =>
      isBefore
        ? pick(own, [`, right before ${other}`, `, directly ahead of ${other}`, `, just above ${other}`])
        : pick(own, [`, right after ${other}`, `, directly behind ${other}`, `, just below ${other}`]),
  };
}

/** A rule on a further field of new documents: what it says, how that is written, and where it stands. */
export function drawFieldRule(random: Random, invented: readonly string[]): AuxiliaryRule {
  const keys = [...SIMPLE_KEYS, ...invented];
  const key = newWord(random);
  const [content, writing] = [drawContent(random, keys), drawWriting(random)];
  const place = drawPlace(random, random.next() < 0.6 ? [drawKey(random)] : keys);
  const written = (task: TaskSteps): string | undefined => {
    const text = content.read(task);
    return text === undefined ? undefined : writing.write(text);
  };
  return {
    form: `field ${content.name} ${writing.name} ${place.name}`,
    aspects: ['fields', 'order'],
    apply: (task) => {
      const value = written(task);
      const record = newRecord(task);
      if (value === undefined || record === undefined || place.put(record, key, value) === undefined)
        return undefined;
      return mapRecords(task, (one) => place.put(one, key, value) ?? one, 'new');
    },
    tell: (example, own, longest) => {
      const value = written(example) ?? '';
      const said = `${content.said(own)}${pick(own, writing.said)}`;
      return tell(
        {
          demands: [{ clauses: FIELD, words: { key, what: { as: said }, place: { as: place.said(own) } } }],
          ...(value !== '' && { example: `"${key}": "${value}"` }),
        },
        own,
        longest,
      );
    },
  };
}
