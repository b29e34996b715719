import type { Budget } from '../src/core/budget.ts';
import { TrainingError } from '../src/core/training.ts';
import { createPracticeTraining, type PracticeTraining } from './practice-training.ts';
import type { PracticeTrainingCalls } from './practice-training-calls.ts';
import { connectPlannedEngine, followPromotions, openPlannedTemplate, openRegression } from './run-plan.ts';
import { costOfStep, withinStepBudget, withTrainingBudget } from './step-budget.ts';

interface OpenedPracticeTraining extends PracticeTraining {
  /** The session's budget, and the day's where the engine may cost money: attempts have to fit into both. */
  within(budget: Budget): Budget;
}

/** Opens training for the model that attempts tasks. Undefined: there is nothing to train. */
export async function openPracticeTraining(
  model: string,
  calls: PracticeTrainingCalls,
  signal: AbortSignal,
): Promise<
  | { readonly ok: true; readonly training: OpenedPracticeTraining }
  | { readonly ok: false; readonly why: string }
  | undefined
> {
  const start = await calls.begin(model);
  if (start?.ok !== true) return start;
  const { plan } = start;
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
    const close = async (): Promise<void> => {
      try {
        await training.close();
        await engine.close();
      } finally {
        await calls.end();
      }
    };
    const within = (budget: Budget): Budget => (isBudgeted ? withinStepBudget(budget, calls) : budget);
    return { ok: true, training: { ...training, within, close } };
  } catch (error) {
    await calls.end();
    if (error instanceof TrainingError)
      return { ok: false, why: `weights are not trained: ${error.message}` };
    throw error;
  }
}
