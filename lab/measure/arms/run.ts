/**
 * npm run bench:arms [-- --seeds 5 --days 14 --rules seed:1 --only sample|house|files|all --condition all --jobs 2 --folder DIR]
 *
 * Runs all arms of workdays with the embedded policy, and writes the tables of lab/results/results.md. A stopped run continues with the
 * same command. The section is named after the rules, so that runs with other rules stand beside each other.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { PACKAGE_ROOT } from '../../../src/base/package.ts';
import { checkConfig } from '../../../src/config/check-config.ts';
import { MINILM } from '../../../src/embed/minilm-embed.ts';
import { STATIC } from '../../../src/embed/static-embed.ts';
import { createLog } from '../../../src/redact/create-log.ts';
import { readConditions } from '../../commands/bench.ts';
import { questionMarkdown, questionSummary } from '../../report/question-markdown.ts';
import { makeQuestionReport } from '../../report/question-report.ts';
import { loadBenchJournal } from '../../suites/bench-journal.ts';
import { DEFAULT_HABITS, NANO_POLICY } from '../../suites/choose-policy.ts';
import { runBench } from '../../suites/run-bench.ts';
import type { QuestionFilter } from '../../suites/suites.ts';
import { UNTUNED_RULES } from '../../suites/workdays/rules/draw-rules.ts';
import { alignTables, writeSection } from '../markdown.ts';
import { createEngineCounts, describeEngines, requireComparison, requireSome } from '../measured.ts';

const FILTERS: readonly QuestionFilter[] = ['files', 'house', 'sample'];

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '5' },
    days: { type: 'string', default: '14' },
    rules: { type: 'string', default: UNTUNED_RULES },
    only: { type: 'string', default: 'sample' },
    condition: { type: 'string', default: 'all' },
    jobs: { type: 'string', default: '2' },
    'night-steps': { type: 'string', default: '10' },
    folder: { type: 'string', default: 'node_modules/.cache/instar-arms' },
    /** Only the tables, of what has been run so far. */
    report: { type: 'boolean', default: false },
    /** Prints the tables instead of writing them into lab/results/results.md. */
    dry: { type: 'boolean', default: false },
  },
});

const root = fileURLToPath(PACKAGE_ROOT);
const folder = path.resolve(root, values.folder);
const name = values.rules.replace(/[^\w-]{1,80}/g, '-');
const only = FILTERS.find((filter) => filter === values.only);
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());
process.once('SIGTERM', () => stop.abort());
mkdirSync(folder, { recursive: true });

const engines = createEngineCounts();
let shownAt = 0;
const EVERY_MS = 10_000;

if (!values.report)
  await runBench({
    run: name,
    folder,
    suite: 'workdays',
    split: 'report',
    rules: values.rules,
    set: '',
    days: Number(values.days),
    ...(only === undefined ? {} : { only }),
    conditions: readConditions(values.condition),
    seeds: Array.from({ length: Number(values.seeds) }, (_, index) => index + 1),
    policy: NANO_POLICY,
    habits: DEFAULT_HABITS,
    failures: 3,
    settleEach: true,
    jobs: Number(values.jobs),
    nightSteps: Number(values['night-steps']),
    config: () => checkConfig({}, { env: {} }).config,
    env: process.env,
    log: createLog({ format: 'auto', level: 'error', stream: process.stderr, env: process.env }),
    onProgress: ({ condition, seed, day, asked, questions }) => {
      if (performance.now() - shownAt < EVERY_MS) return;
      shownAt = performance.now();
      process.stderr.write(`${asked} of ${questions} · ${condition} · seed ${seed} · day ${day + 1}\n`);
    },
    onCompared: ({ bySentences, firstLooks }) => {
      engines.add(MINILM, bySentences);
      engines.add(STATIC, firstLooks);
    },
    signal: stop.signal,
  });

const journal = loadBenchJournal(path.join(folder, name, 'journal.jsonl'));
if (journal === undefined) throw new Error(`there is no run in ${path.join(folder, name)}`);
requireSome('question that was asked', journal.rows.length);
const report = makeQuestionReport(journal);
const command = `npm run bench:arms${values.rules === UNTUNED_RULES ? '' : ` -- --rules ${values.rules}`}`;
const markdown = `\`${command}\`: ${questionMarkdown(report)}`;
// A run that was complete before, or is only reported, has compared nothing now.
if (engines.byEngine.size > 0) {
  requireComparison(MINILM, engines);
  process.stdout.write(`lessons: ${describeEngines(Object.fromEntries(engines.byEngine))}\n`);
}
process.stdout.write(`${alignTables(questionSummary(report))}\n`);
if (values.dry) process.stdout.write(`${markdown}\n`);
else if (stop.signal.aborted) process.stderr.write('stopped; the same command continues\n');
else writeSection(path.join(root, 'lab/results/results.md'), `arms ${values.rules}`, markdown);
