import type { Random } from '../../../../src/base/random.ts';
import type { Json } from '../../../../src/core/json.ts';
import { pick } from '../../../suites/workdays/draw.ts';
import { newWord } from '../placeholders.ts';
import { LETTER_WORDS } from '../tell/rule-meaning.ts';
import { type Demand, tell } from '../tell/tell.ts';
import {
  AROUND,
  BEHIND,
  type Clauses,
  DECIMALS,
  FIXED,
  FRONT,
  IN_LIST,
  IN_RECORD,
  LETTERS,
  SWAP_SIGN,
  TWICE,
  ZEROS,
} from '../tell/value-clauses.ts';
import { drawMark, drawSign, drawSigns, drawSource, drawWord, spelt } from './draw-marks.ts';
import { drawTarget, isKeptBack, KEYS, type ValueTarget } from './targets.ts';
import { type AuxiliaryRule, firstValue, mapValues, type TaskSteps } from './task-steps.ts';

/** A part of what is done with a value; undefined where the task lacks what it needs. */
interface Change {
  readonly name: string;
  write(text: string, task: TaskSteps): string | undefined;
  demand(random: Random): Demand;
}

const demanding =
  (clauses: Clauses, words: Demand['words'] = {}) =>
  (): Demand => ({ clauses, words });

/** What is done with the letters or figures themselves, before anything is put around them. */
function drawSpelling(holds: ValueTarget['holds'], isAlone: boolean, random: Random): Change {
  if (holds === 'number') {
    const [width, places, sign] = [4 + random.below(5), 1 + random.below(4), pick(random, ['.', ','])];
    return random.next() < 0.5
      ? {
          name: 'zeros',
          write: (text) => text.padStart(width, '0'),
          demand: demanding(ZEROS, { width: String(width) }),
        }
      : {
          name: 'decimals',
          write: (text) => `${text}${sign}${'0'.repeat(places)}`,
          demand: demanding(DECIMALS, { places: String(places), sign }),
        };
  }
  if (holds === 'time' || holds === 'date') {
    const old = holds === 'time' && random.next() < 0.6 ? ' ' : '-';
    const sign = pick(
      random,
      ['/', '.', '_', '+', '~', '=', '*', ' at ', ', '].filter((one) => one !== old),
    );
    return {
      name: 'swap-sign',
      write: (text) => text.replaceAll(old, sign),
      demand: demanding(SWAP_SIGN, { old: old === ' ' ? { as: 'the space' } : old, sign }),
    };
  }
  const luck = random.next();
  if (luck < 0.25) {
    const sign = drawSign(random);
    return {
      name: 'twice',
      write: (text) => `${text}${sign}${text}`,
      demand: demanding(TWICE, { sign }),
    };
  }
  // With something around it, a fixed value could look like the value of another rule.
  if (luck < 0.4 && isAlone) {
    const value = random.next() < 0.7 ? drawWord(random) : `${drawWord(random)} ${newWord(random)}`;
    return { name: 'fixed', write: () => value, demand: demanding(FIXED, { value }) };
  }
  const [name, change] = pick(random, [
    ['in capital letters', (text: string) => text.toUpperCase()],
    ['in small letters', (text: string) => text.toLowerCase()],
    ['with a capital first letter', (text: string) => text.charAt(0).toUpperCase() + text.slice(1)],
  ] as const);
  return {
    name: 'letters',
    write: change,
    demand: (own) => {
      const [how, thing] = pick(own, LETTER_WORDS[name] ?? []);
      return { clauses: LETTERS, words: { case: how, letters: thing } };
    },
  };
}

/** What is put before, behind or around: always the same, or something that the task has. */
function drawSurrounding(random: Random, keys: readonly string[]): Change {
  const luck = random.next();
  if (luck < 0.3) {
    const isSigns = random.next() < 0.6;
    const [left, right] = isSigns
      ? drawSigns(random)
      : [drawMark(random, 'before'), drawMark(random, 'behind')];
    return {
      name: 'around',
      write: (text) => left + text + right,
      demand: demanding(AROUND, { left, right }),
    };
  }
  const isBefore = luck < 0.65;
  const clauses = isBefore ? FRONT : BEHIND;
  if (random.next() < 0.65) {
    const mark = drawMark(random, isBefore ? 'before' : 'behind');
    return {
      name: isBefore ? 'front' : 'behind',
      write: (text) => (isBefore ? mark + text : text + mark),
      demand: demanding(clauses, { left: mark, right: mark }),
    };
  }
  const source = drawSource(random, keys);
  const sign = drawSign(random);
  return {
    name: `${isBefore ? 'front' : 'behind'} ${source.name}`,
    write: (text, task) => {
      const own = source.read(task);
      return own === undefined ? undefined : isBefore ? own + sign + text : text + sign + own;
    },
    demand: (own) => {
      const said = pick(own, source.said);
      const mark = { as: isBefore ? `${said} and "${sign}"` : `"${sign}" and ${said}` };
      return { clauses, words: { left: mark, right: mark } };
    },
  };
}

