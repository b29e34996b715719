import type { Clock } from '../../core/clock.ts';
import { compact } from '../../core/json.ts';
import {
  ATTEMPT_PREFIX,
  type LessonsForTask,
  type MakeAttempt,
  type PracticeTask,
} from '../../core/practice.ts';
import type { Records } from '../../core/store.ts';
import { sessionsOf } from './attempt-batch.ts';
import type { RunUnits } from './practice-journal.ts';
import type { PracticeTasks } from './sources/practice-tasks.ts';

interface PractisedParts {
  readonly records: Pick<Records, 'append'>;
  readonly clock: Clock;
  readonly tasks: PracticeTasks;
}

interface RetryParts extends PractisedParts {
  readonly lessonsFor: LessonsForTask;
  readonly settings: () => { readonly timeoutMs: number };
}

const PASSED = 0.999;

/** Once, and twice more when it fails: one failure at this temperature may be chance. Undefined when it could not be tried. */
export async function retryTask(
  task: PracticeTask,
  run: string,
  parts: RetryParts,
  make: MakeAttempt,
  journal: RunUnits,
  temperature: number,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { lessonsFor, settings } = parts;
  const { agent, project, domain, prompt } = task;
  const shown = await lessonsFor(compact({ task: prompt, agent, project, domain }));
  const rewards: number[] = [];
  for (let place = 0; place < 3 && !rewards.some((reward) => reward >= PASSED); place++) {
    const id = `again/${task.id}/${place}`;
    const known = (await journal.read(id)) as { readonly reward: number } | undefined;
    if (known !== undefined) rewards.push(known.reward);
    if (known !== undefined) continue;
    const order = {
      id: `${ATTEMPT_PREFIX}${run}/${id}`,
      task,
      shown,
      seed: `${run}/${id}`,
      temperature,
      timeoutMs: settings().timeoutMs,
    };
    const { outcome, used } = await make(order, signal);
    if (outcome.is !== 'graded') return undefined;
    const value = { reward: outcome.reward, used: { ...used } };
    await journal.write(id, value, { sessions: sessionsOf(task) });
    rewards.push(outcome.reward);
  }
  await recordPractised(task.id, rewards, run, 'again', parts);
  return rewards.some((reward) => reward >= PASSED);
}

/** How attempts at a task went: it decides when it is tried again, and how hard it is. */
export async function recordPractised(
  id: string,
  rewards: readonly number[],
  run: string,
  what: string,
  { records, clock, tasks }: PractisedParts,
  by?: string,
): Promise<void> {
  const fact = compact({ type: 'practice-task' as const, op: 'practised' as const, id, run, rewards, by });
  const at = Math.round(clock.now());
  const [written] = await records.append([{ at, fact, key: `practice/${run}/${what}/${id}` }]);
  if (written?.isNew === true) tasks.add({ seq: written.seq, at, fact });
}
