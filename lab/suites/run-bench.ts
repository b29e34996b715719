import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '../../src/base/log.ts';
import { createLruMap } from '../../src/base/lru-map.ts';
import { VERSION } from '../../src/base/package.ts';
import type { Config } from '../../src/config/schema.ts';
import { systemClock } from '../../src/core/clock.ts';
import type { EmbeddingModel } from '../../src/core/recall.ts';
import { createMiniLmEmbed } from '../../src/embed/minilm-embed.ts';
import { ARMS_VERSION, armOf, type Condition } from './arms.ts';
import { loadBenchJournal, openBenchJournal } from './bench-journal.ts';
import { choosePolicy, isTrainable, NANO_POLICY } from './choose-policy.ts';
import { type BenchPolicy, type ComparedTasks, createOpenEnvironment } from './open-environment.ts';
import type { HeadRule, RunHead } from './run-records.ts';
import { type RunProgress, type RunSuiteOptions, runSuite } from './run-suite.ts';
import type { Habits } from './scripted-policy.ts';
import { BenchError, loadSuite, type SuiteChoice } from './suites.ts';
import type { NightOptions } from './training-night.ts';

export interface BenchRun extends SuiteChoice, Pick<RunSuiteOptions, 'onRow' | 'onNight'> {
  readonly run: string;
  /** The folder of all runs; each run has a subfolder with its name. */
  readonly folder: string;
  readonly conditions: readonly Condition[];
  readonly seeds: readonly number[];
  readonly policy: string;
  /** The policy itself, in place of the one that `policy` names. */
  readonly answers?: BenchPolicy;
  readonly habits: Habits;
  readonly failures: number;
  readonly steps?: number;
  readonly settleEach: boolean;
  readonly settlePassed?: boolean;
  /** Arms and seeds that run at once. */
  readonly jobs?: number;
  /** For the arms that train: training steps of a night, and the ablation of the trainer that serves as a control. */
  readonly nightSteps: number;
  readonly control?: NightOptions['control'];
  /** The user's configuration, for one of their models. */
  readonly config: () => Config;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  readonly onProgress: (progress: RunProgress) => void;
  readonly onCompared?: (counts: ComparedTasks) => void;
  readonly signal: AbortSignal;
}

/** Training settings of every night. */
const NIGHTS: Pick<NightOptions, 'tuning' | 'promotion'> = {
  tuning: { size: { groups: 8, attempts: 8 } },
  // Two weeks have some 75 tasks to measure on: enough to show half, not a quarter.
  promotion: { mostPairs: 300, effect: 0.5 },
};

