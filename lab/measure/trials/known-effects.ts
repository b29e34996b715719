import { createRandom } from '../../../src/base/random.ts';
import type { LessonText } from '../../../src/core/lesson.ts';
import type {
  AttemptLessons,
  LessonsForTask,
  MakeAttempt,
  PracticeTask,
} from '../../../src/core/practice.ts';
import { taughtText } from '../plain-lesson.ts';

/** What a lesson of a simulated library does. */
export interface KnownLesson {
  readonly id: string;
  readonly kind: string;
  /** The mean difference that it makes, −1 to 1, over the tasks that it is shown for. */
  readonly effect: number;
  /** On every second root it helps by this much more, and on the others by this much less. */
  readonly spread: number;
}

/** How the noise of the two attempts of a pair is related: a local engine repeats its samples, an API does not. */
type Noise = 'independent' | 'same';

export interface ScriptedWorld {
  readonly seed: string;
  readonly candidates: readonly KnownLesson[];
  readonly noise: Noise;
  /** Roots of tasks for each lesson, each with one variation. */
  readonly roots: number;
  /** The share of attempts that fail for reasons of infrastructure. */
  readonly faults: number;
}

/** The tokens of one attempt, for costs. */
const ATTEMPT_TOKENS = 3000;

/** Tasks differ in how often they succeed without any lesson: 30 to 60 of 100. */
const EASIEST = 0.6;
const HARDEST = 0.3;

/** Each lesson has a domain of its own with tasks of its own. */
export function scriptedTasks({ seed, candidates, roots }: ScriptedWorld): readonly PracticeTask[] {
  return candidates.flatMap(({ id }) =>
    Array.from({ length: roots }, (_, at) => at).flatMap((at) =>
      ['', '/again'].map(
        (variation): PracticeTask => ({
          id: `${seed}/${id}/${at}${variation}`,
          root: `${seed}/${id}/${at}`,
          origin: variation === '' ? 'curated' : 'variation',
          prompt: `Task ${at} of ${id}${variation}`,
          domain: id,
          reference: 'ok',
        }),
      ),
    ),
  );
}

/** A policy whose share of successes is known: each task's own, and the effect of the lessons of its domain. */
export function createKnownEffects(world: ScriptedWorld): MakeAttempt {
  const byId = new Map(world.candidates.map((candidate) => [candidate.id, candidate]));
  return async ({ id, task, shown, seed }) => {
    const own = createRandom(`task/${task.root}`).next();
    const place = Number(task.root.split('/').at(-1));
    const lesson = shown.lessons.includes(task.domain) ? byId.get(task.domain) : undefined;
    const shift = (lesson?.spread ?? 0) * (place % 2 === 0 ? 1 : -1);
    const chance = HARDEST + own * (EASIEST - HARDEST) + (lesson?.effect ?? 0) + shift;
    const isWith = lesson !== undefined;
    const random = createRandom(`${world.seed}/${seed}/${world.noise === 'same' ? '' : isWith}`);
    const isFault = random.next() < world.faults;
    const reward = random.next() < chance ? 1 : 0;
    return {
      id,
      task: task.id,
      by: 'scripted',
      generation: shown.generation,
      lessons: shown.lessons,
      outcome: isFault ? { is: 'infrastructure', why: 'overloaded' } : { is: 'graded', reward, reasons: [] },
      output: reward === 1 ? 'ok' : 'wrong',
      steps: [],
      used: { calls: 1, tokens: ATTEMPT_TOKENS, usd: 0, unpriced: 0, ms: 1000 },
    };
  };
}

/** A task is shown the lesson of its domain. */
export function createScriptedRecall(isShown: (lesson: string) => boolean): LessonsForTask {
  return async ({ domain = '' }, force): Promise<AttemptLessons> => {
    const isIn = force?.with?.includes(domain) === true || isShown(domain);
    const lessons = isIn && force?.without?.includes(domain) !== true ? [domain] : [];
    return { text: lessons.join('\n'), lessons, generation: 1 };
  };
}

/** A lesson's text; what it says has no meaning here. */
export const scriptedText = (name: string): LessonText => ({
  ...taughtText(
    {
      name,
      description: `When a task of ${name} is done.`,
      content: `Do it as ${name} says.`,
      scope: { domain: name },
    },
    { source: 'practice' },
  ),
  evidence: { turns: [], quotes: [], learner: 'practice' },
});

/** Kinds of lessons and how many of each a library has. */
export type Mix = readonly (Omit<KnownLesson, 'id'> & { readonly count: number })[];

/** A library of 50 as practice may propose it: half of it is worth nothing or does harm. */
export const MIXED: Mix = [
  { kind: 'helps by 50 points', effect: 0.5, spread: 0, count: 5 },
  { kind: 'helps by 30 points', effect: 0.3, spread: 0, count: 10 },
  { kind: 'helps by 20 points', effect: 0.2, spread: 0, count: 10 },
  { kind: 'useless', effect: 0, spread: 0, count: 15 },
  { kind: 'helps on half of its tasks, harms on the others', effect: 0, spread: 0.25, count: 5 },
  { kind: 'harms by 30 points', effect: -0.3, spread: 0, count: 5 },
];

/** The kinds alternate, so that none has the first places to itself. */
export function drawLibrary(mix: Mix): readonly KnownLesson[] {
  const most = Math.max(...mix.map(({ count }) => count));
  return Array.from({ length: most }, (_, round) => round).flatMap((round) =>
    mix.flatMap(({ count, ...kind }, at) =>
      round < count ? [{ ...kind, id: `lesson-${String.fromCharCode(97 + at)}${round}` }] : [],
    ),
  );
}
