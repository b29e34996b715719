import path from 'node:path';
import { createRandom } from '../src/base/random.ts';
import type { AttemptModel, OpenAttemptModel } from '../src/core/attempt-model.ts';
import type { AttemptGroup, PracticeTask, TrainedGroups, WeightsVerdict } from '../src/core/practice.ts';
import type { TrainingTask } from '../src/core/task-source.ts';
import {
  type PolicyTemplate,
  type SampledTurn,
  type ServedWeights,
  type TrainingEngine,
  TrainingError,
} from '../src/core/training.ts';
import { createInProcessClient } from '../src/models/in-process-client.ts';
import { createPolicyModel } from './policy/policy-model.ts';
import { createQuestionRollouts, rolloutOf } from './policy-rollouts.ts';
import { type GateMeasurement, measureOnGate, whyNotMeasured } from './practice-gate.ts';
import type { PromotionLog } from './promotion-log.ts';
import { canaryOf, type PolicyVersion } from './promotion-stages.ts';
import { DEFAULT_GUARD } from './reward-guard.ts';
import { type Group, groupOf } from './rollout.ts';
import { openFileJournal, openRunRegistry } from './run-files.ts';
import { openRunLog, type RunCheckpoint, type RunJournal } from './run-journal.ts';
import { createOpenWeights } from './served-weights.ts';
import { checkTrainingGroup, DEFAULT_STEP, type StepSettings } from './step.ts';
import { train } from './trainer.ts';
import type { TrainerEvent, TrainInput } from './training-run.ts';
import type { TrainingEvent } from './training-window.ts';

export interface PracticeTrainingOptions
  extends Pick<TrainInput<Group>, 'engine' | 'rank' | 'learningRate' | 'seed' | 'guard' | 'signal'> {
  readonly engine: TrainingEngine;
  readonly template: PolicyTemplate;
  /** The policy's name, such as `nano`. */
  readonly name: string;
  readonly promotions: Omit<PromotionLog, 'pointer'>;
  /** Where this engine's runs are kept. Nobody else may train there until this is closed. */
  readonly folder: string;
  /** The generation in force. */
  readonly generation: () => Promise<number>;
  readonly settings?: Partial<StepSettings>;
  /** What tokens of attempts cost; nothing by default. */
  readonly costOf?: AttemptModel['costOf'];
  /** General questions that new weights are asked besides the gate's tasks; none by default. */
  readonly regression?: readonly TrainingTask[];
  /** Few sessions are rated, so that a canary is compared on recorded requests; true by default. */
  readonly isThin?: boolean;
}

/**
 * Training on groups that practice made. It continues the engine's current run, as a training window does, so that each batch is
 * attempted by the newest weights. Groups are kept in practice's own journal; the run remembers the attempts it was trained on, so
 * that a group that comes again after a crash trains nothing twice.
 */
export interface PracticeTraining {
  /**
   * Attempts of the policy, by name. The first one is made by the newest weights of the run; `candidate`, `canary` and `live` by the
   * versions that are compared at the end.
   */
  readonly agents: ReadonlyMap<string, OpenAttemptModel>;
  /** The newest weights of the run. Rejects with a TrainingError. */
  weights(): Promise<ServedWeights>;
  /** Why nothing may be trained while these are the tasks of the gate split: new weights could not be measured on them. */
  whyNotTrained(gate: readonly PracticeTask[]): Promise<string | undefined>;
  /**
   * One step with these groups as its batch. Durable when it resolves. Groups that may not be trained on are reported. Rejects with a
   * TrainingError when the engine fails or the run is stuck: then nothing was trained, and the same groups may come again.
   */
  trainOn(groups: readonly AttemptGroup[]): Promise<TrainedGroups>;
  /**
   * Proposes the newest weights and compares them with the live ones on tasks of the gate split. Weights that are on trial already are
   * measured first. Stopped at any point, the next call continues.
   */
  finish(gate: GateMeasurement): AsyncGenerator<TrainingEvent, WeightsVerdict, undefined>;
  close(): Promise<void>;
}

