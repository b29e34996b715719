import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { writeSection } from '../write-section.ts';
import { createMiniLmEmbed } from './instar.ts';
import { readPairs } from './pairs.ts';
import { measureQuality, reportQuality } from './quality.ts';
import { measureSpeed, reportSpeed, type Speed } from './speed.ts';

/** Whether the right lessons are found, and how fast. */
const OURS = 'bench/recall/pairs.jsonl';
const { values: options } = parseArgs({
  options: {
    pairs: { type: 'string' },
    split: { type: 'string' },
    sizes: { type: 'string', default: '100,1000,10000,100000' },
    write: { type: 'boolean', default: false },
  },
});

const parts: string[] = [];
const embed = createMiniLmEmbed();
const score = async (file: string, split?: 'dev' | 'test'): Promise<void> => {
  const pairs = readPairs(file, split);
  const title = `${path.basename(file)}${split === undefined ? '' : `, ${split}`}`;
  parts.push(reportQuality(title, pairs, await measureQuality(pairs, embed)));
  process.stderr.write(`${parts.at(-1)}\n\n`);
};