/** What the text is put into. */
function drawContainer(random: Random): Change & { contain(text: string): Json } {
  const key = newWord(random);
  return random.next() < 0.5
    ? {
        name: 'list',
        write: (text) => text,
        contain: (text) => [text],
        demand: demanding(IN_LIST),
      }
    : {
        name: 'record',
        write: (text) => text,
        contain: (text) => ({ [key]: text }),
        demand: demanding(IN_RECORD, { key }),
      };
}

const TRIES = 20;

/** Values of the right sort with which a combination is tried on what is kept back. */
const SAMPLES: Readonly<Record<ValueTarget['holds'], readonly string[]>> = {
  text: ['heron', 'Ada'],
  list: ['weekly', 'night'],
  number: ['35', '412'],
  time: ['2026-03-16 12:00'],
  date: ['2026-03-16'],
};

/** A rule on how values are written: some of spelling, surroundings and container, on a field or on all of a kind. */
export function drawValueRule(random: Random, invented: readonly string[]): AuxiliaryRule {
  const target = drawTarget(random, invented);
  for (let tries = 0; tries < TRIES; tries++) {
    const rule = tryRule(target, random, invented);
    if (rule !== undefined) return rule;
  }
  return drawValueRule(random, invented);
}

function tryRule(
  target: ValueTarget,
  random: Random,
  invented: readonly string[],
): AuxiliaryRule | undefined {
  const others = [...KEYS.filter((key) => key !== 'tags'), ...invented].filter(
    (key) => !target.keys.includes(key),
  );
  const luck = random.next();
  const isSpelt = luck < 0.4 || (luck >= 0.85 && luck < 0.93);
  const isSurrounded = luck >= 0.28 && luck < 0.93;
  const container = luck >= 0.78 && target.holds !== 'list' ? drawContainer(random) : undefined;
  const changes: readonly Change[] = [
    ...(isSpelt ? [drawSpelling(target.holds, !isSurrounded, random)] : []),
    ...(isSurrounded ? [drawSurrounding(random, others)] : []),
    ...(container === undefined ? [] : [container]),
  ];
  if (changes.length === 0) return undefined;
  const write = (text: string, task: TaskSteps): string | undefined =>
    changes.reduce<string | undefined>(
      (now, change) => (now === undefined ? undefined : change.write(now, task)),
      text,
    );
  const change = (value: Json, task: TaskSteps): Json | undefined => {
    if (target.holds === 'list') {
      const items = Array.isArray(value)
        ? value.map((item) => write(spelt(item as Json), task))
        : [undefined];
      return items.some((item) => item === undefined) ? undefined : (items as readonly string[]);
    }
    const text = typeof value === 'object' ? undefined : write(spelt(value), task);
    return text === undefined ? undefined : (container?.contain(text) ?? text);
  };
  if ([...changes.map((one) => [one]), changes].some((some) => doesWhatIsKeptBack(target, some)))
    return undefined;
  return {
    form: `value ${changes.map(({ name }) => name).join('+')}`,
    aspects: target.keys.map((key) => `value ${key}`),
    isByNoun: target.isByNoun,
    apply: (task) => {
      let now: TaskSteps | undefined;
      for (const key of target.keys)
        now = mapValues(now ?? task, key, (value) => change(value, task) ?? value) ?? now;
      const isPossible = target.keys.every((key) => {
        const value = firstValue(task, key);
        return value === undefined || change(value, task) !== undefined;
      });
      return isPossible ? now : undefined;
    },
    tell: (example, own, longest) => {
      const key = target.keys.find((one) => firstValue(example, one) !== undefined) ?? '';
      const value = firstValue(example, key);
      const to = value === undefined ? undefined : change(value, example);
      const isList = target.holds === 'list';
      const first = isList && Array.isArray(value) ? value[0] : value;
      const shown = isList && Array.isArray(to) ? to[0] : to;
      return tell(
        {
          demands: changes.map((one) => one.demand(own)),
          noun: (teller) => target.noun(teller),
          ...(first !== undefined &&
            shown !== undefined && {
              plain: spelt(first as Json),
              example:
                container === undefined ? spelt(shown as Json) : JSON.stringify({ [key]: to }).slice(1, -1),
            }),
          isShownWhole: true,
        },
        own,
        longest,
      );
    },
  };
}

/** Whether these changes together do to a value of the target what a form does that pre-training must not see. */
function doesWhatIsKeptBack({ suite, holds }: ValueTarget, changes: readonly Change[]): boolean {
  return SAMPLES[holds].some((from) => {
    // Where the task lacks what is put there, anything else stands in its place.
    const write = (text: string, { name, write: own }: Change): string =>
      own(text, EMPTY_TASK) ?? (name.startsWith('front') ? `x-${text}` : `${text}-x`);
    return isKeptBack(suite, from, changes.reduce(write, from));
  });
}

/** A task that has nothing. */
const EMPTY_TASK: TaskSteps = {
  plan: {
    ...{ task: 't0101', author: 'Zoe', summary: '', creates: [], edits: [], given: {} },
    today: { year: 2026, month: 3, day: 16, hour: 12, minute: 0 },
  },
  steps: [],
  created: [],
};
