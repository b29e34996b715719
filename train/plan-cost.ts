import { compact, type JsonObject } from '../src/core/json.ts';
import type { RecordedTask } from './recorded-tasks.ts';
import { costOfStep, isFreeEngine, type StepPrice, type StepTokens } from './step-budget.ts';
import { REMEMBERED_TASKS, TAUGHT, type TrainAmount, type WindowSize } from './window-size.ts';

export const TRAIN_STAGES = ['tasks', 'reading', 'remember'] as const;
/** What a window trains: attempts at the person's tasks; to follow lessons first; or rules into the weights. */
type TrainStage = (typeof TRAIN_STAGES)[number];

/** Tokens of a request and of an answer. */
interface TaskTokens {
  readonly prompt: number;
  readonly reply: number;
}

interface PlannedWindow {
  readonly stage: TrainStage;
  readonly amount: TrainAmount;
  readonly size: WindowSize;
  readonly tasks: readonly Pick<RecordedTask, 'tokens'>[];
  readonly heldOut: number;
  /** Of the lessons in a prompt, at most. */
  readonly lessonTokens: number;
  readonly price: StepPrice | undefined;
}

/** Of the tasks of the reading stage, as they were measured (lab/results/reading.md), and of a general question. */
const READING: TaskTokens = { prompt: 160, reply: 60 };
const QUESTION: TaskTokens = { prompt: 110, reply: 60 };
const QUESTIONS = 401;
const READING_QUESTIONS = 201;
const REMEMBERED = { attempts: 4, epochs: 2 } as const;
/** Pairs of a held-out task, and of all of them. */
const MOST_REPEATS = 8;
const MOST_PAIRS = 800;

/** About what a window takes, before it runs: groups that are alike are sampled again, so that it may be twice as many attempts. */
export function estimateWindow(planned: PlannedWindow): JsonObject {
  const { stage, heldOut, price } = planned;
  const own = meanTokens(planned);
  const repeats = Math.min(MOST_REPEATS, Math.floor(MOST_PAIRS / Math.max(1, heldOut)));
  const parts = [
    ...trainingOf(planned, own),
    { attempts: 2 * heldOut * repeats, of: own, trained: 0 },
    { attempts: 2 * QUESTIONS, of: QUESTION, trained: 0 },
    { attempts: stage === 'tasks' ? 0 : 2 * READING_QUESTIONS, of: READING, trained: 0 },
  ];
  const sums = parts.reduce(
    (sum: StepTokens, { attempts, of, trained }) => ({
      prefill: sum.prefill + attempts * of.prompt,
      sample: sum.sample + attempts * of.reply,
      train: sum.train + trained * (of.prompt + of.reply),
    }),
    { prefill: 0, sample: 0, train: 0 },
  );
  const { tokens, usd } = costOfStep(sums, price);
  return compact({
    attempts: parts.reduce((sum, { attempts }) => sum + attempts, 0),
    tokens: Math.round(tokens),
    usd: price === undefined ? undefined : isFreeEngine(price) ? 0 : usd,
  });
}

interface WindowPart {
  readonly attempts: number;
  readonly of: TaskTokens;
  /** Attempts that are trained on, counted by epoch. */
  readonly trained: number;
}

function trainingOf({ stage, amount, size }: PlannedWindow, own: TaskTokens): readonly WindowPart[] {
  const compared = size.steps * size.groups * size.attempts;
  switch (stage) {
    case 'tasks':
      return [{ attempts: compared, of: own, trained: compared }];
    case 'reading':
      return [
        {
          attempts: TAUGHT.tasks * TAUGHT.attempts,
          of: READING,
          trained: TAUGHT.tasks * TAUGHT.keep * TAUGHT.epochs,
        },
        { attempts: compared, of: READING, trained: compared },
      ];
    case 'remember': {
      const count = REMEMBERED_TASKS[amount];
      return [{ attempts: count * REMEMBERED.attempts, of: own, trained: count * REMEMBERED.epochs }];
    }
  }
}

/** A request stands in its prompt with lessons. */
function meanTokens({ tasks, lessonTokens }: PlannedWindow): TaskTokens {
  const mean = (of: (tokens: TaskTokens) => number): number =>
    tasks.reduce((sum, { tokens }) => sum + of(tokens), 0) / Math.max(1, tasks.length);
  return { prompt: mean(({ prompt }) => prompt) + lessonTokens, reply: mean(({ reply }) => reply) };
}
