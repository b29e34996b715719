import { setMaxListeners } from 'node:events';
import { undefinedIfAborted } from '../../base/until-aborted.ts';
import type { OpenAttemptModel } from '../../core/attempt-model.ts';
import { addSpending, NOTHING_SPENT } from '../../core/budget.ts';
import type { Clock } from '../../core/clock.ts';
import { errorMessage } from '../../core/failure.ts';
import type { TrajectoryStep } from '../../core/learn.ts';
import type {
  Attempt,
  AttemptOrder,
  AttemptOutcome,
  MakeAttempt,
  PracticeTask,
} from '../../core/practice.ts';
import { type Confinement, confinementHere } from '../sandbox/find-confiner.ts';
import type { Workspace } from '../sandbox/workspace.ts';
import { SandboxError } from '../sandbox/workspace-limits.ts';
import type { AttemptFolders } from './attempt-folders.ts';
import type { MadeAttempt, ReadSteps, VerifyAttempt } from './attempt-parts.ts';
import { attemptReasoning } from './reasoning.ts';
import { watchModel } from './watched-model.ts';
import {
  type AttemptWorkspace,
  attemptInWorkspace,
  type WorkspaceAttemptOptions,
} from './workspace-attempt.ts';

/** Who makes attempts: a model, by itself or with our agent's tools; or a program that brings its own. */
export type PracticeAgent =
  | { readonly kind: 'model'; readonly open: OpenAttemptModel }
  | {
      readonly kind: 'program';
      /** Never rejects; none of its processes is left when it resolves. */
      run(order: AttemptOrder, workspace: Workspace, signal: AbortSignal): Promise<MadeAttempt>;
    };

export interface AttemptsParts {
  /** By name. The first one makes the attempts whose order names none. */
  readonly agents: ReadonlyMap<string, PracticeAgent>;
  readonly folders: AttemptFolders;
  readonly verify: VerifyAttempt;
  readonly readSteps: ReadSteps;
  readonly clock: Clock;
  readonly workspace?: WorkspaceAttemptOptions;
  /** How long grading may take; 300 s by default. It does not count as time of the attempt. */
  readonly verifyMs?: number;
  /** How long a model's last call may take to stop, once its attempt has ended; 5 s by default. */
  readonly settleMs?: number;
  /** By default it is determined at the first task with a folder. */
  readonly confinement?: Confinement;
  /** Something could not be removed or closed. */
  readonly onFault?: (error: unknown) => void;
}

const VERIFY_MS = 300_000;

/**
 * Makes and grades attempts: a task without a folder by a model's replies alone, one with a folder by our agent in a confined
 * copy of it, or either by a program. When time runs out the attempt is stopped, and what it left is graded, unless it was
 * waiting for its model.
 */
export function createAttempts(parts: AttemptsParts): MakeAttempt {
  return async (order, signal) => {
    // Every attempt of a run listens to it.
    setMaxListeners(0, signal);
    const startedAt = parts.clock.monotonic();
    const name = order.agent ?? parts.agents.keys().next().value;
    const finish = (outcome: AttemptOutcome, made?: MadeAttempt, steps: readonly TrajectoryStep[] = []) =>
      toAttempt(order, { outcome, made, steps, name, ms: parts.clock.monotonic() - startedAt });
    const agent = name === undefined ? undefined : parts.agents.get(name);
    if (agent === undefined)
      return finish(lasting(`there is no agent named ${JSON.stringify(name ?? '')} to practise with`));
    if (order.task.isRecordOnly === true)
      return finish(lasting('the folder that the task was done in was not kept'));
    if (signal.aborted) return finish(STOPPED);
    let place: AttemptWorkspace | undefined;
    const limit = startLimit(order.timeoutMs, signal);
    try {
      const needsFolder = order.task.workspace !== undefined || agent.kind === 'program';
      const confinement = needsFolder ? (parts.confinement ?? (await confinementHere())) : undefined;
      const why = confinement === undefined ? undefined : whyNotHere(order.task, agent.kind, confinement);
      if (why !== undefined) return finish(lasting(why));
      if (confinement !== undefined) {
        const workspace = await parts.folders.open(order.task.workspace, limit.signal);
        place = { workspace, isConfined: confinement.ok };
      }
      const made =
        agent.kind === 'program'
          ? await attemptByProgram(agent, order, place, limit)
          : await attemptByModel(parts, agent.open, { order, place, limit });
      limit.end();
      if (signal.aborted) return finish(STOPPED, made);
      const steps = parts.readSteps(made.messages);
      const outcome =
        made.fault === undefined
          ? await grade(parts, order.task, { made, steps, workspace: place?.workspace }, signal)
          : { is: 'infrastructure' as const, ...made.fault };
      return finish(signal.aborted ? STOPPED : outcome, made, steps);
    } catch (error) {
      if (signal.aborted) return finish(STOPPED);
      return finish(
        error instanceof SandboxError
          ? lasting(`the task's folder cannot be prepared: ${error.message}`)
          : { is: 'infrastructure', why: errorMessage(error) },
      );
    } finally {
      limit.end();
      await place?.workspace.dispose().catch((error: unknown) => parts.onFault?.(error));
    }
  };
}

