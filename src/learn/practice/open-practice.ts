import type { Log } from '../../base/log.ts';
import type { Budget, ModelPrice, Spending } from '../../core/budget.ts';
import type { ChatModel } from '../../core/chat.ts';
import type { Clock } from '../../core/clock.ts';
import type { Ask } from '../../core/learn.ts';
import type { LessonsForTask, PracticeTask } from '../../core/practice.ts';
import type { Records } from '../../core/store.ts';
import type { VerifierRow } from '../../core/verifier-row.ts';
import { createRunBudget } from '../../cost/run-budget.ts';
import type { EvidenceReader } from '../../evidence/evidence-reader.ts';
import type { Calibration } from '../../evidence/judge/calibration.ts';
import { checkLessonText } from '../../lessons/check-lesson-text.ts';
import type { LessonReplica } from '../../lessons/lesson-replica.ts';
import { createAsk } from '../ask.ts';
import type { Gate } from '../gate/gate.ts';
import { holdToCore } from '../identity/hold-to-core.ts';
import { openIdentityJudge } from '../identity/open-identity-judge.ts';
import { type LearningModel, type LearningRole, servedBy } from '../learning-model.ts';
import type { FactFold } from '../learning-state.ts';
import { createFindSimilar, type NearestLessons } from '../nearest-lessons.ts';
import { findTaskCheck } from '../rule-checks.ts';
import { createReplayTasks, type ReplayTasksOptions } from '../trial/replay-tasks.ts';
import { openPracticeHistory } from './practice-history.ts';
import { createPracticeUnits } from './practice-units.ts';
import { createPractice, type Practice, type ServePracticeOptions } from './serve-practice.ts';
import type { SessionAttempts, SessionSettings } from './session-parts.ts';
import { findGaps } from './sources/gap-tasks.ts';
import { openPracticeTasks } from './sources/practice-tasks.ts';
import { findRecordedGroups } from './sources/recorded-groups.ts';

/** The section `practice` of the config. */
export interface PracticeConfig extends Pick<SessionSettings, 'groupSize' | 'temperature' | 'rewards'> {
  /** Who attempts: `model`, or names of programs. */
  readonly agent?: string | readonly string[];
  readonly tasks: readonly string[];
  readonly budget: { readonly usd: number; readonly tokens: number };
}

/** What a session may take besides its budget. */
export interface PracticeLimits extends Pick<SessionSettings, 'trials'> {
  readonly attemptMs: number;
  readonly session: { readonly calls: number; readonly ms: number };
}

export const PRACTICE_LIMITS: PracticeLimits = {
  /** A suite of tests and a dozen steps of an agent. */
  attemptMs: 5 * 60_000,
  /** A night. */
  session: { calls: 2000, ms: 480 * 60_000 },
  /** Twenty tasks with eight pairs each: more attempts would say little more. */
  trials: { pairs: 160, repeats: 1 },
};

/** What practice needs from outside the learning thread. */
export interface PracticePorts {
  readonly lessonsFor: LessonsForTask;
  /** Why a task cannot be attempted and checked on this machine now; undefined when it can. */
  readonly whyNotAttempted: (task: PracticeTask) => Promise<string | undefined>;
  /** Makes attempts with a model, within a budget. */
  readonly openAttempts: (
    model: PracticeModel,
    budget: Budget,
    ask: Ask | undefined,
    signal: AbortSignal,
  ) => Promise<SessionAttempts>;
}

/** A model that attempts tasks. */
export interface PracticeModel extends LearningModel {
  readonly chat: ChatModel;
}

