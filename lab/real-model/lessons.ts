/**
 * npm run bench:real-lessons -- --url URL --model NAME --tokenizer FOLDER [--profile skyrl --seeds 8 --jobs 40 --condition … --folder DIR --write]
 *
 * What lessons change for a model that nobody here made: the arms of the suite `desk` (lab/results/real-model.md), with Instar between the user
 * and a model that a Tinker server samples. All arms and seeds run at once, so that the server has whole batches. A stopped run
 * continues with the same command. `--report` makes the tables of what has been run.
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
import { readConditions } from '../commands/bench.ts';
import { writeSection } from '../measure/markdown.ts';
import { loadBenchJournal } from '../suites/bench-journal.ts';
import { DEFAULT_HABITS } from '../suites/choose-policy.ts';
import { runBench } from '../suites/run-bench.ts';
import { lessonsMarkdown } from './lessons-report.ts';
import { ENGINE_OPTIONS, openRealEngine, readEngineChoice } from './open-engine.ts';

const { values } = parseArgs({
  options: {
    ...ENGINE_OPTIONS,
    seeds: { type: 'string', default: '8' },
    days: { type: 'string', default: '10' },
    condition: {
      type: 'string',
      default: 'baseline,notes,all-lessons,skills,skills-message,skills-evolver',
    },
    jobs: { type: 'string', default: '40' },
    /** `day`: one conversation a day. `question`: each file has its own, and the baseline has no memory at all. */
    conversation: { type: 'string', default: 'day' },
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
  const choice = readEngineChoice(values);
  const { engine, template } = await openRealEngine(choice, say);
  const lessonTemplate = { ...template, longestReply: LONGEST_LESSON };
  const sampler = await engine.openSampler(undefined);
  let shownAt = 0;
  try {
    await runBench({
      run: values.run,
      folder,
      suite: 'desk',
      split: 'report',
      rules: 'house',
      days: Number(values.days),
      conversation: values.conversation === 'question' ? 'question' : 'day',
      conditions: readConditions(values.condition),
      seeds: Array.from({ length: Number(values.seeds) }, (_, index) => index + 1),
      policy: 'served',
      answers: {
        kind: 'own',
        model: (seed) => modelOf(sampler, seed, template),
        writer: (seed) => modelOf(sampler, seed + WRITER, lessonTemplate),
      },
      habits: DEFAULT_HABITS,
      failures: 3,
      settleEach: true,
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
    });
  } finally {
    await sampler.close();
    await engine.close();
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

const journal = loadBenchJournal(path.join(folder, values.run, 'journal.jsonl'));
if (journal === undefined) throw new Error(`there is no run in ${path.join(folder, values.run)}`);
const markdown = lessonsMarkdown(journal);
if (values.write) writeSection(path.join(root, 'lab/results/real-model.md'), 'bench:real-lessons', markdown);
else process.stdout.write(`${markdown}\n`);
