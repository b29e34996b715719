import { describe, expect, it } from 'vitest';
import {
  createTaughtDistillation,
  HOUSE_GENERATION,
  type HouseTask,
  openTaughtHouse,
  type TaughtHouse,
} from '../../../lab/real-model/taught-arms.ts';
import { writeDeskFile } from '../../../lab/suites/desk/write-desk-file.ts';
import type { ChatRequest } from '../../../src/core/chat.ts';
import type { PolicyTemplate, StepInput, TrainingEngine, TrainingModel } from '../../../src/core/training.ts';
import type { HintedRollout } from '../../../train/rollout.ts';
import { createMemoryJournal } from '../../../train/run-journal.ts';
import { train } from '../../../train/trainer.ts';

const { signal } = new AbortController();
const bytesOf = (text: string): readonly number[] => [...Buffer.from(text)];
const textOf = (tokens: readonly number[]): string => Buffer.from(tokens).toString();

/** A prompt is its own text in bytes, so that a test can read it. */
const template: PolicyTemplate = {
  render: ({ system, messages }: ChatRequest) => ({
    is: 'prompt',
    tokens: bytesOf(
      [
        ...system.map(({ text }) => text),
        ...messages.flatMap(({ content }) =>
          content.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
        ),
      ].join('\n'),
    ),
  }),
  read: (tokens) => ({ text: textOf(tokens), calls: [] }),
  stop: [],
  longestReply: 400,
};

/** What tells a teacher's prompt from a student's. */
const TAUGHT = /what the user said|As I said before|Active Skills/;

/** An engine whose weights never change: a token is a little more likely after a hint or a lesson. Its policy follows `obeyed` rules. */
function createEvenEngine({ tasks }: TaughtHouse, obeyed: (task: HouseTask) => number): TrainingEngine {
  const read = async ({ data }: StepInput) => ({
    logprobs: data.map(({ tokens, targets }) => {
      const logprob = TAUGHT.test(textOf(tokens)) ? -0.25 : -0.5;
      return targets.map(() => logprob);
    }),
    metrics: {},
  });
  const open = (): TrainingModel => ({
    id: 'even',
    forward: read,
    forwardBackward: (input) => ({ done: read(input) }),
    optimStep: () => ({ done: Promise.resolve({}) }),
    saveState: async (name) => `state/${name}`,
    saveForSampler: async (name) => `sampler/${name}`,
    close: async () => undefined,
  });
  return {
    profile: {
      name: 'even',
      baseModel: 'even',
      wire: 'json',
      losses: ['importance_sampling'],
      reduction: 'sum',
      learningRate: 1e-4,
      contextLength: 100_000,
      inputs: ['target_tokens', 'weights', 'advantages', 'logprobs'],
    },
    createModel: async () => open(),
    openModel: async () => open(),
    openSampler: async () => ({
      sample: async ({ prompt, count }) =>
        Array.from({ length: count }, () => {
          const asked = tasks.find(({ recall }) => textOf(prompt).includes(recall.task));
          if (asked === undefined) throw new Error('no task of the house');
          const tokens = bytesOf(writeDeskFile(asked.asked, asked.rules.slice(0, obeyed(asked))));
          return { tokens, logprobs: tokens.map(() => -0.5), stop: 'stop' as const };
        }),
      close: async () => undefined,
    }),
    close: async () => undefined,
  };
}

/** One step of an arm: what it distilled, and what the trainer said of it. */
async function stepOf(obeyed: (task: HouseTask) => number = () => 0, place = 'message' as const) {
  const house = openTaughtHouse(1, place, 6);
  const engine = createEvenEngine(house, obeyed);
  const distil = createTaughtDistillation({
    tasks: house.tasks,
    template,
    openSampler: (path) => engine.openSampler(path),
    count: 12,
  });
  const made: HintedRollout[] = [];
  const ends: string[] = [];
  let hinted = 0;
  for await (const event of train({
    engine,
    run: 'taught',
    tasks: house.tasks,
    rollouts: async () => [],
    steps: 2,
    batch: { groups: 0, size: 0 },
    generation: async () => HOUSE_GENERATION,
    distil: async (request) => {
      const own = await distil(request);
      made.push(...own);
      return own;
    },
    journal: createMemoryJournal(),
    signal,
    rank: 1,
  })) {
    ends.push(event.type);
    if (event.type === 'step-trained' || event.type === 'step-idle') hinted += event.report.hinted ?? 0;
  }
  const pairs = made.map(({ rollout, hinted: [teacher = []], isTaught = false }) => {
    const task = house.tasks.find(({ id }) => id === rollout.task);
    const [prompt] = rollout.segments;
    if (task === undefined) throw new Error('no task of the house');
    return { task, student: textOf(prompt?.ids ?? []), teacher: textOf(teacher), isTaught };
  });
  return { house, ends, hinted, pairs };
}

/** What the user says about the rules of these tasks, whatever its value: the words around the value. */
const wordsOn = (tasks: readonly HouseTask[]): readonly string[] =>
  tasks.flatMap(({ rules }) =>
    rules.flatMap(({ form }) => [
      ...form.wordings.slice(0, 2).map((wording) => wording.split('{v}')[0] ?? ''),
      ` ${form.about} `,
    ]),
  );
const says = (text: string, words: readonly string[]): boolean =>
  words.some((one) => one.trim() !== '' && text.includes(one));

describe('the arms that put a house into the weights', () => {
  it('a house has two rules for each of three families, and none that a file follows unawares', () => {
    for (let seed = 1; seed <= 12; seed++) {
      const { rules, tasks, sets } = openTaughtHouse(seed, 'message', 9);
      expect(rules).toHaveLength(6);
      const [own, other] = sets;
      for (const task of [...tasks.slice(0, 30), ...(own?.tasks ?? []), ...(other?.tasks ?? [])])
        expect(task.rules).toHaveLength(2);
      // The same forms with other values, which neither the lessons nor the user ever name.
      const valueIn = (set: typeof own, id: string) =>
        set?.tasks.flatMap((task) => task.rules).find((rule) => rule.id === id)?.value;
      for (const { id, value } of rules) {
        expect(valueIn(own, id)).toBe(value);
        expect(valueIn(other, id)).not.toBe(value);
      }
      const measured = new Set(sets.flatMap((set) => set.tasks.map(({ recall }) => recall.task)));
      expect(tasks.filter(({ recall }) => measured.has(recall.task))).toEqual([]);
    }
  });

  it('lessons: the teacher reads them, the student does not, and the trainer takes the step', async () => {
    const { pairs, ends, hinted } = await stepOf();
    expect(ends).toEqual(['step-trained', 'step-trained', 'done']);
    expect(hinted).toBe(2 * 12 * 2);
    for (const { task, student, teacher } of pairs) {
      expect(teacher).toContain(task.shown.text);
      expect(student).toContain(task.recall.task);
      expect(says(student, wordsOn([task]))).toBe(false);
    }
  });
});
