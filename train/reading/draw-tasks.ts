import { createRandom, type Random } from '../../src/base/random.ts';
import type { ChatRequest } from '../../src/core/chat.ts';
import type { LessonPlace, PlacedLessons } from '../../src/core/lesson.ts';
import type { TaskAttempt, TrainingTask } from '../../src/core/task-source.ts';
import { FAMILIES, HELD_OUT_FAMILIES } from './families.ts';
import {
  drawFacts,
  goTogether,
  pickOne,
  type ReadingFamily,
  type ReadingSplit,
  shuffle,
  valuesFor,
  wordingsFor,
} from './family.ts';
import type { ReadingForm } from './form.ts';
import { fillGaps } from './gaps.ts';
import { type AskedFile, gradeFile, holdsValue, type ReadingRule, writeFile } from './grade-file.ts';
import { makeValue } from './made-values.ts';
import { showChange, showRules, type ToldRule } from './told-rules.ts';

export const READING_SETS = ['trained', 'unseen-values', 'unseen-forms', 'unseen-families'] as const;
/** Which forms and values the rules of tasks have. */
export type ReadingSet = (typeof READING_SETS)[number];

export const READING_CONDITIONS = ['present', 'absent', 'irrelevant', 'contradicted'] as const;
/**
 * Which lessons come with a task: those of its rules; none; only lessons for other kinds of files; two of one form, of which the later
 * one holds.
 */
type ReadingCondition = (typeof READING_CONDITIONS)[number];

/** How often each condition is drawn, in any unit. */
export type ReadingMix = Readonly<Partial<Record<ReadingCondition, number>>>;

interface DrawOptions {
  readonly set: ReadingSet;
  readonly count: number;
  readonly seed: number;
  readonly place: LessonPlace;
  /** Absent: all present. */
  readonly mix?: ReadingMix;
}

/** A task of the reading stage, with the lessons that come with it. */
export interface ReadingTask extends TrainingTask, AskedFile {
  readonly condition: ReadingCondition;
  readonly shown: PlacedLessons;
  /** Rules that the house has and no lesson tells: they do not count, and following them would be chance or memory. */
  readonly untold: readonly ReadingRule[];
}

/** In each trained family the third form is held out, and every fourth behind it. */
const HELD_OUT_EVERY = 4;
const HELD_OUT_AT = 2;

const trainedFamilies = FAMILIES.filter(({ id }) => !HELD_OUT_FAMILIES.has(id));
const isHeldOut = (at: number): boolean => at % HELD_OUT_EVERY === HELD_OUT_AT;
const trainedForms = trainedFamilies.flatMap(({ forms }) => forms.filter((_, at) => !isHeldOut(at)));

/** The forms of each set. */
export const FORMS_OF_SET: Readonly<Record<ReadingSet, readonly ReadingForm[]>> = {
  trained: trainedForms,
  'unseen-values': trainedForms,
  'unseen-forms': trainedFamilies.flatMap(({ forms }) => forms.filter((_, at) => isHeldOut(at))),
  'unseen-families': FAMILIES.filter(({ id }) => HELD_OUT_FAMILIES.has(id)).flatMap(({ forms }) => forms),
};

/** The same options give the same tasks. Every form of the set is tested equally often. */
export function drawReadingTasks(options: DrawOptions): readonly ReadingTask[] {
  const { set, count, seed, mix = { present: 1 } } = options;
  const forms = shuffle(createRandom(`reading/${set}/${seed}`), FORMS_OF_SET[set]);
  return Array.from({ length: count }, (_, at) => {
    const id = `reading/${set}/${options.place}/${seed}/${at}`;
    const random = createRandom(id);
    const form = forms[at % forms.length] ?? pickOne(random, forms);
    return drawTask(id, form, drawCondition(mix, random), { ...options, random });
  });
}

function drawCondition(mix: ReadingMix, random: Random): ReadingCondition {
  const shares = READING_CONDITIONS.map((one) => mix[one] ?? 0);
  const drawn = random.next() * shares.reduce((sum, share) => sum + share, 0);
  const at = shares.findIndex(
    (_, last) => drawn < shares.slice(0, last + 1).reduce((sum, share) => sum + share),
  );
  return READING_CONDITIONS[at] ?? 'present';
}

interface Drawing extends DrawOptions {
  readonly random: Random;
}

/** The share of trained rules with a value that no table has. */
const MADE = 0.5;
/** A second rule comes with the one that is tested in this share of the tasks. */
const WITH_SECOND = 0.6;
/** With recall as it is, one prompt in five has a lesson for another kind of file; the system prompt has more. */
const ONE_STRAY_IN = 5;
const MOST_STRAY = { message: 1, system: 4 } as const;
const MOST_IRRELEVANT = 3;

