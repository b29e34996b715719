import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { MINILM } from '../../../src/embed/minilm-embed.ts';
import { STATIC } from '../../../src/embed/static-embed.ts';
import { writeSection } from '../markdown.ts';
import { requireEngine, requireSome } from '../measured.ts';
import { type CorrectionRow, MalformedRowError, parseCorrectionSet } from './correction-set.ts';
import { playCorrections } from './play-corrections.ts';
import {
  countEngines,
  explainRow,
  reportCorrections,
  scoreRow,
  summarizeCorrections,
} from './score-corrections.ts';

/** What the corrections in people's chats teach, and whether it is shown again: our sets, or any file of that format. */
const OURS = ['dev', 'test', 'unseen'].map((part) => `lab/measure/corrections/corrections-${part}.jsonl`);
const DOCUMENT = 'lab/results/learning.md';
const MODELS = ['none', 'scripted'] as const;
const { values: options } = parseArgs({
  options: {
    set: { type: 'string', multiple: true, default: OURS },
    /** `none` or `scripted`: who writes the lessons. */
    model: { type: 'string', default: 'none' },
    limit: { type: 'string' },
    /** Only the rows with these ids, separated by commas. */
    only: { type: 'string' },
    /** A home for every row. */
    apart: { type: 'boolean', default: false },
    /** Print every row that went wrong. */
    explain: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

const model = MODELS.find((name) => name === options.model);
if (model === undefined) fail(`--model takes ${MODELS.join(' or ')}, not "${options.model}".`);
const limit = options.limit === undefined ? Number.POSITIVE_INFINITY : Number(options.limit);
if (!(limit > 0)) fail(`--limit takes a number of rows, not "${options.limit}".`);
const only = options.only?.split(',');

/** All sets are read before the first is played. */
function readSets(): readonly { readonly file: string; readonly rows: readonly CorrectionRow[] }[] {
  try {
    return options.set.map((file) => ({
      file,
      rows: parseCorrectionSet(readFileSync(file, 'utf8'), file)
        .filter(({ id }) => only === undefined || only.includes(id))
        .slice(0, limit),
    }));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof MalformedRowError || code !== undefined) return fail(message);
    throw error;
  }
}

const sections: string[] = [];
const documents: object[] = [];
for (const { file, rows } of readSets()) {
  requireSome(`row to play in ${file}`, rows.length);
  const startedAt = performance.now();
  const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(0);
  const played = await playCorrections(rows, {
    model,
    apart: options.apart,
    onProgress: (what) => process.stderr.write(`${path.basename(file)}: ${what}, ${seconds()} s\n`),
  });
  const scored = played.map(scoreRow);
  requireSome(`row of ${file} that was played`, played.length);
  requireSome(`turn of ${file} that was recorded`, played.flatMap(({ turns }) => turns).length);
  requireEngine([STATIC, MINILM], countEngines(scored));
  const summary = summarizeCorrections(scored);
  documents.push({ set: file, model, seconds: Number(seconds()), ...summary });
  const who = model === 'none' ? 'no model for learning' : 'a scripted learning model';
  sections.push(reportCorrections(`${path.basename(file)}: ${rows.length} rows, ${who}`, scored));
  if (options.explain)
    sections.push(
      scored
        .filter(({ isRight }) => !isRight)
        .map(explainRow)
        .join('\n'),
    );
}

const text = options.json
  ? JSON.stringify(documents.length === 1 ? documents[0] : documents, null, 2)
  : sections.join('\n\n');
process.stdout.write(`${text}\n`);
if (options.out !== undefined) writeFileSync(options.out, `${text}\n`);
if (options.write) {
  const named = options.set === OURS ? '' : options.set.map((file) => `--set ${file} `).join('');
  const command = `npm run bench:corrections -- ${named}${model === 'none' ? '' : `--model ${model} `}--write`;
  const head = `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}. \`${command}\``;
  const name = model === 'none' ? 'bench:corrections' : `bench:corrections ${model}`;
  writeSection(DOCUMENT, name, [head, ...sections].join('\n\n'));
}
process.exit(0);
