import path from 'node:path';
import type { AttemptModel, OpenAttemptModel } from '../src/core/attempt-model.ts';
import type { AttemptGroup, PracticeTask, TrainedGroups, WeightsVerdict } from '../src/core/practice.ts';
import type { TrainingTask } from '../src/core/task-source.ts';
import {
  type PolicyTemplate,
  type ServedWeights,
  type TrainingEngine,
  TrainingError,
} from '../src/core/training.ts';
import { createPolicyAttempts } from './policy-attempts.ts';
import { createQuestionRollouts, rolloutOf } from './policy-rollouts.ts';
import { type GateMeasurement, measureOnGate, whyNotMeasured } from './practice-gate.ts';
import type { PromotionLog } from './promotion-log.ts';
import { canaryOf, type PolicyVersion } from './promotion-stages.ts';
import { DEFAULT_GUARD } from './reward-guard.ts';
import { type Group, groupOf, isBatchRefusal } from './rollout.ts';
import { openFileJournal, openRunRegistry } from './run-files.ts';
import { openRunLog, type RunCheckpoint, type RunJournal } from './run-journal.ts';
import { createOpenWeights } from './served-weights.ts';
import { checkTrainingGroup, DEFAULT_STEP, type StepSettings } from './step.ts';
import { train } from './trainer.ts';
import type { TrainInput } from './training-run.ts';
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
  readonly generation: () => number | Promise<number>;
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

interface OpenedRun {
  readonly name: string;
  readonly from: RunCheckpoint | undefined;
  readonly firstVersion: number;
  readonly newest: RunCheckpoint;
}

