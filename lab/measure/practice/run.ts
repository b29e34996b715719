import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { inParallel } from '../../../src/learn/practice/attempt-batch.ts';
import { createSharedEmbed } from '../../suites/shared-embed.ts';
import { writeSection } from '../markdown.ts';
import { createEngineCounts, describeEngines, requireEngine, requireSome } from '../measured.ts';
import { reportByRules } from './by-rules.ts';
import { measureSeed, type SeedResult, type SeedSize } from './measure-seed.ts';
import { reportPractice } from './practice-report.ts';

/*
 * What a night of practice changes: nano on rules that nobody tuned for, with an empty library, before and after. The lessons and the
 * weights of the same groups are measured apart and together on tasks of other worlds, beside simpler ways to use the same night.
 *
 *   npm run bench:practice -- --rules        where nobody configured a verifier, by the checks of rules; seconds, without nano
 *   npm run bench:practice [-- --write] [--seeds 3] [--tasks 60] [--night usual|small] [--parallel 3] [--json FILE]
 *
 * `--tasks`: tasks of the report split for each seed. `--parallel`: seeds at the same time. `--write` replaces the section of docs/practice.md.
 */
const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    seeds: { type: 'string', default: '3' },
    tasks: { type: 'string', default: '60' },
    night: { type: 'string', default: 'usual' },
    parallel: { type: 'string', default: '3' },
    json: { type: 'string' },
    rules: { type: 'boolean', default: false },
    set: { type: 'string', default: 'lab/measure/checks/sets/dev.jsonl' },
  },
});
if (values.rules) {
  process.stdout.write(`${await reportByRules(values.set)}\n`);
  process.exit(0);
}

const NIGHTS: Readonly<Record<string, Omit<SeedSize, 'report'>>> = {
  usual: { tasks: 96, groupSize: 8, batch: 12, gate: 60, pairs: 48, trialAttempts: 480, bare: 10 },
  small: { tasks: 12, groupSize: 8, batch: 6, gate: 12, pairs: 4, trialAttempts: 40, bare: 2 },
};

const [seeds, tasks, parallel] = [values.seeds, values.tasks, values.parallel].map(Number);
const isCount = (given: number | undefined): given is number => given !== undefined && given > 0;
const night = NIGHTS[values.night];
if (!(isCount(seeds) && isCount(tasks) && isCount(parallel)) || night === undefined) {
  process.stderr.write('--seeds, --tasks and --parallel take a number, and --night takes usual or small.\n');
  process.exit(2);
}
const size: SeedSize = { ...night, report: tasks };
const say = (text: string): void => void process.stderr.write(`${text}\n`);
const quiet = (): void => undefined;
const log = {
  info: quiet,
  debug: quiet,
  // Engines that start at the same time may want the same port: one of them takes another.
  warn: quiet,
  error: (...told: readonly unknown[]) => say(JSON.stringify(told)),
};
const folder = mkdtempSync(path.join(tmpdir(), 'instar-practice-'));
const embed = createSharedEmbed();
const { signal } = new AbortController();
const began = performance.now();
const results: SeedResult[] = [];
const all = Array.from({ length: seeds }, (_, at) => at + 1);
try {
  // Each seed has an engine of its own, which samples on one core; three on two cores keep both busy to the end.
  for await (const { index, value } of inParallel(all, parallel, async (seed) => {
    const told = (text: string): void => say(`seed ${seed}: ${text}`);
    const own = path.join(folder, String(seed));
    const result = await measureSeed({ seed, size, folder: own, embed, log, say: told, signal });
    for (const { id, text } of result.night.lessons) {
      const { outcome, why } = result.trials.verdicts.get(id) ?? { outcome: 'undecided', why: '' };
      told(`${outcome}: ${text.content.replaceAll('\n', ' | ')} (${why})`);
    }
    for (const why of result.night.refused) told(`refused: ${why}`);
    told(`done after ${Math.round(result.ms / 60_000)} minutes`);
    return result;
  }))
    results[index] = value;
} finally {
  await embed.close();
  rmSync(folder, { recursive: true, force: true });
}
const engines = createEngineCounts();
for (const result of results)
  for (const [engine, count] of Object.entries(result.engines)) engines.add(engine, count);
requireSome('attempt at a task of the report split', results.flatMap(({ rows }) => rows).length);
requireSome('group of attempts', results.filter(({ bare }) => bare.groups > 0).length);
requireEngine(embed.id, engines);
const minutes = ((performance.now() - began) / 60_000).toFixed(0);
const today = new Date().toISOString().slice(0, 10);
const place = `${today}, ${availableParallelism()} cores, Node ${process.versions.node}, ${minutes} minutes in all`;
const report = reportPractice({
  results,
  size,
  place: `${place}, recalls ${describeEngines(Object.fromEntries(engines.byEngine))}`,
});
process.stdout.write(`${report}\n`);
if (values.json !== undefined)
  writeFileSync(
    values.json,
    JSON.stringify(
      results.map(({ rules: _, night: { notes: __, ...rest }, trials, ...result }) => ({
        ...result,
        night: rest,
        trials: { ...trials, verdicts: [...trials.verdicts] },
      })),
    ),
  );
if (values.write) writeSection('docs/practice.md', 'practice', report);
