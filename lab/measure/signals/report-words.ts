import { readFileSync } from 'node:fs';
import path from 'node:path';
import { appraise } from '../../../src/evidence/appraise.ts';
import { requireSome } from '../measured.ts';
import { type LabelledMessage, type Share, scoreWords, type WordScores } from './score-words.ts';

const readMessages = (file: string): readonly LabelledMessage[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as LabelledMessage);
const ratio = ({ hits, of }: Share): string =>
  of === 0 ? '–' : `${(hits / of).toFixed(3)} (${hits} of ${of})`;

function reportWords(file: string, scores: WordScores): string {
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

/** How well people's words in the chat are read, of each file of labelled messages. */
export function reportWordSets(files: readonly string[], isJson: boolean): string {
  const scored = files.map((file) => ({ file, scores: scoreWords(readMessages(file), appraise) }));
  for (const { file, scores } of scored) requireSome(`message in ${file}`, scores.messages);
  return isJson
    ? JSON.stringify(scored, null, 2)
    : scored.map(({ file, scores }) => reportWords(file, scores)).join('\n\n');
}