/** The engine is not called before weights are needed. */
export function createPracticeTraining(options: PracticeTrainingOptions): PracticeTraining {
  const { engine, template, name, promotions, folder, signal, guard = DEFAULT_GUARD } = options;
  const { mostStale } = { ...DEFAULT_STEP, ...options.settings };
  let book: ReturnType<typeof openRunRegistry> | undefined;
  let opened: OpenedRun | undefined;
  let opening: Promise<OpenedRun> | undefined;
  const registry = () => {
    book ??= openRunRegistry(path.join(folder, 'runs.json'));
    return book;
  };
  const room = createOpenWeights({
    // Both that are used at the same time stay open: the newest, and the live ones it is compared with.
    pointer: () => {
      const { live } = promotions.state();
      return { live: servedOf(opened?.newest) ?? live, canary: { served: live, share: 0 } };
    },
    openSampler: (sampler) => engine.openSampler(sampler),
  });

  /** The run, begun where it is new. */
  const begin = async (): Promise<OpenedRun> => {
    const run = registry().next(promotions.state().live.version, promotions.turnedBack());
    const { newest } = await advance(run, []);
    opened = { ...run, newest };
    return opened;
  };
  /** Several attempts begin at the same time. */
  const open = async (): Promise<OpenedRun> => {
    if (opened !== undefined) return opened;
    opening ??= begin().finally(() => {
      opening = undefined;
    });
    return opening;
  };

  /** At most one more step of the run, with these groups. */
  const advance = async (run: Omit<OpenedRun, 'newest'>, groups: readonly Group[]): Promise<Advance> => {
    const journal = openFileJournal(path.join(folder, `${run.name}.jsonl`));
    try {
      const { closed } = (await openRunLog(journal, guard)).run;
      const size = groups.reduce((sum, { rollouts }) => sum + rollouts.length, 0);
      let newest: RunCheckpoint | undefined;
      let isTrained = false;
      /** Why the batch was closed without an update; or, while it is open, why training stopped. */
      let refusal: string | undefined;
      let stuck: { readonly why: string; readonly isRetryable: boolean } | undefined;
      let isClosed = groups.length === 0;
      for await (const news of train({
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
        if (news.type === 'step-trained') isTrained = true;
        if (news.type === 'step-refused') refusal = news.refusal.why;
        if (news.type === 'step-idle') refusal = 'the attempts have nothing to learn from';
        if (news.type === 'rolled-back')
          refusal = `rewards fell: the weights went back to version ${news.to.version}`;
        isClosed ||= isTrained || refusal !== undefined;
        if (news.type === 'done') newest = news.checkpoint;
        if (news.type === 'stuck') {
          stuck = news;
          newest = news.checkpoint;
        }
      }
      if (stuck !== undefined) {
        registry().stop(isClosed && groups.length > 0, stuck.isRetryable);
        // The run may have been left: the next use looks again.
        opened = undefined;
      }
      signal.throwIfAborted();
      if (newest === undefined || !isClosed)
        throw new TrainingError('server', stuck?.why ?? 'training stopped before its end');
      return { newest, isTrained, refusal };
    } finally {
      journal.close();
    }
  };

  const trainOn = async (groups: readonly AttemptGroup[]): Promise<TrainedGroups> => {
    const run = await open();
    const refused: { readonly group: string; readonly why: string }[] = [];
    const ready: { readonly id: string; readonly group: Group }[] = [];
    const journal = openFileJournal(path.join(folder, `${run.name}.jsonl`));
    const { lineage, trained } = await openRunLog(journal, guard)
      .then((log) => log.run)
      .finally(() => journal.close());
    const origin = {
      generation: await options.generation(),
      lineage: lineage.map(({ version }) => version),
      isTrained: () => false,
    };
    let known = 0;
    for (const one of groups) {
      const group = toGroup(one);
      if (typeof group === 'string') refused.push({ group: one.id, why: group });
      else if (group.rollouts.some(({ id }) => trained.has(id))) known++;
      else {
        const fault = checkTrainingGroup(group, origin, mostStale);
        if (fault === undefined) ready.push({ id: one.id, group });
        else refused.push({ group: one.id, why: fault.why });
      }
    }
    if (ready.length === 0) return { groups: known, version: run.newest.version, refused };
    const { newest, isTrained, refusal } = await advance(
      run,
      ready.map(({ group }) => group),
    );
    opened &&= { ...opened, newest };
    room.sweep();
    if (isTrained) return { groups: known + ready.length, version: newest.version, refused };
    const why = refusal ?? 'nothing was trained';
    return {
      groups: known,
      version: newest.version,
      refused: [...refused, ...ready.map(({ id }) => ({ group: id, why }))],
    };
  };

  const attemptsBy = (served: () => Promise<PolicyVersion>): OpenAttemptModel =>
    createPolicyAttempts({
      template,
      name,
      costOf: options.costOf,
      weights: async () => room.take(await served()),
    });
  const newestOf = async (): Promise<PolicyVersion> => {
    const { version, sampler } = (await open()).newest;
    return { version, sampler };
  };
  return {
    agents: new Map([
      ['newest', attemptsBy(newestOf)],
      ['candidate', attemptsBy(async () => promotions.state().trial?.served ?? (await newestOf()))],
      ['canary', attemptsBy(async () => canaryOf(promotions.state())?.served ?? promotions.state().live)],
      ['live', attemptsBy(async () => promotions.state().live)],
    ]),
    weights: async () => room.take(await newestOf()),
    whyNotTrained: (gate) => whyNotMeasured(gate, promotions),
    trainOn,
    finish: async function* (gate) {
      const { newest, firstVersion } = await open();
      const { regression: tasks, isThin = true } = options;
      const regression = tasks && {
        tasks,
        rollOut: createQuestionRollouts(template, (sampler) => engine.openSampler(sampler)),
      };
      return yield* measureOnGate(gate, {
        ...{ promotions, book: registry(), newest, firstVersion },
        ...{ regression, isThin, signal },
      });
    },
    close: () => room.close(),
  };
}

interface Advance {
  readonly newest: RunCheckpoint;
  readonly isTrained: boolean;
  readonly refusal: string | undefined;
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
function toGroup({ gradedBy, attempts }: AttemptGroup): Group | string {
  if (gradedBy !== 'verifier')
    return gradedBy === 'compared'
      ? 'its attempts were compared with each other: that is no reward'
      : 'its attempts are not graded by a verifier';
  const rollouts = attempts.flatMap(({ id, task, generation, outcome, sampled }) =>
    outcome.is === 'graded' && sampled !== undefined
      ? [rolloutOf({ turns: sampled, reward: outcome.reward }, id, task, generation)]
      : [],
  );
  const group = groupOf(rollouts);
  return isBatchRefusal(group) ? group.why : group;
}
