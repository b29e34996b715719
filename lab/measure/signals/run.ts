import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { appraise } from '../../../src/evidence/appraise.ts';
import { writeSection } from '../markdown.ts';
import { type HitRate, type LabelledTurn, scoreTurns, TURN_LABELS, type TurnScores } from './score-turns.ts';

/** How well failures are found in labelled turns: ours, or any file of that format. */
const OURS = ['test', 'dev', 'hard'].map((part) => `lab/measure/signals/turns-${part}.jsonl`);
const { values: options } = parseArgs({
  options: {
    turns: { type: 'string', multiple: true, default: OURS },
    write: { type: 'boolean', default: false },
  },
});

const readTurns = (file: string): readonly LabelledTurn[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as LabelledTurn);

const ratio = ({ hits, of }: HitRate): string =>
  of === 0 ? '–' : `${(hits / of).toFixed(3)} (${hits} of ${of})`;
const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

function report(file: string, score: TurnScores): string {
  return [
    `### ${path.basename(file)}: ${score.turns} turns`,
    table(
      ['what', 'found'],
      [
        ['failures: precision', ratio(score.precision)],
        ['failures: recall', ratio(score.recall)],
        ['infrastructure judged as success or failure', ratio(score.taught)],
        ['verdict is the label', ratio(score.exact)],
      ],
    ),
    table(
      ['label ↓, judged →', ...TURN_LABELS],
      TURN_LABELS.map((label) => [label, ...TURN_LABELS.map((verdict) => score.confusion[label][verdict])]),
    ),
    table(
      ['signal alone', 'says', 'precision', 'recall'],
      score.signals.map(({ name, says, precision, recall }) => [name, says, ratio(precision), ratio(recall)]),
    ),
    table(
      ['client', 'failures: precision', 'failures: recall'],
      score.clients.map(({ client, precision, recall }) => [client, ratio(precision), ratio(recall)]),
    ),
    score.wrong.length === 0
      ? 'No turn is wrong.'
      : `Wrong:\n\n${score.wrong.map((line) => `- ${line}`).join('\n')}`,
  ].join('\n\n');
}

const sections = options.turns.map((file) => report(file, scoreTurns(readTurns(file), appraise)));
const text = sections.join('\n\n');
process.stdout.write(`${text}\n`);
if (options.write) {
  const when = new Date().toISOString().slice(0, 10);
  const command = `npm run bench:signals -- ${options.turns === OURS ? '' : options.turns.map((file) => `--turns ${file} `).join('')}--write`;
  writeSection(
    'docs/signals.md',
    'bench:signals',
    `${when}, Node ${process.versions.node}. \`${command}\`\n\n${text}`,
  );
}
