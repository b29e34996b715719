import { createRandom, type Random } from '../../../src/base/random.ts';
import type { NanoReply } from '../../../train/nano/policy/nano-template.ts';
import { pick } from '../../suites/workdays/draw.ts';
import { commandOf, createDraft, type WorkStep } from '../../suites/workdays/files/draft.ts';
import type { Plan } from '../../suites/workdays/files/plan.ts';
import type { Task } from '../../suites/workdays/files/scene.ts';
import { makeDays } from '../../suites/workdays/make-world/make-days.ts';
import { stageOf, stepsFor } from './auxiliary/task-steps.ts';
import { makeChoiceSamples } from './choice-samples.ts';
import { type DayTask, inventedWords, makeDayTasks } from './day-tasks.ts';
import { type DrawnLesson, drawLessons } from './draw-lessons.ts';
import { makeForeignTask } from './foreign.ts';
import { copiedWords, createPlaceholders, newWord } from './placeholders.ts';
import { rephrase } from './rephrase.ts';
import { type DraftLine, distractorsFor, linesFor, type Sample, type SampleLine } from './sample-lines.ts';
import { blurred, misspelt } from './wordings.ts';

/** The imperfections of the demonstrations. */
export const HABITS = {
  /** The probability to obey a lesson: one of these, fixed per form of rule and kind of document. */
  obey: [0.45, 0.55, 0.6, 0.7],
  /** Subtracted for each further lesson. */
  perLesson: 0.025,
  /** The share of near misses among lessons that are not obeyed. */
  sloppy: 0.4,
};

const SAMPLES_PER_DAY = 48;
const NOISY = 2;
/** The share of samples whose copied words are open; the words of the others are drawn once. */
const OPEN = 0.7;
/** Half of the samples with auxiliary rules alone have other names for these fields; `start` and `state` are verbs as well. */
const FIELD_NAMES = 'topic owner due ticket cost effort version seats tags'.split(' ');

/** All samples of one world's day. The same for the same seed. */
export function* makeSamples(seed: number, isOpen = true): Generator<Sample> {
  const random = createRandom(`samples/${seed}`);
  const facts = pick(random, makeDays('train', seed));
  const tasks = makeDayTasks(facts, random);
  for (let at = 0; at < SAMPLES_PER_DAY; at++) yield makeTaskSample(tasks, `${seed}/${at}`, isOpen, random);
  yield* makeChoiceSamples(facts, tasks, seed, isOpen, random);
  for (let at = 0; at < 2; at++)
    yield {
      kind: 'foreign',
      lines: random.next() < 0.5 ? [] : distractorsFor('skill', random).map(asLineOf),
      task: makeForeignTask(random),
      clean: { is: 'foreign' },
      noisy: [{ is: 'foreign' }],
    };
}

const asLineOf = ({ mark, texts }: DraftLine): SampleLine => ({ mark, texts: texts.map(({ text }) => text) });

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
  const isInvented =
    lessons.length > 0 && lessons.every(({ auxiliary }) => auxiliary !== undefined && !auxiliary.isByNoun);
  if (isOpen && isInvented && random.next() < 0.5) opening.add(FIELD_NAMES);
  if (isOpen && random.next() < OPEN)
    opening.add(
      copiedWords(
        [...clean, ...noisy.flat()],
        lines.flatMap(({ texts }) => texts.map(({ text }) => text)),
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
      texts: texts.map(({ text, isShown }) => roughened(open(text), isShown, random, kept, nextWord)),
    })),
  };
}

const UNREADABLE = { some: 0.12, most: 0.1 };
const TYPO = 0.07;

/** Some lines have other words, few or most, but only where an example shows what they say; some have a slip of the pen. */
function roughened(
  text: string,
  isShown: boolean,
  random: Random,
  kept: ReadonlySet<string>,
  nextWord: () => string,
): string {
  const luck = random.next();
  if (isShown && luck < UNREADABLE.some) return blurred(text, 0.25, { random, kept, nextWord });
  if (isShown && luck < UNREADABLE.some + UNREADABLE.most)
    return blurred(text, 0.7, { random, kept, nextWord });
  return luck > 1 - TYPO ? misspelt(text, random, kept) : text;
}

/** Mostly one of several tasks to which most of the lessons apply. */
function pickTask(tasks: readonly DayTask[], lessons: readonly DrawnLesson[], random: Random): DayTask {
  const drawn = Array.from({ length: random.next() < 0.75 ? 4 : 1 }, () => pick(random, tasks));
  const fitting = ({ plan, base }: DayTask): number =>
    lessons.filter(({ rule, auxiliary }) => rule?.appliesTo(plan) ?? auxiliary?.apply(base) !== undefined)
      .length;
  return drawn.reduce((best, one) => (fitting(one) > fitting(best) ? one : best));
}

/** A figure with zeros in front. */
const PADDED = /(?<!\d)0+[1-9]\d*/g;

const commandsOf = (steps: readonly WorkStep[]): readonly string[] => [...steps.map(commandOf), 'done'];

/** The probability to obey a rule of this form in a task of this kind. */
function chanceOf(form: string, { kind, plan }: Task, lessons: number): number {
  const type = plan.creates[0]?.about.at(-1) ?? '';
  const chance = pick(createRandom(`obey/${form}/${kind}/${type}`), HABITS.obey);
  return chance * (1 - HABITS.perLesson * Math.max(0, lessons - 1));
}

/** The commands of a reader of the lessons who obeys each with some probability. */
function demonstrate(
  plan: Plan,
  lessons: readonly DrawnLesson[],
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
  const invented = lessons.flatMap(({ auxiliary }) => auxiliary ?? []);
  for (const rule of invented.toSorted((a, b) => stageOf(a) - stageOf(b)))
    if (random.next() < chance(rule.form)) steps = rule.apply(steps) ?? steps;
  return commandsOf(steps.steps);
}

/**
 * Near misses that are not demonstrated: some write more text than a small policy should memorise, and a date without its time leaves the
 * task undone.
 */
const NOT_SHOWN = new Set(['wrong sum', 'short sum', 'too long', 'date only', 'day first']);
