import type { NanoReply } from '../../../nano/policy/nano-template.ts';
import { createRandom, type Random } from '../../../src/base/random.ts';
import { makeChoices } from '../../workdays/choices/make-choices.ts';
import { between, pick, shuffled, some } from '../../workdays/draw.ts';
import { commandOf, createDraft, type WorkStep } from '../../workdays/files/draft.ts';
import { count, PLAIN_STYLE, type Plan, styled, text, twoDigits } from '../../workdays/files/plan.ts';
import { folderAt, type Task } from '../../workdays/files/scene.ts';
import { SHORT_TASK_KINDS } from '../../workdays/files/short-tasks.ts';
import { makeDays } from '../../workdays/make-world/make-days.ts';
import { makeRuleChoice } from '../../workdays/rules/make-rule-choice.ts';
import type { HouseRule } from '../../workdays/rules/rule-set.ts';
import type { DayFacts } from '../../workdays/world.ts';
import { drawAuxiliaryRule } from './auxiliary/draw-auxiliary.ts';
import { type AuxiliaryRule, stepsFor, type TaskSteps } from './auxiliary/task-steps.ts';
import { DISTRACTORS } from './distractors.ts';
import { makeForeignTask } from './foreign.ts';
import { copiedWords, createPlaceholders, newWord } from './placeholders.ts';
import { rephrase } from './rephrase.ts';
import { drawSeenRules } from './seen-rules.ts';
import { asLine, asProse, asQuote, blurred, drawRemark, paraphrase } from './wordings.ts';

/** A lesson or a saying of a prompt, in several wordings of which one is shown at a time. */
export interface SampleLine {
  readonly mark: 'skill' | 'said';
  readonly texts: readonly string[];
}

/** A demonstration: replies to a task with these lines in the prompt. */
export interface Sample {
  readonly kind: 'task' | 'choice' | 'rule-choice' | 'foreign';
  readonly lines: readonly SampleLine[];
  readonly task: string;
  /** Obeys all that applies. */
  readonly clean: NanoReply;
  /** Of an imperfect reader. */
  readonly noisy: readonly NanoReply[];
}

/** The imperfections of the demonstrations. */
export const HABITS = {
  /** The probability to obey a lesson: one of these, fixed per form of rule and kind of document. */
  obey: [0.45, 0.55, 0.6, 0.7],
  /** Subtracted for each further lesson. */
  perLesson: 0.025,
  /** The share of near misses among lessons that are not obeyed. */
  sloppy: 0.4,
  /** The probability that a letter of a known choice is inverted. */
  slipOfLetter: 0.03,
};

/** By number of lessons, from none to eight. */
const SHARES = [0.08, 0.22, 0.15, 0.12, 0.13, 0.14, 0.09, 0.04, 0.03];
const TASKS_PER_DAY = 24;
const SAMPLES_PER_DAY = 48;
const INVENTED_FIELDS = 4;
const NOISY = 2;
const AUXILIARY = 0.3;
/** The share of samples with auxiliary rules alone; half of these also have other names for all fields. */
const ONLY_INVENTED = 0.3;
const FIELD_NAMES = 'topic owner due ticket cost effort state version share seats start tags'.split(' ');
/** The share of samples whose copied words are open; the words of the others are drawn once. */
const OPEN = 0.7;
const RENDITIONS = 2;

/** A rule of either sort, as a sample needs it. */
interface Lesson {
  readonly form: string;
  tell(random: Random): string;
  /** Changes the work, in two stages: the suite's rules change a draft, auxiliary ones its steps. */
  readonly rule?: HouseRule;
  readonly auxiliary?: AuxiliaryRule;
}

/** A task of a day, with its steps when no rule is obeyed. */
interface DayTask extends Task {
  readonly invented?: readonly string[];
  readonly base: TaskSteps;
}

