import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { appraise } from '../../../src/evidence/appraise.ts';
import { requireSome } from '../measured.ts';
import { type LabelledMessage, type Share, scoreWords, type WordScores } from './score-words.ts';

/** How well people's words in the chat are read: `npm run bench:words -- [--set FILE] [--json]`. */
const { values: options } = parseArgs({
  options: {
    set: {
      type: 'string',
      multiple: true,
      default: ['lab/measure/signals/words-dev.jsonl', 'lab/measure/signals/words-test.jsonl'],
    },
    json: { type: 'boolean', default: false },
  },
});

const readMessages = (file: string): readonly LabelledMessage[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as LabelledMessage);
const ratio = ({ hits, of }: Share): string =>
  of === 0 ? '–' : `${(hits / of).toFixed(3)} (${hits} of ${of})`;

function report(file: string, scores: WordScores): string {
  const rows: readonly (readonly [string, string | number])[] = [
    ['corrections: precision', ratio(scores.correctionPrecision)],
    ['corrections: recall', ratio(scores.correctionRecall)],
    ['thanks: precision', ratio(scores.thanksPrecision)],
    ['thanks: recall', ratio(scores.thanksRecall)],
    ['standing: precision', ratio(scores.standingPrecision)],
    ['standing: recall', ratio(scores.standingRecall)],
    ['quotes as wanted', ratio(scores.quotes)],
    ['neither, read as neither', ratio(scores.quiet)],
    ['outages judged as success or failure', ratio(scores.outagesTaught)],
    ['quotes that are not in the message', scores.inventedQuotes],
  ];
  return [
    `### ${path.basename(file)}: ${scores.messages} messages`,
    ['| what | |', '|---|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n'),
    scores.wrong.map((line) => `- ${line}`).join('\n'),
  ].join('\n\n');
}

const scored = options.set.map((file) => ({ file, scores: scoreWords(readMessages(file), appraise) }));
for (const { file, scores } of scored) requireSome(`message in ${file}`, scores.messages);
process.stdout.write(
  options.json
    ? `${JSON.stringify(scored, null, 2)}\n`
    : `${scored.map(({ file, scores }) => report(file, scores)).join('\n\n')}\n`,
);