const STOPPED: AttemptOutcome = { is: 'infrastructure', why: 'it was stopped before its end' };

const lasting = (why: string): AttemptOutcome => ({ is: 'infrastructure', why, isLasting: true });

/** Why the task cannot be attempted on this machine, before anything is paid for. */
export function whyNotHere(
  { check }: PracticeTask,
  kind: PracticeAgent['kind'],
  confinement: Confinement,
): string | undefined {
  if (confinement.ok) return undefined;
  if (kind === 'program')
    return `a program is not run without confinement: ${confinement.why}: ${confinement.fix}`;
  return check?.kind === 'command' && check.shell !== 'plain'
    ? `the task's check is a command: ${confinement.why}: ${confinement.fix}`
    : undefined;
}

interface TimeLimit {
  readonly signal: AbortSignal;
  readonly isOver: () => boolean;
  readonly ms: number;
  end(): void;
}

/** Aborts with the given signal or when the time is over; listeners of an ended one are gone. */
function startLimit(ms: number, signal: AbortSignal): TimeLimit {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  let isOver = false;
  const leave = (): void => controller.abort(signal.reason);
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort(new Error(`time ran out after ${ms} ms`));
  }, ms);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  return {
    signal: controller.signal,
    isOver: () => isOver,
    ms,
    end: () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
    },
  };
}

/** A call to the model that has lasted this share of the time is what the time was lost on. */
const HANGING_SHARE = 0.25;

const describeLimit = ({ ms }: TimeLimit): string => `time ran out after ${Math.round(ms / 1000)} s`;

async function attemptByProgram(
  program: Extract<PracticeAgent, { kind: 'program' }>,
  order: AttemptOrder,
  place: AttemptWorkspace | undefined,
  limit: TimeLimit,
): Promise<MadeAttempt> {
  if (place === undefined) throw new Error('a program needs a folder');
  const made = await program.run(order, place.workspace, limit.signal);
  return limit.isOver() && made.fault === undefined ? withRemark(made, describeLimit(limit)) : made;
}

interface ModelAttempt {
  readonly order: AttemptOrder;
  /** Undefined: in words alone. */
  readonly place: AttemptWorkspace | undefined;
  readonly limit: TimeLimit;
}

