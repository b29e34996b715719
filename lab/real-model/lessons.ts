/**
 * npm run bench:real-lessons -- --url URL --model NAME --tokenizer FOLDER [--profile skyrl --seeds 8 --jobs 40 --condition … --folder DIR --write]
 *   [--suite desk | metaclaw --data FOLDER | pipeline] [--sampler WEIGHTS] [--chat URL in place of --url and --tokenizer]
 *
 * What lessons change for a model that nobody here made: the arms of a suite (lab/results/real-model.md), with Instar between the user
 * and a model that a Tinker server samples, with its own weights or with some that were trained (`--sampler`), or one behind an API of
 * chat completions (`--chat`), which then reads and writes lessons too. All arms and seeds run at once, so that the server has whole batches. A stopped run continues with the same command. `--report` makes the tables of what has been
 * run; `--against RUN` adds the differences to another run, paired by question.
 */
import { setMaxListeners } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PACKAGE_ROOT } from '../../src/base/package.ts';
import { createRandom } from '../../src/base/random.ts';
import { checkConfig } from '../../src/config/check-config.ts';
import type { ChatModel } from '../../src/core/chat.ts';
import type { PolicyTemplate, Sampler } from '../../src/core/training.ts';
import { createLog } from '../../src/redact/create-log.ts';
import { createPolicyModel } from '../../train/policy/policy-model.ts';
import type { TinkerEngine } from '../../train/tinker/tinker-engine.ts';
import { readConditions } from '../commands/bench.ts';
import { writeSection } from '../measure/markdown.ts';
import type { QuestionJournal } from '../report/question-report.ts';
import { loadBenchJournal } from '../suites/bench-journal.ts';
import { DEFAULT_HABITS } from '../suites/choose-policy.ts';
import type { BenchPolicy } from '../suites/open-environment.ts';
import { runPipelineBench } from '../suites/pipeline/run-pipeline-bench.ts';
import { renderRun } from '../suites/read-runs.ts';
import { type BenchRun, runBench } from '../suites/run-bench.ts';
import { betweenRuns, lessonsMarkdown } from './lessons-report.ts';
import { ENGINE_OPTIONS, openRealEngine, readEngineChoice } from './open-engine.ts';

const { values } = parseArgs({
  options: {
    ...ENGINE_OPTIONS,
    /** The base URL of an API of chat completions, in place of a Tinker server. */
    chat: { type: 'string' },
    seeds: { type: 'string', default: '8' },
    /** This one alone. */
    seed: { type: 'string' },
    days: { type: 'string' },
    condition: {
      type: 'string',
      default: 'baseline,notes,all-lessons,skills,skills-message,skills-evolver',
    },
    jobs: { type: 'string', default: '40' },
    /** `day`: one conversation a day. `question`: each file has its own, and the baseline has no memory at all. */
    conversation: { type: 'string', default: 'day' },
    suite: { type: 'string', default: 'desk' },
    /** For metaclaw: the folder of the published data. */
    data: { type: 'string' },
    /** For pipeline: runs of each condition; the first only teaches. */
    runs: { type: 'string', default: '4' },
    /** Trained weights at the server, in place of the model's own. */
    sampler: { type: 'string' },
    /** The server begins new adapters of this rank with trained weights (`serve-torch … -- --from FILE`): these answer. */
    'adapter-rank': { type: 'string' },
    /** Tokens of a reply at most. */
    reply: { type: 'string' },
    /** The run stops after so many seconds; what was asked is reported. */
    seconds: { type: 'string', default: '100000' },
    against: { type: 'string' },
    run: { type: 'string', default: 'lessons' },
    folder: { type: 'string', default: 'node_modules/.cache/instar-real' },
    /** Only the tables, of what has been run so far. */
    report: { type: 'boolean', default: false },
    /** Writes the tables into lab/results/real-model.md instead of printing them. */
    write: { type: 'boolean', default: false },
  },
});

const root = fileURLToPath(PACKAGE_ROOT);
const folder = path.resolve(root, values.folder);
mkdirSync(folder, { recursive: true });
const stop = new AbortController();
// Every run listens to it.
setMaxListeners(0, stop.signal);
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const EVERY_MS = 10_000;
/** Tokens of a reply with new lessons. */
const LONGEST_LESSON = 768;
/** Seeds of replies with lessons are not those of answers. */
const WRITER = 1_000_000;