/** All samples of one world's day. The same for the same seed. */
export function* makeSamples(seed: number, isOpen = true): Generator<Sample> {
  const random = createRandom(`samples/${seed}`);
  const facts = pick(random, makeDays('train', seed));
  const invented = Array.from({ length: INVENTED_FIELDS }, () => newWord(random));
  const tasks = Array.from({ length: TASKS_PER_DAY }, (_, at) =>
    withInvented(makeTask(facts, at, random), invented, random),
  );
  for (let at = 0; at < SAMPLES_PER_DAY; at++) yield makeTaskSample(tasks, `${seed}/${at}`, isOpen, random);
  yield* makeChoiceSamples(facts, tasks, seed, isOpen, random);
  for (let at = 0; at < 2; at++)
    yield {
      kind: 'foreign',
      lines: random.next() < 0.5 ? [] : distractorsFor('skill', random),
      task: makeForeignTask(random),
      clean: { is: 'foreign' },
      noisy: [{ is: 'foreign' }],
    };
}

function makeTask({ day }: DayFacts, at: number, random: Random): DayTask {
  const task = pick(random, SHORT_TASK_KINDS).make({
    ...{ day, random, split: 'train' },
    task: `t${twoDigits(1 + random.below(40))}${twoDigits(at + 1)}`,
    now: { ...day.today, hour: between(random, 8, 18), minute: random.below(60) },
    folders: drawFolders(random),
  });
  return { ...task, base: stepsFor(createDraft(task.plan)) };
}

/** Two different folders, some with a number, some with a name of their own. */
function drawFolders(random: Random): readonly [string, string] {
  const [first = '', second = ''] = some(random, FOLDERS, 2);
  return [random.next() < 0.25 ? newWord(random) : first, random.next() < 0.25 ? newWord(random) : second];
}
const FOLDERS: readonly string[] = Array.from({ length: 60 }, (_, at) => folderAt(at));

/** A new document of some tasks has fields that no task of the suite has: rules on them can only be read. */
function withInvented(task: DayTask, invented: readonly string[], random: Random): DayTask {
  const [document, ...more] = task.plan.creates;
  if (document === undefined || !task.text.endsWith('.') || random.next() >= 0.45) return task;
  const added = some(random, invented, 1 + random.below(2)).map(
    (key) => [key, random.next() < 0.7 ? text(newWord(random)) : count(10 + random.below(900))] as const,
  );
  const said = added.map(([key, value]) => `, ${key} ${String(styled(value, PLAIN_STYLE))}`).join('');
  const plan = { ...task.plan, creates: [{ ...document, fields: [...document.fields, ...added] }, ...more] };
  return {
    ...task,
    ...{ plan, invented, base: stepsFor(createDraft(plan)) },
    text: `${task.text.slice(0, -1)}${said}.`,
  };
}

/** The names and texts of invented fields. */
const inventedWords = ({ plan, invented = [] }: DayTask): readonly string[] =>
  plan.creates
    .flatMap(({ fields }) => fields.filter(([key]) => invented.includes(key)))
    .flatMap(([key, value]) => [key, ...(value.is === 'text' ? [value.text] : [])]);

function makeTaskSample(tasks: readonly DayTask[], seed: string, mayOpen: boolean, random: Random): Sample {
  const lessons = drawLessons(tasks, seed, random);
  const task = pickTask(tasks, lessons, random);
  const { plan } = task;
  const base = commandsOf(task.base.steps);
  const clean = demonstrate(plan, lessons, () => 1, random);
  const chance = (form: string) => chanceOf(form, task, lessons.length);
  const noisy = Array.from({ length: NOISY }, () => demonstrate(plan, lessons, chance, random));
  const lines = [...linesFor(lessons, random)];
  const opening = createPlaceholders();
  const nextWord = mayOpen ? opening.nextWord : () => newWord(random);
  const wording = random.next() < 0.8 ? rephrase(task.text, random, nextWord) : task.text;
  opening.keep(
    [...clean, ...noisy.flat()]
      .flatMap((command) => command.match(PADDED) ?? [])
      .map((run) => run.replace(/^0+/, '')),
  );
  const isOpen = mayOpen && random.next() < 0.92;
  if (isOpen) opening.add(inventedWords(task));
  const isInvented = lessons.length > 0 && lessons.every(({ rule }) => rule === undefined);
  if (isOpen && isInvented && random.next() < 0.5) opening.add(FIELD_NAMES);
  if (isOpen && random.next() < OPEN)
    opening.add(
      copiedWords(
        [...clean, ...noisy.flat()],
        lines.flatMap(({ texts }) => texts),
        [...base, wording, plan.summary],
      ),
    );
  const open = isOpen ? opening.open : (text: string) => text;
  const shown = open(wording);
  const kept = new Set(
    clean
      .map(open)
      .join(' ')
      .toLowerCase()
      .match(/[a-z]+/g),
  );
  const act = (commands: readonly string[]): NanoReply => ({ is: 'act', commands: commands.map(open) });
  return {
    kind: 'task',
    task: shown,
    clean: act(clean),
    noisy: noisy.map(act),
    lines: lines.map(({ mark, texts }) => ({
      mark,
      texts: texts.map((text) => blur(open(text), random, kept, nextWord)),
    })),
  };
}