/** The engine is not called before weights are needed. */
export function createPracticeTraining(options: PracticeTrainingOptions): PracticeTraining {
  const { engine, template, name, promotions, signal, isThin = true } = options;
  const openSampler: TrainingEngine['openSampler'] = (sampler) => engine.openSampler(sampler);
  const training: TrainingState = { options, registry: undefined, run: undefined, opening: undefined };
  const weights = createOpenWeights({
    // Both that are used at the same time stay open: the newest, and the live ones it is compared with.
    pointer: () => {
      const { live } = promotions.state();
      return { live: servedOf(training.run?.newest) ?? live, canary: { served: live, share: 0 } };
    },
    openSampler,
  });
  const attemptsBy = (served: () => Promise<PolicyVersion>): OpenAttemptModel =>
    createPolicyAttempts({
      template,
      name,
      costOf: options.costOf,
      weights: async () => weights.take(await served()),
    });
  const newestOf = async (): Promise<PolicyVersion> => {
    const { version, sampler } = (await openRun(training)).newest;
    return { version, sampler };
  };
  return {
    agents: new Map([
      ['newest', attemptsBy(newestOf)],
      ['candidate', attemptsBy(async () => promotions.state().trial?.served ?? (await newestOf()))],
      ['canary', attemptsBy(async () => canaryOf(promotions.state())?.served ?? promotions.state().live)],
      ['live', attemptsBy(async () => promotions.state().live)],
    ]),
    weights: async () => weights.take(await newestOf()),
    whyNotTrained: (gate) => whyNotMeasured(gate, promotions),
    trainOn: async (groups) => {
      const result = await trainOn(training, groups);
      weights.sweep();
      return result;
    },
    finish: async function* (gate) {
      const { newest, firstVersion } = await openRun(training);
      const { regression: tasks } = options;
      return yield* measureOnGate(gate, {
        promotions,
        book: registryOf(training),
        newest,
        firstVersion,
        regression: tasks && { tasks, rollOut: createQuestionRollouts(template, openSampler) },
        isThin,
        signal,
      });
    },
    close: () => weights.close(),
  };
}

interface TrainingState {
  readonly options: PracticeTrainingOptions;
  registry: ReturnType<typeof openRunRegistry> | undefined;
  run: OpenedRun | undefined;
  opening: Promise<OpenedRun> | undefined;
}

type NextRun = ReturnType<ReturnType<typeof openRunRegistry>['next']>;

interface OpenedRun extends NextRun {
  readonly newest: RunCheckpoint;
}

function registryOf(training: TrainingState): ReturnType<typeof openRunRegistry> {
  training.registry ??= openRunRegistry(path.join(training.options.folder, 'runs.json'));
  return training.registry;
}

const openJournal = ({ options }: TrainingState, run: NextRun): ReturnType<typeof openFileJournal> =>
  openFileJournal(path.join(options.folder, `${run.name}.jsonl`));

/** The run, begun where it is new. Several attempts begin at the same time. */
async function openRun(training: TrainingState): Promise<OpenedRun> {
  if (training.run !== undefined) return training.run;
  training.opening ??= beginRun(training).finally(() => {
    training.opening = undefined;
  });
  return training.opening;
}

async function beginRun(training: TrainingState): Promise<OpenedRun> {
  const { promotions } = training.options;
  const run = registryOf(training).next(promotions.state().live.version, promotions.turnedBack());
  const { newest } = await advance(training, run, []);
  training.run = { ...run, newest };
  return training.run;
}

async function trainOn(training: TrainingState, groups: readonly AttemptGroup[]): Promise<TrainedGroups> {
  const run = await openRun(training);
  const { ready, refused, trainedBefore } = await sortGroups(training, run, groups);
  if (ready.length === 0) return { groups: trainedBefore, version: run.newest.version, refused };
  const { newest, isTrained, refusal } = await advance(
    training,
    run,
    ready.map(({ group }) => group),
  );
  training.run &&= { ...training.run, newest };
  const { version } = newest;
  if (isTrained) return { groups: trainedBefore + ready.length, version, refused };
  const why = refusal ?? 'nothing was trained';
  return {
    groups: trainedBefore,
    version,
    refused: [...refused, ...ready.map(({ id }) => ({ group: id, why }))],
  };
}

interface SortedGroups {
  readonly ready: readonly { readonly id: string; readonly group: Group }[];
  readonly refused: TrainedGroups['refused'];
  /** How many of them the run was trained on already. */
  readonly trainedBefore: number;
}

async function sortGroups(
  training: TrainingState,
  run: NextRun,
  groups: readonly AttemptGroup[],
): Promise<SortedGroups> {
  const { generation, guard = DEFAULT_GUARD, settings } = training.options;
  const { mostStale } = { ...DEFAULT_STEP, ...settings };
  const journal = openJournal(training, run);
  const { lineage, trained } = await openRunLog(journal, guard)
    .then((log) => log.run)
    .finally(() => journal.close());
  const origin = {
    generation: await generation(),
    lineage: lineage.map(({ version }) => version),
    isTrained: () => false,
  };
  const ready: { readonly id: string; readonly group: Group }[] = [];
  const refused: { readonly group: string; readonly why: string }[] = [];
  let trainedBefore = 0;
  for (const one of groups) {
    const made = toGroup(one);
    if (!made.ok) refused.push({ group: one.id, why: made.why });
    else if (made.group.rollouts.some(({ id }) => trained.has(id))) trainedBefore++;
    else {
      const fault = checkTrainingGroup(made.group, origin, mostStale);
      if (fault === undefined) ready.push({ id: one.id, group: made.group });
      else refused.push({ group: one.id, why: fault.why });
    }
  }
  return { ready, refused, trainedBefore };
}

interface Advance {
  readonly newest: RunCheckpoint;
  readonly isTrained: boolean;
  /** Why the batch was closed without an update. */
  readonly refusal: string | undefined;
}

