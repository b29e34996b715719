import path from 'node:path';
import { checkConfig } from '../../src/config/check-config.ts';
import { demoSummary } from '../report/demo-summary.ts';
import { type QuestionJson, questionJson } from '../report/question-json.ts';
import { makeQuestionReport } from '../report/question-report.ts';
import { loadBenchJournal } from '../suites/bench-journal.ts';
import { DEFAULT_HABITS, NANO_POLICY } from '../suites/choose-policy.ts';
import { type BenchRun, runBench } from '../suites/run-bench.ts';
import type { QuestionFilter } from '../suites/suites.ts';
import { UNTUNED_RULES } from '../suites/workdays/rules/draw-rules.ts';
import { openRules } from '../suites/workdays/rules/open-rules.ts';

/** Which part of the workdays suite a demo runs. */
export interface DemoPlan {
  readonly days: number;
  /** Undefined: every question of a day. */
  readonly only: QuestionFilter | undefined;
  readonly nightSteps: number;
}

interface DemoRun
  extends DemoPlan,
    Pick<BenchRun, 'run' | 'folder' | 'seeds' | 'env' | 'log' | 'onProgress' | 'onNight' | 'signal'> {}

interface DemoReport {
  /** Scripts know the last arm as `full`: it is there under both names, with `rewards: "oracle"`. */
  readonly json: QuestionJson;
  readonly summary: (width: number) => string;
}

/** The demo has no deployment whose feedback could train weights: its last arm has oracle rewards, and says so. */
const DEMO_CONDITIONS = ['baseline', 'skills', 'full-oracle'] as const;

/** The same as `bench run`. */
const WHOLE: DemoPlan = { days: 14, only: undefined, nightSteps: 10 };
/** Up to the day before the last rule begins; without questions that neither lessons nor weights can change. */
const FAST: DemoPlan = { days: 9, only: 'house', nightSteps: 5 };

export function planDemo(isFast: boolean, wanted: Partial<DemoPlan>): DemoPlan {
  return { ...(isFast ? FAST : WHOLE), ...wanted };
}

/** What the plan leaves out of the whole suite, in words. */
export function omittedParts({ days, only, nightSteps }: DemoPlan): readonly string[] {
  const { rules } = openRules(UNTUNED_RULES);
  const unmet = rules.filter(({ since }) => since >= days).length;
  const withRules = unmet === 0 ? '' : ` with ${unmet} of ${rules.length} rules`;
  const cut = days + 1 === WHOLE.days ? `day ${WHOLE.days}` : `days ${days + 1} to ${WHOLE.days}`;
  return [
    ...(days < WHOLE.days ? [`${cut}${withRules}`] : []),
    ...(only === 'house'
      ? ['questions on documents']
      : only === 'files'
        ? ['multiple-choice questions']
        : only === 'sample'
          ? ['most questions on documents']
          : []),
    ...(nightSteps < WHOLE.nightSteps
      ? [`${WHOLE.nightSteps - nightSteps} of ${WHOLE.nightSteps} training steps a night`]
      : []),
  ];
}

/** The workdays suite under every condition with the embedded policy. Undefined when it was stopped before the first day ended. */
export async function runDemo(options: DemoRun): Promise<DemoReport | undefined> {
  const { run, folder, seeds, env, log, signal, days, only, nightSteps, onProgress, onNight } = options;
  await runBench({
    run,
    folder,
    suite: 'workdays',
    split: 'report',
    rules: UNTUNED_RULES,
    set: '',
    days,
    ...(only === undefined ? {} : { only }),
    conditions: DEMO_CONDITIONS,
    seeds,
    policy: NANO_POLICY,
    habits: DEFAULT_HABITS,
    failures: 3,
    settleEach: true,
    nightSteps,
    config: () => checkConfig({}, { env: {} }).config,
    env,
    log,
    onProgress,
    ...(onNight === undefined ? {} : { onNight }),
    signal,
  });
  const journal = loadBenchJournal(path.join(folder, run, 'journal.jsonl'));
  if (journal === undefined || journal.rows.length === 0) return undefined;
  const report = makeQuestionReport(journal);
  return {
    json: withFullName(questionJson(report)),
    summary: (width) => demoSummary(report, width),
  };
}

function withFullName(json: QuestionJson): QuestionJson {
  const full = json.conditions['full-oracle'];
  return full === undefined ? json : { ...json, conditions: { ...json.conditions, full } };
}