if (!values.report) {
  const { answers, close } =
    values.chat === undefined ? await openSampled() : overChat(values.chat, values.model);
  const timer = setTimeout(() => stop.abort(), 1000 * Number(values.seconds));
  let shownAt = 0;
  const wanted: BenchRun = {
    run: values.run,
    folder,
    suite: values.suite,
    ...(values.data === undefined ? {} : { data: values.data }),
    split: 'report',
    rules: 'house',
    ...(values.suite === 'desk' || values.days !== undefined ? { days: Number(values.days ?? 10) } : {}),
    conversation: values.conversation === 'question' ? 'question' : 'day',
    conditions: readConditions(values.condition),
    seeds:
      values.seed === undefined
        ? Array.from({ length: Number(values.seeds) }, (_, index) => index + 1)
        : [Number(values.seed)],
    policy: 'name' in answers ? answers.name : 'served',
    answers,
    habits: DEFAULT_HABITS,
    failures: 3,
    settleEach: true,
    settlePassed: values.chat !== undefined,
    jobs: Number(values.jobs),
    nightSteps: 0,
    config: () => checkConfig({}, { env: {} }).config,
    env: process.env,
    log: createLog({ format: 'auto', level: 'error', stream: process.stderr, env: process.env }),
    onProgress: ({ asked, questions, day }) => {
      if (performance.now() - shownAt < EVERY_MS) return;
      shownAt = performance.now();
      say(`${asked} of ${questions} · day ${day + 1} · ${Math.round(performance.now() / 1000)} s`);
    },
    signal: stop.signal,
  };
  try {
    await (values.suite === 'pipeline'
      ? runPipelineBench({ ...wanted, runs: Number(values.runs), habits: {} })
      : runBench(wanted));
  } finally {
    clearTimeout(timer);
    await close();
  }

  /** The weights that a Tinker server samples, and what ends with them. */
  async function openSampled(): Promise<{ answers: BenchPolicy; close: () => Promise<void> }> {
    const longest = values.reply === undefined ? undefined : Number(values.reply);
    const { engine, template } = await openRealEngine(readEngineChoice(values), say, longest);
    const lessonTemplate = { ...template, longestReply: LONGEST_LESSON };
    const sampler = await engine.openSampler(values.sampler ?? (await savedAdapter(engine)));
    return {
      answers: {
        kind: 'own',
        model: async (seed) => modelOf(sampler, seed, template),
        writer: (seed) => modelOf(sampler, seed + WRITER, lessonTemplate),
      },
      close: async () => {
        await sampler.close();
        await engine.close();
      },
    };
  }

  async function savedAdapter(server: TinkerEngine): Promise<string | undefined> {
    if (values['adapter-rank'] === undefined) return undefined;
    const adapter = await server.createModel({ rank: Number(values['adapter-rank']) });
    return adapter.saveForSampler('begun');
  }

  /** The same weights for all arms; each run has its own stream of seeds. */
  function modelOf(shared: Sampler, seed: number, words: PolicyTemplate): ChatModel {
    const random = createRandom(`real-model/${seed}`);
    return createPolicyModel({
      template: words,
      weights: async () => ({ version: 0, sampler: shared, release: () => undefined }),
      seed: () => random.below(2 ** 31 - 1000),
    });
  }
}

/** As a user has it whose one model also writes lessons. The outcome of each answer is told: nothing is left to a judge. */
function overChat(baseUrl: string, model: string): { answers: BenchPolicy; close: () => Promise<void> } {
  if (model === '') throw new Error('name the model: --model NAME');
  const name = `box/${model}`;
  const providers = { box: { wire: 'openai-chat', baseUrl } };
  const { config } = checkConfig({ providers, models: { default: name, evolver: name } }, { env: {} });
  return { answers: { kind: 'configured', name, config }, close: async () => undefined };
}

const journalOf = (run: string): QuestionJournal => {
  const journal = loadBenchJournal(path.join(folder, run, 'journal.jsonl'));
  if (journal === undefined) throw new Error(`there is no run of questions in ${path.join(folder, run)}`);
  return journal;
};

function report(): string {
  if (values.suite === 'desk') return lessonsMarkdown(journalOf(values.run));
  const rendered = renderRun(folder, values.run);
  if (rendered === undefined) throw new Error(`there is no run in ${path.join(folder, values.run)}`);
  if (values.against === undefined) return rendered.markdown;
  const between = betweenRuns(journalOf(values.run), journalOf(values.against), values.against);
  return `${rendered.markdown}\n\n${between}`;
}

const markdown = report();
if (values.write) writeSection(path.join(root, 'lab/results/real-model.md'), 'bench:real-lessons', markdown);
else process.stdout.write(`${markdown}\n`);