async function attemptByModel(
  { clock, workspace: options, settleMs, onFault }: AttemptsParts,
  open: OpenAttemptModel,
  { order, place, limit }: ModelAttempt,
): Promise<MadeAttempt> {
  const { signal, isOver, ms } = limit;
  const late = describeLimit(limit);
  const opening = open(order, signal);
  const model = await undefinedIfAborted(() => opening, signal);
  if (model === undefined) {
    opening.then((left) => left.close()).catch((error: unknown) => onFault?.(error));
    return { by: '', output: '', messages: [], used: {}, fault: { why: `its model was not ready; ${late}` } };
  }
  try {
    const watched = watchModel(model, clock, settleMs);
    let waitedMs = 0;
    const noteWait = (): void => {
      waitedMs = watched.waitingMs();
    };
    signal.addEventListener('abort', noteWait, { once: true });
    const made =
      place === undefined
        ? await attemptReasoning(order, watched, signal)
        : await attemptInWorkspace(order, watched, { ...options, ...place }, signal);
    await watched.settled();
    const sampled = model.sampled?.();
    const whole = sampled === undefined ? made : { ...made, sampled };
    if (!isOver()) return whole;
    const isHanging = waitedMs >= ms * HANGING_SHARE || (place === undefined && made.output === '');
    return isHanging
      ? {
          ...whole,
          fault: { why: `the model had not answered after ${Math.round(waitedMs / 1000)} s; ${late}` },
        }
      : withRemark(whole, late);
  } finally {
    await model.close().catch((error: unknown) => onFault?.(error));
  }
}

const withRemark = (made: MadeAttempt, remark: string): MadeAttempt => ({
  ...made,
  remarks: [...(made.remarks ?? []), remark],
});

interface AttemptWork {
  readonly made: MadeAttempt;
  readonly steps: readonly TrajectoryStep[];
  readonly workspace: Workspace | undefined;
}

/** By the task's own check. Without one, and for one that compares, the attempt stays ungraded. */
async function grade(
  { verify, verifyMs = VERIFY_MS }: AttemptsParts,
  task: PracticeTask,
  { made, steps, workspace }: AttemptWork,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  if (task.check === undefined || task.check.kind === 'comparative') return { is: 'ungraded' };
  const limit = startLimit(verifyMs, signal);
  try {
    const submission = {
      task: task.prompt,
      output: made.output,
      domain: task.domain,
      steps: steps.map(stepText),
      messages: made.messages,
      ...(task.reference === undefined ? {} : { reference: task.reference }),
      ...(workspace === undefined ? {} : { workspace }),
    };
    const graded = await undefinedIfAborted(() => verify(task, submission, limit.signal), limit.signal);
    if (graded === undefined)
      return { is: 'infrastructure', why: `grading took longer than ${Math.round(verifyMs / 1000)} s` };
    if (graded.status === 'does-not-apply') return { is: 'ungraded' };
    if (graded.status === 'failed-to-run')
      return { is: 'infrastructure', why: `it could not be graded: ${graded.reasons.join('; ')}` };
    const { reward, stepScores } = graded;
    if (!(reward >= 0 && reward <= 1))
      return { is: 'infrastructure', why: `the verifier gave ${reward}, which is no grade`, isLasting: true };
    const isFitting =
      stepScores?.length === steps.length && stepScores.every((score) => score >= 0 && score <= 1);
    return {
      is: 'graded',
      reward,
      reasons: [...graded.reasons, ...(made.remarks ?? [])],
      ...(isFitting ? { stepScores } : {}),
    };
  } finally {
    limit.end();
  }
}

function stepText(step: TrajectoryStep): string {
  if (step.kind === 'message') return step.text;
  const end = step.isOk === undefined ? '' : step.isOk ? ' → worked' : ' → failed';
  return `${step.tool}(${step.arguments})${end}${step.result === undefined ? '' : `\n${step.result}`}`;
}

interface AttemptEnd {
  readonly outcome: AttemptOutcome;
  /** Undefined when it was not begun. */
  readonly made: MadeAttempt | undefined;
  readonly steps: readonly TrajectoryStep[];
  /** The agent's. */
  readonly name: string | undefined;
  readonly ms: number;
}

function toAttempt(
  { id, task, shown }: AttemptOrder,
  { outcome, made, steps, name, ms }: AttemptEnd,
): Attempt {
  return {
    id,
    task: task.id,
    by: made?.by || name || '',
    generation: shown.generation,
    lessons: shown.lessons,
    outcome,
    output: made?.output ?? '',
    steps,
    used: addSpending(NOTHING_SPENT, { ...made?.used, ms: Math.round(ms) }),
    ...(made?.sampled === undefined || made.sampled.length === 0 ? {} : { sampled: made.sampled }),
  };
}