/** At most one more step of the run, with these groups. */
async function advance(training: TrainingState, run: NextRun, groups: readonly Group[]): Promise<Advance> {
  const { options } = training;
  const { signal, guard = DEFAULT_GUARD } = options;
  const journal = openJournal(training, run);
  try {
    const { closed } = (await openRunLog(journal, guard)).run;
    const size = groups.reduce((sum, { rollouts }) => sum + rollouts.length, 0);
    let newest: RunCheckpoint | undefined;
    let isTrained = false;
    let refusal: string | undefined;
    let stuck: (TrainerEvent & { readonly type: 'stuck' }) | undefined;
    for await (const event of train({
      ...options,
      guard,
      run: run.name,
      tasks: groups,
      batch: { groups: groups.length, size },
      rollouts: async (_, group) => group.rollouts,
      steps: closed.size + Math.min(1, groups.length),
      journal: withoutCollected(journal),
      firstVersion: run.firstVersion,
      ...(run.from === undefined ? {} : { from: run.from }),
    })) {
      if (event.type === 'step-trained') isTrained = true;
      if (event.type === 'done') newest = event.checkpoint;
      if (event.type === 'stuck') {
        stuck = event;
        newest = event.checkpoint;
      }
      refusal = refusalOf(event) ?? refusal;
    }
    const isClosed = groups.length === 0 || isTrained || refusal !== undefined;
    if (stuck !== undefined) {
      registryOf(training).stop(isClosed && groups.length > 0, stuck.isRetryable);
      // The run may have been left: the next use looks again.
      training.run = undefined;
    }
    signal.throwIfAborted();
    if (newest === undefined || !isClosed)
      throw new TrainingError('server', stuck?.why ?? 'training stopped before its end');
    return { newest, isTrained, refusal };
  } finally {
    journal.close();
  }
}

/** Why a batch was closed without an update. */
function refusalOf(event: TrainerEvent): string | undefined {
  if (event.type === 'step-refused') return event.refusal.why;
  if (event.type === 'step-idle') return 'the attempts have nothing to learn from';
  if (event.type === 'rolled-back')
    return `rewards fell: the weights went back to version ${event.to.version}`;
  return undefined;
}

const servedOf = (checkpoint: RunCheckpoint | undefined): PolicyVersion | undefined =>
  checkpoint && { version: checkpoint.version, sampler: checkpoint.sampler };

/** Groups that an interrupted training window has collected for the open batch are not part of a batch of practice. */
const withoutCollected = (journal: RunJournal): RunJournal => ({
  append: (entry, place) => journal.append(entry, place),
  read: async () => {
    const { entries, places } = await journal.read();
    return { entries: entries.filter(({ type }) => type !== 'group-collected'), places };
  },
});

/** In tokens, or why it does not train. */
function toGroup({
  gradedBy,
  attempts,
}: AttemptGroup):
  | { readonly ok: true; readonly group: Group }
  | { readonly ok: false; readonly why: string } {
  if (gradedBy === 'compared')
    return { ok: false, why: 'its attempts were compared with each other: that is no reward' };
  if (gradedBy !== 'verifier') return { ok: false, why: 'its attempts are not graded by a verifier' };
  return groupOf(
    attempts.flatMap(({ id, task, generation, outcome, sampled }) =>
      outcome.is === 'graded' && sampled !== undefined
        ? [rolloutOf({ turns: sampled, reward: outcome.reward }, id, task, generation)]
        : [],
    ),
  );
}

interface PolicyAttempts {
  readonly template: PolicyTemplate;
  /** The weights that make an attempt, from its first reply to its last. Rejects when there are none. */
  readonly weights: () => Promise<ServedWeights>;
  /** The policy's name, such as `nano`. */
  readonly name: string;
  /** What tokens cost; by default nothing, as those of the machine's own engine. */
  readonly costOf?: AttemptModel['costOf'] | undefined;
}

/** Sampled tokens train only when they were drawn from the policy itself. */
const TEMPERATURE = 1;
const FREE = () => ({ usd: 0, unpriced: 0 });

/**
 * Attempts of a policy that can be trained: at temperature 1, by one version of its weights, with the sampled tokens and their
 * log-probabilities. The seed of the order decides all of its samples.
 */
export const createPolicyAttempts =
  ({ template, weights, name, costOf = FREE }: PolicyAttempts): OpenAttemptModel =>
  async ({ seed, shown }) => {
    const served = await weights();
    const random = createRandom(seed);
    const turns: SampledTurn[] = [];
    const chat = createPolicyModel({
      template,
      // One version for the whole attempt; it is let go at the end.
      weights: async () => ({ ...served, release: () => undefined }),
      temperature: TEMPERATURE,
      seed: () => random.below(2 ** 31),
      keep: (sampled) => void turns.push(sampled),
    });
    return {
      name: `${name}@${served.version}`,
      model: name,
      temperature: TEMPERATURE,
      speak: createInProcessClient(chat, () => shown),
      sampled: () => turns,
      costOf,
      close: async () => served.release(),
    };
  };