/** Runs or continues a benchmark. Reports are made from the journal in its folder. */
export async function runBench(options: BenchRun): Promise<string> {
  const { run, conditions, seeds, policy, habits, failures, signal } = options;
  const trained = conditions.filter((condition) => armOf(condition).training !== 'none');
  if (options.suite !== 'workdays' && conditions.some((one) => armOf(one).training === 'oracle'))
    throw new BenchError(
      'Only workdays has tasks to train on that it does not ask: published data would be trained on its own questions.',
      'leave full-oracle out; full trains on what was served',
    );
  const suite = await loadSuite(options, options.env);
  const answers = options.answers ?? choosePolicy(policy, suite, habits, options.config);
  if (trained.length > 0 && !isTrainable(answers))
    throw new BenchError(
      `The condition ${trained[0]} trains weights, and the policy "${policy}" has none that can be trained here.`,
      `use --policy ${NANO_POLICY}, or instar/NAME for the model of train.engine; or leave it out: --condition baseline,skills`,
    );
  const folder = path.join(options.folder, run);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, 'journal.jsonl');
  const first = suite.of(seeds[0] ?? 1);
  const rulesOf = (seed: number): readonly HeadRule[] =>
    suite.of(seed).rules.map(({ id, title, since, form, origin }) => ({
      ...{ id, title, since },
      ...(form === undefined ? {} : { form }),
      ...(origin === undefined ? {} : { origin }),
      ...(suite.hasOwnRules ? { seed } : {}),
    }));
  const isScripted = policy === 'scripted';
  const { nightSteps, control, rules } = options;
  const head: RunHead = {
    run,
    suite: options.suite,
    options: {
      ...suite.options,
      failures,
      settleEach: options.settleEach,
      ...(isScripted ? { ...habits } : {}),
      ...(isTrainable(answers) ? { nightSteps, ...(control === undefined ? {} : { control }) } : {}),
    },
    policy,
    conditions,
    seeds,
    questions: first.days.reduce((sum, { questions }) => sum + questions.length, 0),
    rules: suite.hasOwnRules ? seeds.flatMap(rulesOf) : rulesOf(seeds[0] ?? 1),
    arms: ARMS_VERSION,
    startedAt: new Date().toISOString(),
    version: VERSION,
    notes: suite.notes,
  };
  const done = loadBenchJournal(file);
  if (done !== undefined) mustBeComparable(done.head, head);
  const journal = openBenchJournal(file, head);
  const embed = createSharedEmbed();
  try {
    await runSuite({
      head,
      suite: suite.of,
      openEnvironment: createOpenEnvironment({
        folder,
        policy: answers,
        failures,
        nights: { ...NIGHTS, steps: nightSteps, rules, ...(control === undefined ? {} : { control }) },
        agent: `bench-${options.suite}`,
        embed,
        ...(options.onCompared === undefined ? {} : { onCompared: options.onCompared }),
        env: options.env,
        log: options.log,
      }),
      journal,
      done,
      ...(options.steps === undefined ? {} : { steps: options.steps }),
      settleEach: options.settleEach,
      settlePassed: options.settlePassed ?? false,
      ...(options.jobs === undefined ? {} : { jobs: options.jobs }),
      clock: systemClock,
      onProgress: options.onProgress,
      ...(options.onRow === undefined ? {} : { onRow: options.onRow }),
      ...(options.onNight === undefined ? {} : { onNight: options.onNight }),
      signal,
    });
  } finally {
    journal.close();
    await embed.close();
  }
  return folder;
}

/** A run is continued with the same questions to the same policy: otherwise its rows would not be comparable. Arms and seeds may be added. */
function mustBeComparable(before: RunHead, now: RunHead): void {
  const shape = ({ suite, options, policy, questions }: RunHead): string =>
    JSON.stringify([suite, options, policy, questions]);
  const hasAll = <T>(these: readonly T[], those: readonly T[]): boolean =>
    those.every((one) => these.includes(one));
  if (
    shape(before) === shape(now) &&
    hasAll(now.conditions, before.conditions) &&
    hasAll(now.seeds, before.seeds)
  )
    return;
  throw new BenchError(
    `The run ${now.run} was started with other options.`,
    'use the same options (conditions and seeds may be added), or omit --run to start a new run',
  );
}

/** A seed's questions and feedback, and the lessons of all arms; a vector has 1.5 KB. */
const MOST = 40_000;

/**
 * The sentence model for all daemons of a run, each text embedded once: arms ask the same questions and hear the same
 * feedback, and embedding takes most of a run's time. The vectors are the same as without it.
 */
export function createSharedEmbed(): EmbeddingModel {
  const model = createMiniLmEmbed();
  const known = createLruMap<string, Float32Array>(MOST);
  const embedOne = async (text: string): Promise<Float32Array> => {
    const held = known.get(text);
    // A copy: a caller may transfer its vector to another thread.
    if (held !== undefined) return held.slice();
    const [vector] = await model.embed([text]);
    if (vector === undefined) throw new Error('the sentence model returned no vector');
    known.set(text, vector.slice());
    return vector;
  };
  return {
    id: model.id,
    dimensions: model.dimensions,
    embed: (texts) => Promise.all(texts.map(embedOne)),
    close: () => model.close(),
  };
}