interface PracticeParts {
  readonly config: PracticeConfig;
  readonly ports: PracticePorts;
  readonly records: Records | PracticeRecords;
  readonly evidence: EvidenceReader;
  readonly lessons: Pick<LessonReplica, 'library' | 'effects'>;
  readonly gate: Gate;
  /** The configured rows, by domain. */
  readonly verifiers: readonly VerifierRow[];
  readonly nearest: NearestLessons;
  readonly embed: (texts: readonly string[]) => Promise<readonly Float32Array[]>;
  /** The model of a role, with the way to call it; undefined when there is none. */
  readonly model: (role: LearningRole) => Promise<PracticeModel | undefined>;
  /** Undefined for a turn that cannot be read any more. */
  readonly decodeTurn: ReplayTasksOptions['decodeTurn'];
  /** How far the judge agrees with people; undefined while that is not read yet. */
  readonly calibration: () => Pick<Calibration, 'status'> | undefined;
  readonly limits?: PracticeLimits;
  readonly isOn: () => boolean;
  readonly mayPromote: boolean;
  readonly clock: Clock;
  readonly newId: (prefix: string) => string;
  readonly log: Log;
}

type PracticeRecords = Pick<
  Records,
  'append' | 'events' | 'facts' | 'factsOf' | 'block' | 'turn' | 'turns' | 'session' | 'sessions' | 'recalls'
>;

const NO_MODEL =
  'Practice needs a model that Instar may call by itself: a local one, or one of a provider with a key in the config. Name it as models.practice, or as models.default';
const OFF = 'Learning is turned off. Turn it on with: instar learning on';

export interface OpenPractice extends Practice {
  readonly folds: readonly FactFold[];
  /** What users ask of agents: known tasks and recorded requests. */
  requests(): Promise<readonly PracticeTask[]>;
}

/** Practice of one home, with the folds that follow the record. Rejects when the record cannot be read. */
export async function openPractice(parts: PracticeParts): Promise<OpenPractice> {
  const { config, ports, records, evidence, embed, clock, limits = PRACTICE_LIMITS } = parts;
  const { library, effects } = parts.lessons;
  const tasks = await openPracticeTasks(records);
  const history = await openPracticeHistory(records);
  const models: PracticeModels = {};
  const replayTasks = createReplayTasks({
    records,
    decodeTurn: parts.decodeTurn,
    maySee: async (session) =>
      (await maySee(models.attempter, session, records)) &&
      (await maySee(await parts.model('judge'), session, records)),
    now: clock.now,
  });
  const options: ServePracticeOptions = {
    records,
    tasks,
    history,
    library,
    gate: parts.gate,
    checkText: checkLessonText,
    similar: {
      toLessons: createFindSimilar(parts.nearest),
      embed,
    },
    embed,
    lessonsFor: ports.lessonsFor,
    whyNotAttempted: ports.whyNotAttempted,
    ...createSessionModels(parts, models),
    ...createPrices(parts),
    openBudget: (spent: Spending) =>
      createRunBudget({ limits: { ...config.budget, ...limits.session }, setting: 'practice.budget', spent }),
    replayTasks,
    effects,
    settings: () => ({ ...config, trials: limits.trials, timeoutMs: limits.attemptMs }),
    mayPromote: parts.mayPromote,
    clock,
    newId: parts.newId,
    refresh: { records, evidence, library, effects, files: config.tasks, embed, now: clock.now },
    contradictions: () => countContradictions(parts),
  };
  return {
    ...createPractice(options),
    folds: [tasks, history],
    requests: async () => {
      const practised = tasks.list().map(({ task }) => task);
      const turns = new Set(practised.flatMap(({ from }) => from?.turn ?? []));
      return [...practised, ...(await replayTasks()).filter(({ from }) => !turns.has(from?.turn ?? ''))];
    },
  };
}

/** The models of practice, as they were when somebody last asked whether it may begin. */
interface PracticeModels {
  attempter?: PracticeModel | undefined;
  learner?: PracticeModel | undefined;
}

/** A session's words go to no other provider than the one that served it, unless the owner named the model. */
async function maySee(
  model: PracticeModel | undefined,
  session: string,
  records: Pick<Records, 'turns'>,
): Promise<boolean> {
  if (model?.onlyFor === undefined) return true;
  const turns = await records.turns(session);
  return turns.length > 0 && turns.every(({ policy }) => servedBy(policy) === model.onlyFor);
}

type SessionModels = Pick<
  ServePracticeOptions,
  'whyNot' | 'mayAttempt' | 'findRecorded' | 'withCheck' | 'openAttempts' | 'openAsk' | 'openJudge'
