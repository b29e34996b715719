import { type Budget, NOTHING_SPENT, type Spending } from '../../core/budget.ts';
import type { Clock } from '../../core/clock.ts';
import { errorMessage } from '../../core/failure.ts';
import type { Attempt, AttemptOrder, AttemptOutcome, MakeAttempt } from '../../core/practice.ts';
import type { Verification } from '../../core/verifier.ts';

/** What a policy is given for one attempt. */
export interface PolicyRequest {
  readonly prompt: string;
  /** The system prompt with the lessons in it; empty when there is neither. */
  readonly system: string;
  readonly temperature: number;
  /** The same for the same attempt: pass it on where the model takes one. */
  readonly seed: string;
  /** Aborts when time runs out. */
  readonly signal: AbortSignal;
}

/** The answer, alone or with what it cost. */
export type PolicyAnswer = string | ({ readonly output: string } & Partial<Spending>);

/** Answers a task. One that throws has failed for reasons of its own: the attempt teaches nothing. */
export type PracticePolicy = (request: PolicyRequest) => Promise<PolicyAnswer>;

interface PolicyAttemptsParts {
  readonly name: string;
  readonly policy: PracticePolicy;
  /** Undefined: attempts stay ungraded, and are compared. */
  readonly verify:
    | ((order: AttemptOrder, output: string, signal: AbortSignal) => Promise<Verification>)
    | undefined;
  readonly budget: Budget;
  /** The most that one attempt may use. */
  readonly most: (request: PolicyRequest) => Partial<Spending>;
  readonly clock: Clock;
}

/** Attempts by a function: one answer each, within the budget and the time limit. Never rejects. */
export function createFunctionAttempts(parts: PolicyAttemptsParts): MakeAttempt {
  const { name, policy, verify, budget, most, clock } = parts;
  const running = new Set<Promise<void>>();
  let before: Promise<unknown> = Promise.resolve();
  /** One after the other. Most of what attempts reserve comes back: one that does not fit waits for those that run. */
  const reserve = (request: PolicyRequest, done: Promise<void>): ReturnType<Budget['reserve']> => {
    const work = { kind: 'attempt', model: name, purpose: 'attempt' };
    const granted = before.then(async () => {
      for (;;) {
        const reserved = await budget.reserve(most(request), work);
        if (reserved.isGranted) running.add(done);
        if (reserved.isGranted || running.size === 0) return reserved;
        await Promise.race(running);
      }
    });
    before = granted.catch(() => undefined);
    return granted;
  };
  return async (order, signal) => {
    const { id, task, shown, seed, temperature, timeoutMs } = order;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const system = [task.system ?? '', shown.text].filter((part) => part !== '').join('\n\n');
    const request: PolicyRequest = { prompt: task.prompt, system, temperature, seed, signal: limit };
    const began = clock.monotonic();
    const finish = (outcome: AttemptOutcome, output = '', used: Partial<Spending> = {}): Attempt => ({
      id,
      task: task.id,
      by: name,
      generation: shown.generation,
      lessons: shown.lessons,
      outcome,
      output,
      steps: [],
      used: { ...NOTHING_SPENT, ...used, ms: Math.round(clock.monotonic() - began) },
    });
    let end = (): void => undefined;
    const done = new Promise<void>((resolve) => {
      end = resolve;
    });
    const reserved = await reserve(request, done);
    if (!reserved.isGranted)
      return finish({ is: 'infrastructure', why: reserved.why, isLasting: true, isOverBudget: true });
    let used: Partial<Spending> = { calls: 1 };
    try {
      const { output, ...spent } = toReply(await untilLate(policy(request), limit));
      used = { ...used, ...spent };
      const graded = verify === undefined ? undefined : await untilLate(verify(order, output, limit), limit);
      return finish(graded === undefined ? { is: 'ungraded' } : outcomeOf(graded), output, used);
    } catch (error) {
      const why =
        limit.aborted && !signal.aborted ? `it took longer than ${timeoutMs / 1000} s` : errorMessage(error);
      return finish({ is: 'infrastructure', why }, '', used);
    } finally {
      await reserved.settle({ ...used, ms: clock.monotonic() - began });
      running.delete(done);
      end();
    }
  };
}

const toReply = (reply: PolicyAnswer): { readonly output: string } & Partial<Spending> =>
  typeof reply === 'string' ? { output: reply } : { ...reply, output: String(reply.output) };

function outcomeOf(graded: Verification): AttemptOutcome {
  if (graded.status === 'failed-to-run')
    return { is: 'infrastructure', why: `it could not be graded: ${graded.reasons.join('; ')}` };
  const { reward, reasons, stepScores } = graded;
  return { is: 'graded', reward, reasons, ...(stepScores === undefined ? {} : { stepScores }) };
}

/** A function that ignores its signal is not waited for. */
async function untilLate<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  work.catch(() => undefined);
  let leave = (): void => undefined;
  const late = new Promise<never>((_, reject) => {
    leave = () => reject(new Error('it was stopped before its end'));
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
