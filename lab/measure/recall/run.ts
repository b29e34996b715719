import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { EmbeddingModel } from '../../../src/core/recall.ts';
import { createMiniLmEmbed } from '../../../src/embed/minilm-embed.ts';
import { writeSection } from '../markdown.ts';
import { comparePeers } from './peers.ts';
import { measureQuality, type RecallQuality, reportQuality } from './quality.ts';
import { readTasks } from './read-tasks.ts';
import { measureSaid, reportSaid, type SaidSpeed } from './said-speed.ts';
import { measureSpeed, type RecallSpeed, reportSpeed } from './speed.ts';

/**
 * Quality and speed of recall. `--quality`: only the quality. `--pairs FILE`: only the quality, for any file of that format; `--json`
 * prints it as JSON. `--metaclaw DIR`: instead, ours beside a notes file and MetaClaw's skills (its unpacked wheel). `--said 10000,1000000`: the speed of the search of
 * what a person said.
 */
const OURS = 'lab/measure/recall/tasks.jsonl';
/** 90 lessons, with tasks that are near to them and need none. */
const NEAR = 'lab/measure/recall/pairs.jsonl';
const { values: options } = parseArgs({
  options: {
    pairs: { type: 'string' },
    sizes: { type: 'string', default: '100,1000,10000,100000' },
    metaclaw: { type: 'string' },
    write: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    /** Shares do not depend on the load of the machine; times do, and are measured on a quiet one. */
    quality: { type: 'boolean', default: false },
    /** Only the search of what a person said, over as many sentences each. */
    said: { type: 'string' },
    /** Internal: measures one size in a process of its own. */
    one: { type: 'string' },
  },
});

/** What is printed, and written under this name of a section. */
const parts = { 'bench:recall': [] as string[], 'bench:recall speed': [] as string[] };
const addTo = (section: keyof typeof parts, text: string): void => {
  parts[section].push(text);
  process.stdout.write(`${text}\n\n`);
};
const add = (text: string): void => addTo('bench:recall', text);

async function addQuality(
  embed: EmbeddingModel,
  file: string,
  split?: 'dev' | 'test',
): Promise<readonly RecallQuality[]> {
  const title = split === undefined ? path.basename(file) : `${path.basename(file)}, ${split}`;
  const found = await measureQuality(readTasks(file, split), embed);
  if (!options.json) add(reportQuality(title, found));
  return found;
}

async function addSpeed(): Promise<void> {
  const sizes = options.sizes.split(',').map(Number);
  const found: RecallSpeed[] = [];
  for (const size of sizes) {
    process.stderr.write(`${size} lessons …\n`);
    const { stdout, stderr, status } = spawnSync(process.execPath, [
      '--expose-gc',
      import.meta.filename,
      `--one=${size}`,
    ]);
    if (status !== 0) {
      process.stderr.write(stderr);
      process.exit(1);
    }
    found.push(JSON.parse(stdout.toString()) as RecallSpeed);
  }
  addTo(
    'bench:recall speed',
    `### Speed\n\nSynthetic texts; the lessons' vectors are random unit vectors, so that 100,000 of them need no model. The model computes a task's vector the first time; later it is cached. The tasks are those of our pairs (half of them up to 62 characters), the long messages twelve of them in a row, of which recall gives the model 320 characters.\n\n${reportSpeed(found)}`,
  );
}

async function run(): Promise<void> {
  const embed = createMiniLmEmbed();
  if (options.metaclaw !== undefined) {
    for (const [file, split] of options.pairs === undefined
      ? [[NEAR, 'test'] as const, [OURS, 'test'] as const]
      : [[options.pairs] as const])
      add(
        `### ${path.basename(file)}\n\n${await comparePeers(readTasks(file, split), embed, options.metaclaw)}`,
      );
  } else if (options.pairs !== undefined) {
    const found = await addQuality(embed, options.pairs);
    if (options.json) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
  } else {
    for (const file of [OURS, NEAR])
      for (const split of ['test', 'dev'] as const) await addQuality(embed, file, split);
    if (!options.quality) await addSpeed();
  }
  await embed.close();
  mkdirSync('.cache/bench', { recursive: true });
  writeFileSync('.cache/bench/recall.md', Object.values(parts).flat().join('\n\n'));
  if (!options.write) return;
  const machine = `${os.cpus().length} × ${os.cpus()[0]?.model.trim()}`;
  const command = `npm run bench:recall -- ${options.quality ? '--quality ' : ''}--write`;
  const head = `${new Date().toISOString().slice(0, 10)}, ${machine}, Node ${process.versions.node}. \`${command}\``;
  for (const [section, texts] of Object.entries(parts))
    if (texts.length > 0) writeSection('lab/results/recall.md', section, [head, ...texts].join('\n\n'));
}

if (options.said !== undefined) {
  const found: SaidSpeed[] = [];
  for (const size of options.said.split(',').map(Number)) found.push(await measureSaid(size));
  process.stdout.write(`${options.json ? JSON.stringify(found) : reportSaid(found)}\n`);
} else if (options.one === undefined) await run();
else {
  const tasks = readTasks(NEAR).tasks.map(({ query }) => query);
  process.stdout.write(JSON.stringify(await measureSpeed(Number(options.one), tasks.slice(0, 120))));
}
