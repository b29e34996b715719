import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { writeSection } from '../write-section.ts';
import { createMiniLmEmbed } from './instar.ts';
import { readPairs } from './pairs.ts';
import { measureQuality, reportQuality } from './quality.ts';
import { measureRealScan, measureScans, reportScans } from './scans.ts';
import { measureSpeed, reportSpeed, type Speed } from './speed.ts';

/** Whether the right lessons are found, and how fast. With `--pairs` only the first, for any file of that format. */
const OURS = 'bench/recall/pairs.jsonl';
const { values: options } = parseArgs({
  options: {
    pairs: { type: 'string' },
    sizes: { type: 'string', default: '100,1000,10000,100000' },
    write: { type: 'boolean', default: false },
  },
});

const embed = createMiniLmEmbed();
const parts: string[] = [];
const add = (text: string): void => {
  parts.push(text);
  process.stdout.write(`${text}\n\n`);
};

async function addQuality(file: string, split?: 'dev' | 'test'): Promise<void> {
  const pairs = readPairs(file, split);
  const title = split === undefined ? path.basename(file) : `${path.basename(file)}, ${split}`;
  add(reportQuality(title, pairs, await measureQuality(pairs, embed)));
}

async function addSpeed(): Promise<void> {
  const sizes = options.sizes.split(',').map(Number);
  const found: Speed[] = [];
  for (const size of sizes) {
    process.stderr.write(`${size} lessons …\n`);
    found.push(await measureSpeed(size));
  }
  add(
    `### Speed\n\nInvented texts; the lessons' vectors are random unit vectors, so that 100,000 of them need no model. The model computes a query's vector the first time; later it is remembered.\n\n${reportSpeed(found)}`,
  );
  const { lessons, pairs } = readPairs(OURS, 'dev');
  const queries = pairs.slice(0, 50).map(({ query }) => query);
  const scans = [
    await measureRealScan(embed, lessons, queries),
    ...sizes.filter((n) => n >= 1000).map(measureScans),
  ];
  add(
    `### Comparing meanings\n\nBytes are a quarter of the memory and faster than floats, and what they miss is as good as equal; a scan in slices never holds the event loop for long. So there is no approximate index.\n\n${reportScans(scans)}`,
  );
}

if (options.pairs !== undefined) await addQuality(options.pairs);
else {
  await addQuality(OURS, 'test');
  await addQuality(OURS, 'dev');
  await addSpeed();
}
await embed.close();

mkdirSync('.cache/bench', { recursive: true });
writeFileSync('.cache/bench/recall.md', parts.join('\n\n'));
if (options.write) {
  const machine = `${os.cpus().length} × ${os.cpus()[0]?.model.trim()}`;
  const head = `${new Date().toISOString().slice(0, 10)}, ${machine}, Node ${process.versions.node}. \`npm run bench:recall -- --write\``;
  writeSection('docs/recall.md', 'bench:recall', [head, ...parts].join('\n\n'));
}
