import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { asArray, asObject, asString, parseJson } from '../../../src/core/json.ts';
import { appraise } from '../../../src/evidence/appraise.ts';
import { markdownTable } from '../markdown.ts';
import { requireSome } from '../measured.ts';
import { type AloneScores, scoreAlone } from './score-alone.ts';
import { type LabelledMessage, type Share, scoreWords, type WordScores } from './score-words.ts';

interface WordsReport {
  readonly files: readonly string[];
  readonly isJson: boolean;
  /** What the learned reader hears by itself. */
  readonly isAlone: boolean;
  /** Another checkout that was built: what it reads otherwise. */
  readonly against: string | undefined;
}

const readMessages = (file: string): readonly LabelledMessage[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as LabelledMessage);
const ratio = ({ hits, of }: Share): string =>
  of === 0 ? '–' : `${(hits / of).toFixed(3)} (${hits} of ${of})`;

function reportWords(file: string, scores: WordScores): string {
  const rows: readonly (readonly [string, string])[] = [
    ['corrections: precision', ratio(scores.correctionPrecision)],
    ['corrections: recall', ratio(scores.correctionRecall)],
    ['… in other languages than English', ratio(scores.otherLanguages.corrections)],
    ['thanks: precision', ratio(scores.thanksPrecision)],
    ['thanks: recall', ratio(scores.thanksRecall)],
    ['standing: precision', ratio(scores.standingPrecision)],
    ['standing: recall', ratio(scores.standingRecall)],
    ['… in other languages than English', ratio(scores.otherLanguages.standing)],
    ['quotes as wanted', ratio(scores.quotes)],
    ['neither, read as neither', ratio(scores.quiet)],
    ['outages judged as success or failure', ratio(scores.outagesTaught)],
    ['quotes that are not in the message', String(scores.inventedQuotes)],
  ];
  return [
    `### ${path.basename(file)}: ${scores.messages} messages`,
    markdownTable(['what', ''], rows),
    scores.wrong.map((line) => `- ${line}`).join('\n'),
  ].join('\n\n');
}

const reportAlone = (file: string, scores: readonly AloneScores[]): string =>
  [
    `### ${path.basename(file)}: the learned reader alone, at one false alarm in 200 messages at most`,
    markdownTable(
      ['messages', 'kind', 'heard', 'false', 'above'],
      scores.map(({ of, kind, heard, false: wrong, threshold }) => [
        of,
        kind,
        ratio(heard),
        ratio(wrong),
        threshold.toFixed(3),
      ]),
    ),
  ].join('\n\n');

/** What another build reads otherwise, message by message. */
function reportDifferences(file: string, scores: WordScores, checkout: string): string {
  const program = path.join(checkout, 'build/lab/measure/signals/run.js');
  const args = [program, '--words', '--set', path.resolve(file), '--json'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: checkout, encoding: 'utf8' });
  if (status !== 0)
    throw new Error(`${program} failed; build that checkout first (npm run build there):\n${stderr}`);
  const theirs = asArray(asObject(asObject(asArray(parseJson(stdout))[0]).scores).wrong).map(
    (line) => asString(line) ?? '',
  );
  const only = (some: readonly string[], others: readonly string[]): string =>
    some
      .filter((line) => !others.includes(line))
      .map((line) => `- ${line}`)
      .join('\n');
  return [
    `### ${path.basename(file)}: wrong here, not there`,
    only(scores.wrong, theirs),
    '### Wrong there, not here',
    only(theirs, scores.wrong),
  ].join('\n\n');
}

/** How well people's words in the chat are read, of each file of labelled messages. */
export function reportWordSets({ files, isJson, isAlone, against }: WordsReport): string {
  if (isAlone) {
    const alone = files.map((file) => ({ file, scores: scoreAlone(readMessages(file)) }));
    for (const { file, scores } of alone) requireSome(`wanted message in ${file}`, scores[0]?.heard.of ?? 0);
    return isJson
      ? JSON.stringify(alone, null, 2)
      : alone.map(({ file, scores }) => reportAlone(file, scores)).join('\n\n');
  }
  const scored = files.map((file) => ({ file, scores: scoreWords(readMessages(file), appraise) }));
  for (const { file, scores } of scored) requireSome(`message in ${file}`, scores.messages);
  if (isJson) return JSON.stringify(scored, null, 2);
  const report = (file: string, scores: WordScores): string =>
    against === undefined ? reportWords(file, scores) : reportDifferences(file, scores, against);
  return scored.map(({ file, scores }) => report(file, scores)).join('\n\n');
}