/** Some lines have other words, few or most. */
function blur(text: string, random: Random, kept: ReadonlySet<string>, nextWord: () => string): string {
  const luck = random.next();
  if (luck < 0.55) return text;
  // Most words may only go where something is shown.
  const isShown = /["\d<]/.test(text);
  return blurred(text, luck < 0.8 || !isShown ? 0.25 : 0.7, { random, kept, nextWord });
}

/** Mostly one of several tasks to which most of the lessons apply. */
function pickTask(tasks: readonly DayTask[], lessons: readonly Lesson[], random: Random): DayTask {
  const drawn = Array.from({ length: random.next() < 0.75 ? 4 : 1 }, () => pick(random, tasks));
  const fitting = ({ plan, base }: DayTask): number =>
    lessons.filter(({ rule, auxiliary }) => rule?.appliesTo(plan) ?? auxiliary?.apply(base) !== undefined)
      .length;
  return drawn.reduce((best, one) => (fitting(one) > fitting(best) ? one : best));
}

/** A figure with zeros in front. */
const PADDED = /(?<!\d)0+[1-9]\d*/g;

const commandsOf = (steps: readonly WorkStep[]): readonly string[] => [...steps.map(commandOf), 'done'];

function drawLessons(others: readonly DayTask[], seed: string, random: Random): readonly Lesson[] {
  const count = drawCount(random);
  const share = random.next() < ONLY_INVENTED ? 1 : AUXILIARY;
  const invented = Array.from({ length: count }, () => random.next() < share).filter(Boolean).length;
  const rules = count === invented ? [] : drawSeenRules(seed, count - invented);
  const lessons: Lesson[] = rules.map((rule) => lessonOf(rule, others));
  const taken = new Set(invented === 0 ? [] : rules.flatMap((rule) => aspectsChangedBy(rule, others)));
  for (let left = invented, tries = 0; left > 0 && tries < 12; tries++) {
    const auxiliary = drawAuxiliaryRule(
      random,
      others.find((task) => task.invented !== undefined)?.invented ?? [],
    );
    const examples = others.map(({ base }) => base).filter((base) => auxiliary.apply(base) !== undefined);
    if (taken.has(auxiliary.aspect) || examples.length === 0) continue;
    taken.add(auxiliary.aspect);
    lessons.push({
      auxiliary,
      form: auxiliary.form,
      tell: (own) => auxiliary.tell(pick(own, examples), own),
    });
    left--;
  }
  return shuffled(random, lessons);
}

function drawCount(random: Random): number {
  const luck = random.next();
  let sum = 0;
  for (const [count, share] of SHARES.entries()) {
    sum += share;
    if (luck < sum) return count;
  }
  return 0;
}

function lessonOf(rule: HouseRule, others: readonly DayTask[]): Lesson {
  const fitting = others.filter(({ plan }) => rule.appliesTo(plan));
  const examples = fitting.length === 0 ? others : fitting;
  return { rule, form: rule.form, tell: (own) => rule.tell(pick(own, examples).plan, 'train', own) };
}

/** What a rule of the suite changes; an auxiliary rule on the same could contradict it. */
const aspectsChangedBy = (rule: HouseRule, others: readonly DayTask[]): readonly string[] =>
  others
    .filter(({ plan }) => rule.appliesTo(plan))
    .slice(0, 4)
    .flatMap(({ plan, base }) => [...aspectsOf(base, stepsFor(rule.obey(createDraft(plan))))]);

/** The aspects in which two ways to do a task differ. */
function aspectsOf(before: TaskSteps, after: TaskSteps): ReadonlySet<string> {
  const found = new Set<string>();
  if (before.created.join() !== after.created.join()) found.add('name');
  const records = [before, after].map(({ steps, created, plan }) => {
    const own = new Set([...created, ...plan.edits.map(({ path }) => path)]);
    return steps.flatMap((step): readonly (readonly [string, string])[] => {
      if (step.do === 'set')
        return own.has(step.path) ? [[String(step.keys[0]), JSON.stringify(step.value)]] : [];
      const text = step.do === 'write' ? step.text : step.do === 'append' ? step.line : '';
      if (!('path' in step) || !own.has(step.path) || !text.startsWith('{')) return [];
      return Object.entries(JSON.parse(text) as Record<string, unknown>).map(
        ([key, value]) => [key, JSON.stringify(value)] as const,
      );
    });
  });
  const [old = [], now = []] = records;
  for (const [key, value] of old)
    if (!now.some(([name, other]) => name === key && other === value)) found.add(`value ${key}`);
  const [oldKeys, newKeys] = [old.map(([key]) => key), now.map(([key]) => key)];
  if (oldKeys.join() !== newKeys.join()) for (const aspect of ['keys', 'order', 'fields']) found.add(aspect);
  return found;
}

/** The probability to obey a rule of this form in a task of this kind. */
function chanceOf(form: string, { kind, plan }: Task, lessons: number): number {
  const type = plan.creates[0]?.about.at(-1) ?? '';
  const chance = pick(createRandom(`obey/${form}/${kind}/${type}`), HABITS.obey);
  return chance * (1 - HABITS.perLesson * Math.max(0, lessons - 1));
}

/** The commands of a reader of the lessons who obeys each with some probability. */
function demonstrate(
  plan: Plan,
  lessons: readonly Lesson[],
  chance: (form: string) => number,
  random: Random,
): readonly string[] {
  let draft = createDraft(plan);
  for (const { rule, form } of lessons) {
    if (rule === undefined) continue;
    if (random.next() < chance(form)) draft = rule.obey(draft);
    else if (random.next() < HABITS.sloppy && rule.appliesTo(plan)) {
      const slips = rule.slips.filter(({ name }) => !NOT_SHOWN.has(name));
      draft = (slips.length === 0 ? undefined : pick(random, slips).make(draft)) ?? draft;
    }
  }
  let steps = stepsFor(draft);
  for (const { auxiliary, form } of lessons)
    if (auxiliary !== undefined && random.next() < chance(form)) steps = auxiliary.apply(steps) ?? steps;
  return commandsOf(steps.steps);
}

/**
 * Near misses that are not demonstrated: some write more text than a small policy should memorise, and a date without its time leaves the
 * task undone.
 */
const NOT_SHOWN = new Set(['wrong sum', 'short sum', 'too long', 'date only', 'day first']);

/** Lessons, what the user said, or both; with others that do not matter. */
function linesFor(lessons: readonly Lesson[], random: Random): readonly SampleLine[] {
  const luck = random.next();
  const channel = luck < 0.6 ? 'skill' : luck < 0.85 ? 'said' : 'both';
  const lines: SampleLine[] = [];
  for (const lesson of lessons) {
    const mark = channel === 'both' ? pick(random, ['skill', 'said'] as const) : channel;
    lines.push({ mark, texts: Array.from({ length: RENDITIONS }, () => rendition(lesson, mark, random)) });
    // The same may have been said twice, or learned and said again.
    if (channel !== 'skill' && random.next() < 0.12)
      lines.push({ mark: 'said', texts: [rendition(lesson, 'said', random)] });
  }
  const mark = channel === 'both' ? pick(random, ['skill', 'said'] as const) : channel;
  return [...shuffled(random, [...lines, ...distractorsFor(mark, random)])];
}

function rendition(lesson: Lesson, mark: 'skill' | 'said', random: Random): string {
  const told = paraphrase(lesson.tell(random), random);
  if (mark === 'said') return told;
  const luck = random.next();
  if (luck < 0.5) return asQuote(told, lesson.tell(random), random);
  return luck < 0.78 ? asProse(told, lesson.tell(random), random) : asLine(told, random);
}

function distractorsFor(mark: 'skill' | 'said', random: Random): readonly SampleLine[] {
  const luck = random.next();
  const count = luck < 0.45 ? 0 : luck < 0.7 ? 1 : luck < 0.88 ? 2 : 3;
  return Array.from({ length: count }, () => ({
    mark,
    texts: Array.from({ length: RENDITIONS }, () =>
      mark === 'said' && random.next() < 0.8 ? drawRemark(random) : pick(random, DISTRACTORS),
    ),
  }));
}

function* makeChoiceSamples(
  facts: DayFacts,
  tasks: readonly DayTask[],
  seed: number,
  mayOpen: boolean,
  random: Random,
): Generator<Sample> {
  const ids = Array.from({ length: 3 }, (_, at) => `c${at}`);
  const papers = makeChoices({ facts, form: 'short', ids, seed: `samples/${seed}`, asked: new Set() });
  for (const { text, answer, options } of papers)
    yield choiceSample(
      'choice',
      text,
      answer,
      Object.keys(options),
      random.next() < 0.4 ? [] : distractorsFor('skill', random),
      true,
      mayOpen,
      random,
    );
  const rules = drawSeenRules(`choice/${seed}`, 4);
  for (const [at, rule] of rules.entries()) {
    const question = tryQuestion(() =>
      makeRuleChoice({
        ...{ rule, day: facts.day, form: 'short', id: `r${at}`, split: 'train' },
        seed: `samples/${seed}/${at}`,
        rules: { name: 'seen', rules: [rule] },
      }),
    );
    if (question === undefined) continue;
    const isKnown = random.next() >= 0.15;
    const others = shuffled(
      random,
      rules.filter((other) => other !== rule),
    ).slice(0, random.below(4));
    const lessons = [...(isKnown ? [rule] : []), ...others].map((one) => lessonOf(one, tasks));
    yield choiceSample(
      'rule-choice',
      question.text,
      question.answer,
      Object.keys(question.options),
      linesFor(lessons, random),
      isKnown,
      mayOpen,
      random,
    );
  }
}

/** Some rules can be shown in too few ways to make a question of. */
function tryQuestion<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function choiceSample(
  kind: 'choice' | 'rule-choice',
  text: string,
  answer: readonly string[],
  letters: readonly string[],
  lines: readonly SampleLine[],
  isKnown: boolean,
  mayOpen: boolean,
  random: Random,
): Sample {
  const { open } = createPlaceholders();
  const say = (chosen: readonly string[]): NanoReply => ({ is: 'say', text: `\\bbox{${chosen.join(',')}}` });
  const isOpen = mayOpen && random.next() < 0.5;
  const shown = (said: string): string => (isOpen ? open(said) : said);
  const replied = (): NanoReply => say(isKnown ? slipped(answer, letters, random) : anyOf(letters, random));
  return {
    kind,
    task: shown(text),
    lines: lines.map(({ mark, texts }) => ({ mark, texts: texts.map(shown) })),
    clean: isKnown ? say(answer) : replied(),
    noisy: [replied()],
  };
}

const slipped = (
  answer: readonly string[],
  letters: readonly string[],
  random: Random,
): readonly string[] => {
  const chosen = letters.filter((letter) => answer.includes(letter) !== random.next() < HABITS.slipOfLetter);
  return chosen.length === 0 ? answer : chosen;
};

const anyOf = (letters: readonly string[], random: Random): readonly string[] => {
  const bits = 1 + random.below(2 ** letters.length - 1);
  return letters.filter((_, at) => ((bits >> at) & 1) === 1);
};