> &
  Required<Pick<ServePracticeOptions, 'openIdentityJudge'>>;

/** What a session does with models. `whyNot` looks which there are; the rest uses those. */
function createSessionModels(parts: PracticeParts, models: PracticeModels): SessionModels {
  const { ports, records, evidence, embed, clock } = parts;
  const { library } = parts.lessons;
  const openAsk: SessionModels['openAsk'] = async (budget) => {
    const writer = await parts.model('evolver');
    return writer && askWith(writer, budget, parts);
  };
  return {
    whyNot: async () => {
      if (!parts.isOn()) return OFF;
      models.attempter = await parts.model('attempt');
      models.learner = await parts.model('evolver');
      return models.attempter === undefined ? NO_MODEL : undefined;
    },
    mayAttempt: async ({ from }) =>
      from === undefined ||
      ((await maySee(models.attempter, from.session, records)) &&
        (await maySee(models.learner, from.session, records))),
    findRecorded: async (signal) => {
      const { learner } = models;
      if (learner === undefined) return [];
      const mayLearn = (session: string): Promise<boolean> => maySee(learner, session, records);
      return findRecordedGroups({ records, evidence, embed, split: 'learn', maySee: mayLearn }, signal);
    },
    withCheck: async (task) => {
      const check = await findTaskCheck(task, models.learner !== undefined, {
        ...parts,
        lessons: () => library.shown(clock.now()),
      });
      return check === undefined ? task : { ...task, check };
    },
    openAttempts: async (budget, signal) => {
      const writer = await openAsk(budget);
      if (models.attempter === undefined) throw new Error(NO_MODEL);
      return holdToCore(await ports.openAttempts(models.attempter, budget, writer?.ask, signal), library);
    },
    openAsk,
    openJudge: async (budget) => {
      const judge = await parts.model('judge');
      const calibration = parts.calibration();
      return judge && calibration && { ...askWith(judge, budget, parts), calibration };
    },
    openIdentityJudge: async (budget, journal, signal) => {
      const judge = await parts.model('judge');
      if (judge === undefined) return undefined;
      const { ask, model } = askWith(judge, budget, parts);
      const { askAbout } = createPracticeUnits({ journal, ask, learner: model, clock });
      const mayAsk = (session: string): Promise<boolean> => maySee(judge, session, records);
      return openIdentityJudge({ model, askAbout, mayAsk, records, clock }, signal);
    },
  };
}

function askWith(
  { name, price, chat }: PracticeModel,
  budget: Budget,
  { clock, log }: Pick<PracticeParts, 'clock' | 'log'>,
): { readonly ask: Ask; readonly model: string } {
  const journal = (note: string): void => log.debug({ practice: true }, note);
  return { ask: createAsk({ model: chat, name, price, budget, clock, journal }), model: name };
}

const createPrices = ({
  model,
}: Pick<PracticeParts, 'model'>): Pick<ServePracticeOptions, 'isFree' | 'priceOf'> => ({
  isFree: async () =>
    isFree((await model('attempt'))?.price) && isFree((await model('evolver'))?.price ?? LOCAL_PRICE),
  priceOf: async (stage) => {
    const price = (await model(stage === 'attempt' ? 'attempt' : 'evolver'))?.price;
    // Three tokens of input for one of output.
    return price === undefined || price.from === 'unknown'
      ? undefined
      : (3 * price.price.input + price.price.output) / 4;
  },
});

export const LOCAL_PRICE: ModelPrice = { from: 'local', price: { input: 0, output: 0 }, isLocal: true };

/** Whether calls cost no money. */
const isFree = (price: ModelPrice | undefined): boolean =>
  price !== undefined && price.from !== 'unknown' && price.price.input === 0 && price.price.output === 0;

async function countContradictions({
  lessons: { library, effects },
  embed,
}: Pick<PracticeParts, 'lessons' | 'embed'>): Promise<number> {
  const gaps = await findGaps({
    lessons: () => library.lessons(),
    effects,
    known: () => [],
    requests: async () => [],
    embed,
  });
  return gaps.filter(({ kind }) => kind === 'contradiction').length;
}