function drawTask(id: string, form: ReadingForm, condition: ReadingCondition, drawing: Drawing): ReadingTask {
  const { set, place, random } = drawing;
  const split: ReadingSplit = set === 'trained' ? 'train' : 'report';
  const family = familyOf(form);
  const facts = drawFacts(family, split, random);
  const request = requestFor(family, split, random, facts);
  const draw = (one: ReadingForm): ReadingRule => {
    const made = split === 'train' && random.next() < MADE ? makeValue(one, family, random) : undefined;
    return { form: one, value: made ?? pickOne(random, valuesFor(one.values, split)) };
  };
  const told = (rule: ReadingRule): ToldRule => ({ rule, request: requestOf(rule.form, split, random) });
  const tested = draw(form);
  const stray = (count: number, rules: readonly ReadingRule[]): readonly ReadingRule[] => {
    const files = [fillGaps(family.plain, facts), writeFile({ family, facts, rules }) ?? ''];
    return strayRules(count, { family, text: [request, ...files].join('\n') }, drawing);
  };
  const telling = { split, random };
  const task = (
    asked: Pick<ReadingTask, 'rules' | 'stray' | 'untold'>,
    shown: PlacedLessons,
  ): ReadingTask => ({
    id,
    recall: { task: request },
    form: form.id,
    family,
    facts,
    condition,
    shown,
    ...asked,
    rightReply: () => writeFile({ family, facts, rules: asked.rules }),
    open: async () => openFileAttempt(request, { family, facts, rules: asked.rules, stray: asked.stray }),
  });
  switch (condition) {
    case 'present': {
      const others = FORMS_OF_SET[set].filter(
        (other) => other.family === family.id && goTogether(family, form, other),
      );
      const second = others.length > 0 && random.next() < WITH_SECOND ? [draw(pickOne(random, others))] : [];
      const rules = [tested, ...second];
      const most = MOST_STRAY[place];
      const strayed =
        place === 'system' || random.below(ONE_STRAY_IN) === 0 ? stray(random.below(most + 1), rules) : [];
      return task(
        { rules, stray: strayed, untold: [] },
        showRules([...rules, ...strayed].map(told), place, telling),
      );
    }
    case 'absent':
      return task({ rules: [], stray: [], untold: [tested] }, { text: '', place });
    case 'irrelevant': {
      const strayed = stray(1 + random.below(MOST_IRRELEVANT), []);
      return task(
        { rules: [], stray: strayed, untold: [tested] },
        showRules(strayed.map(told), place, telling),
      );
    }
    case 'contradicted': {
      const values = valuesFor(form.values, split).filter((value) => value !== tested.value);
      const before = { form, value: pickOne(random, values) };
      return task(
        { rules: [tested], stray: [], untold: [] },
        showChange(told(before), told(tested), place, telling),
      );
    }
  }
}

export const familyOf = ({ family }: ReadingForm): ReadingFamily => {
  const found = FAMILIES.find(({ id }) => id === family);
  if (found === undefined) throw new Error(`no family of files is called ${family}`);
  return found;
};

export const requestFor = (
  family: ReadingFamily,
  split: ReadingSplit,
  random: Random,
  facts = drawFacts(family, split, random),
): string => fillGaps(pickOne(random, wordingsFor(family.requests, split)), facts);

/** Another request for such a file: what the rule was told about. */
const requestOf = (form: ReadingForm, split: ReadingSplit, random: Random): string =>
  requestFor(familyOf(form), split, random);

const SHORTEST_TELLING = 3;
const ANYWHERE = FAMILIES.map(({ plain, requests, facts }) =>
  [plain, ...requests, ...Object.values(facts)].join('\n'),
).join('\n');
/** Values that, found in a file, were taken from their lesson: words that stand in no table of requests and plain files. */
const TELLING_VALUES: ReadonlyMap<ReadingForm, ReadonlySet<string>> = new Map(
  FAMILIES.flatMap(({ forms }) => forms)
    .filter(({ rule }) => rule.means === undefined)
    .map((form) => {
      const isTelling = (value: string): boolean =>
        value.length >= SHORTEST_TELLING && /\p{L}/u.test(value) && !holdsValue(ANYWHERE, value);
      return [form, new Set(form.values.filter(isTelling))];
    }),
);

/** Rules for other kinds of files. Held-out forms are never shown in training. */
function strayRules(
  count: number,
  { family, text }: { readonly family: ReadingFamily; readonly text: string },
  { set, random }: Drawing,
): readonly ReadingRule[] {
  const split: ReadingSplit = set === 'trained' ? 'train' : 'report';
  const pool = split === 'train' ? trainedForms : FAMILIES.flatMap(({ forms }) => forms);
  const { id, kin = [] } = family;
  const others = pool.filter((form) => form.family !== id && !kin.includes(form.family));
  return shuffle(random, others)
    .flatMap((form): readonly ReadingRule[] => {
      const values = valuesFor(form.values, split).filter((value) => TELLING_VALUES.get(form)?.has(value));
      return values.length === 0 ? [] : [{ form, value: pickOne(random, values) }];
    })
    .filter(({ value }) => !holdsValue(text, value))
    .slice(0, count);
}

/** What the policy is told besides its task. */
const SYSTEM = 'You write one small file at a time. Answer with the content of the file and nothing else.';
/** Three times the longest file by hand. */
const MOST_TOKENS = 180;

export const openFileAttempt = (request: string, asked: AskedFile): TaskAttempt => ({
  run: async ({ speak, session }, signal) => {
    const reply = await speak(chatFor(request), { session, agent: 'practice', runKind: 'train' }, signal);
    if (reply.failure !== undefined) return { ok: false, why: reply.failure.message };
    if (signal.aborted) return { ok: false, why: 'the attempt was stopped' };
    const { reward, isComplete, isDone } = gradeFile(reply.text, asked);
    return { ok: true, reward, isComplete, isDone, answer: reply.text };
  },
  close: async () => undefined,
});

const chatFor = (request: string): ChatRequest => ({
  model: 'policy',
  system: [{ type: 'text', text: SYSTEM }],
  messages: [{ role: 'user', content: [{ type: 'text', text: request }] }],
  tools: [],
  maxTokens: MOST_TOKENS,
  stream: false,
});
