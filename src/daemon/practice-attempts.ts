import type { PracticeTrainingCalls } from '../../train/practice-training-calls.ts';
import { createAttemptFolders } from '../agent/attempts/attempt-folders.ts';
import { withoutSecrets } from '../agent/attempts/attempt-parts.ts';
import { createAttempts } from '../agent/attempts/attempts.ts';
import {
  LONGEST_REPLY,
  openSessionAgents,
  queueOfSession,
  whyNotByAgent,
} from '../agent/attempts/session-agents.ts';
import { TOOL_PATH } from '../agent/sandbox/confiner.ts';
import type { AttemptAccess, AttemptPlace } from '../core/attempt-model.ts';
import { isSlowTest } from '../core/check.ts';
import type { Clock } from '../core/clock.ts';
import { compact } from '../core/json.ts';
import type { Ask } from '../core/learn.ts';
import type { AttemptOrder, MakeAttempt, PracticeTask } from '../core/practice.ts';
import { costOf } from '../cost/prices.ts';
import { createTaskVerifier, readAttemptSteps } from '../evidence/verifiers/verify-task.ts';
import { createSlowTests, type OpenSandbox } from '../learn/checks/slow-tests.ts';
import type { PracticeModel, PracticePorts } from '../learn/practice/open-practice.ts';
import { isRerunnable } from '../learn/practice/sources/rerunnable.ts';
import { withRuleChecks } from '../learn/rule-checks.ts';
import { createInProcessAttempts } from '../models/in-process-client.ts';

interface AttemptsOptions {
  /** Who attempts: `model`, or names of programs. */
  readonly agents: readonly string[];
  readonly settingsOf: (program: string) => Promise<Readonly<Record<string, string>>>;
  readonly access: (order: AttemptPlace) => Promise<AttemptAccess>;
  readonly clock: Clock;
  readonly onFault: (error: unknown) => void;
  readonly hasSecret: (text: string) => boolean;
  readonly training: PracticeTrainingCalls;
  /** Lets other processes make attempts, too; absent where there are none. */
  readonly share?: (
    make: MakeAttempt,
    model: string,
    mayShare: (order: AttemptOrder) => boolean,
  ) => MakeAttempt;
}

type SessionAttemptsPorts = Pick<PracticePorts, 'openAttempts' | 'whyNotAttempted'> & {
  /** Makes one attempt of the model itself, for a session of another process: that one has the budget. */
  attemptOnce(model: PracticeModel): MakeAttempt;
  /** For checks of rules, of practice and of recorded work. */
  readonly openSandbox: OpenSandbox;
};

/** By a model, or on this machine. */
const isGradedHere = (check: PracticeTask['check']): boolean =>
  check?.kind === 'rubric' ||
  (check?.kind === 'rules' && check.rules.some((rule) => rule.check.holdsWhen.some(isSlowTest)));

/** Who attempts tasks of practice in this thread, and which tasks they can attempt on this machine now. */
export function createSessionAttempts({ agents: names, ...options }: AttemptsOptions): SessionAttemptsPorts {
  const { clock, onFault } = options;
  const folders = createAttemptFolders();
  const openSandbox: OpenSandbox = (files, signal) => folders.open({ kind: 'files', files }, signal);
  const inProcess = ({ name, price, chat }: PracticeModel) =>
    createInProcessAttempts({
      chat,
      name,
      model: name,
      maxTokens: LONGEST_REPLY,
      costOf: (usage) => costOf(usage, price),
    });
  /** A rubric is graded by a model at the session's expense, a program needs its gateway, a repository is on its machine. */
  const mayShare = ({ task, agent = 'model' }: AttemptOrder): boolean =>
    agent === 'model' && !isGradedHere(task.check) && task.workspace?.kind !== 'git';
  const slowTests = (ask: Ask | undefined) => (signal: AbortSignal) =>
    createSlowTests({ sandbox: openSandbox, ask, signal }).ask;
  return {
    openSandbox,
    attemptOnce: (model) => {
      const agents = new Map([['model', { kind: 'model', open: inProcess(model) } as const]]);
      const parts = {
        agents,
        folders,
        verify: withRuleChecks(createTaskVerifier({}), slowTests(undefined)),
        readSteps: readAttemptSteps,
      };
      return withoutSecrets(createAttempts({ ...parts, clock, onFault }), options.hasSecret);
    },
    whyNotAttempted: async (task) => {
      const able = await isRerunnable(task, TOOL_PATH);
      return able.ok ? whyNotByAgent(task, names) : able.why;
    },
    openAttempts: async (model, budget, ask, signal) => {
      const { name, price } = model;
      const priced = (usage: Parameters<typeof costOf>[0]) => costOf(usage, price);
      const { openPracticeTraining } = await import('../../train/open-practice-training.ts');
      const opened = await openPracticeTraining(name, options.training, signal);
      const training = opened?.ok === true ? opened.training : undefined;
      const open = training?.agents.get('newest') ?? inProcess(model);
      const agentParts = { ...options, open, costOf: priced, search: process.env.PATH ?? '' };
      const versions = [...(training?.agents ?? [])].map(
        ([agent, by]) => [agent, { kind: 'model', open: by }] as const,
      );
      const make = createAttempts({
        agents: new Map([...(await openSessionAgents(names, agentParts)), ...versions]),
        folders,
        verify: withRuleChecks(createTaskVerifier(compact({ ask })), slowTests(ask)),
        readSteps: readAttemptSteps,
        clock,
        onFault,
      });
      const provider = name.split('/', 1)[0] ?? name;
      const within = training?.within(budget) ?? budget;
      const here = withoutSecrets(make, options.hasSecret);
      // What trains needs the sampled tokens of this process's engine.
      const made = training === undefined ? (options.share?.(here, name, mayShare) ?? here) : here;
      const queued = { make: made, names, clock, provider };
      const queue = queueOfSession({ ...queued, budget: within, costOf: priced });
      const isModel = names.every((one) => one === 'model');
      const attempts = { agent: isModel ? name : `${names.join('+')} with ${name}`, make: queue };
      if (training === undefined)
        return { ...attempts, ...(opened?.ok === false ? { untrained: opened.why } : {}) };
      const serving: MakeAttempt = (order, stop) => queue({ ...order, agent: 'live' }, stop);
      return { ...attempts, temperature: 1, serving, training, close: training.close };
    },
  };
}
