import type { Budget } from '../src/core/budget.ts';
import type { JobCost } from '../src/core/schedule.ts';
import { TrainingError } from '../src/core/training.ts';
import { createPracticeTraining, type PracticeTraining } from './practice-training.ts';
import type { PromotionEvent } from './promotion.ts';
import { connectPlannedEngine, followPromotions, openPlannedTemplate, openRegression } from './run-plan.ts';
import { costOfStep, withinStepBudget, withTrainingBudget } from './step-budget.ts';
import type { DaemonCalls, TrainingPlan } from './training-plan.ts';

/** What training in a session of practice needs, as plain data: it runs in another thread than the one that serves. */
export interface PracticeTrainingPlan
  extends Pick<
    TrainingPlan,
    | 'engine'
    | 'template'
    | 'folder'
    | 'rank'
    | 'tuning'
    | 'promotion'
    | 'turnedBack'
    | 'regression'
    | 'isThin'
    | 'isBudgeted'
    | 'price'
  > {
  /** The policy's name, such as `nano`. */
  readonly name: string;
}

/** What a session of practice asks of the daemon. */
export interface PracticeTrainingCalls
  extends Pick<DaemonCalls, 'tell' | 'shortage' | 'generation' | 'reserve' | 'settle'> {
  /**
   * Nothing else trains the engine's weights from then on until `end`. A text says why nothing may be trained now. Undefined: the
   * model (`provider/model`) is not the engine's policy.
   */
  begin(model: string): Promise<PracticeTrainingPlan | string | undefined>;
  end(): Promise<void>;
}

/** One of these calls as plain data. */
export type PracticeTrainingCall =
  | { readonly call: 'begin'; readonly model: string }
  | { readonly call: 'tell'; readonly event: PromotionEvent }
  | { readonly call: 'shortage'; readonly clusters: number }
  | { readonly call: 'generation' | 'end' }
  | { readonly call: 'reserve'; readonly most: JobCost; readonly purpose: 'sample' | 'train' }
  | { readonly call: 'settle'; readonly reservation: number; readonly used: JobCost };

/** The calls, sent to the thread that answers them. */
export const sendPracticeCalls = (
  send: (call: PracticeTrainingCall) => Promise<unknown>,
): PracticeTrainingCalls => {
  const ask = async <T>(call: PracticeTrainingCall): Promise<T> => (await send(call)) as T;
  return {
    begin: (model) => ask({ call: 'begin', model }),
    tell: (event) => ask({ call: 'tell', event }),
    shortage: (clusters) => ask({ call: 'shortage', clusters }),
    generation: () => ask({ call: 'generation' }),
    end: () => ask({ call: 'end' }),
    reserve: (most, purpose) => ask({ call: 'reserve', most, purpose }),
    settle: (reservation, used) => ask({ call: 'settle', reservation, used }),
  };
};

/** `calls`: undefined when nothing is trained here. */
export async function answerPracticeCall(
  asked: PracticeTrainingCall,
  calls: PracticeTrainingCalls | undefined,
): Promise<unknown> {
  switch (asked.call) {
    case 'begin':
      return calls?.begin(asked.model);
    case 'tell':
      return calls?.tell(asked.event);
    case 'shortage':
      return calls?.shortage(asked.clusters);
    case 'reserve':
      return calls?.reserve(asked.most, asked.purpose);
    case 'settle':
      return calls?.settle(asked.reservation, asked.used);
    default:
      return calls?.[asked.call]();
  }
}

interface OpenedPracticeTraining extends PracticeTraining {
  /** The session's budget, and the day's where the engine may cost money: attempts have to fit into both. */
  within(budget: Budget): Budget;
}

/** Opens training for the model that attempts tasks. A text says why nothing is trained; undefined: there is nothing to train. */
export async function openPracticeTraining(
  model: string,
  calls: PracticeTrainingCalls,
  signal: AbortSignal,
): Promise<OpenedPracticeTraining | string | undefined> {
  const plan = await calls.begin(model);
  if (plan === undefined || typeof plan === 'string') return plan;
  try {
    const engine = await connectPlannedEngine(plan);
    const { learningRate, settings, seed } = plan.tuning;
    const { price, isBudgeted } = plan;
    const training = createPracticeTraining({
      engine: isBudgeted ? withTrainingBudget(engine, calls, price) : engine,
      costOf: ({ inputTokens, outputTokens }) =>
        costOfStep({ prefill: inputTokens, sample: outputTokens, train: 0 }, price),
      template: await openPlannedTemplate(plan),
      name: plan.name,
      promotions: followPromotions(plan, calls),
      folder: plan.folder,
      generation: calls.generation,
      rank: plan.rank,
      signal,
      isThin: plan.isThin,
      ...(await openRegression(plan)),
      ...(learningRate === undefined ? {} : { learningRate }),
      ...(settings === undefined ? {} : { settings }),
      ...(seed === undefined ? {} : { seed }),
    });
    return {
      ...training,
      within: (budget) => (isBudgeted ? withinStepBudget(budget, calls) : budget),
      close: async () => {
        try {
          await training.close();
          await engine.close();
        } finally {
          await calls.end();
        }
      },
    };
  } catch (error) {
    await calls.end();
    if (error instanceof TrainingError) return `weights are not trained: ${error.message}`;
    throw error;
  }
}
