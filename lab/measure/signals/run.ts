import path from 'node:path';
import { parseArgs } from 'node:util';
import { appraise } from '../../../src/evidence/appraise.ts';
import { writeSection } from '../markdown.ts';
import { requireSome } from '../measured.ts';
import { readTurns } from './read-turns.ts';
import { reportWordSets } from './report-words.ts';
import { type HitRate, scoreTurns, TURN_LABELS, type TurnScores } from './score-turns.ts';

/**
 * npm run bench:signals -- [--turns FILE … | --words [--set FILE …] [--alone | --against CHECKOUT]] [--json] [--write]
 *
 * How well failures are found in labelled turns, or with `--words` how well people's messages are read: ours, or any file of that format.
 * `--alone`: by the learned reader without phrases, at one false alarm in 200 messages. `--against`: what another build reads otherwise.
 */
const OURS = [
  'conversations-test',
  'conversations-real',
  'conversations-dev',
  'turns-test',
  'turns-dev',
  'turns-hard',
].map((name) => `lab/measure/signals/${name}.jsonl`);
const OUR_WORDS = ['words-dev', 'words-test'].map((name) => `lab/measure/signals/${name}.jsonl`);
const { values: options } = parseArgs({
  options: {
    turns: { type: 'string', multiple: true, default: OURS },
    words: { type: 'boolean', default: false },
    set: { type: 'string', multiple: true, default: OUR_WORDS },
    alone: { type: 'boolean', default: false },
    against: { type: 'string' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

const percent = ({ hits, of }: HitRate): number | undefined => (of === 0 ? undefined : hits / of);
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
        ['verdict is the label', ratio(score.exact)],
        ['failures: precision', ratio(score.precision)],
        ['failures: recall', ratio(score.recall)],
        ['infrastructure judged as failure', ratio(score.blamed)],
        ['infrastructure judged as success or failure', ratio(score.taught)],
        ['digest is the expected one', ratio(score.digests)],
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
      ['client', 'verdict', 'failures: precision', 'failures: recall'],
      score.clients.map(({ client, exact, precision, recall }) => [
        client,
        ratio(exact),
        ratio(precision),
        ratio(recall),
      ]),
    ),
    score.wrong.length === 0
      ? 'No turn is wrong.'
      : `Wrong:\n\n${score.wrong
          .map(
            ({ id, client, label, verdict, note }) =>
              `- ${id} (${client}): ${label}, judged ${verdict}: ${note}`,
          )
          .join('\n')}`,
  ].join('\n\n');
}

/** One document for programs; shares are of 1, and absent where nothing was to be found. */
function toDocument(file: string, score: TurnScores): object {
  const counted = (rate: HitRate) => ({ hits: rate.hits, of: rate.of, share: percent(rate) });
  return {
    file,
    turns: score.turns,
    verdictExact: counted(score.exact),
    labels: Object.fromEntries(
      score.labels.map(({ label, precision, recall }) => [
        label,
        { precision: counted(precision), recall: counted(recall) },
      ]),
    ),
    infrastructureCalledFailure: counted(score.blamed),
    infrastructureCalledFailureOrSuccess: counted(score.taught),
    digests: counted(score.digests),
    confusion: score.confusion,
    clients: score.clients.map(({ client, exact, precision, recall }) => ({
      client,
      exact: counted(exact),
      failurePrecision: counted(precision),
      failureRecall: counted(recall),
    })),
    wrong: score.wrong,
    wrongDigests: score.wrongDigests,
  };
}

function reportTurns(): void {
  const scored = options.turns.map((file) => ({ file, score: scoreTurns(readTurns(file), appraise) }));
  for (const { file, score } of scored) requireSome(`turn in ${file}`, score.turns);
  const text = scored.map(({ file, score }) => report(file, score)).join('\n\n');
  if (options.json) {
    const documents = scored.map(({ file, score }) => toDocument(file, score));
    const [first] = documents;
    process.stdout.write(`${JSON.stringify(documents.length === 1 ? first : documents, undefined, 2)}\n`);
  } else process.stdout.write(`${text}\n`);
  if (options.write) {
    const when = new Date().toISOString().slice(0, 10);
    const command = `npm run bench:signals -- ${options.turns === OURS ? '' : options.turns.map((file) => `--turns ${file} `).join('')}--write`;
    writeSection(
      'lab/results/signals.md',
      'bench:signals',
      `${when}, Node ${process.versions.node}. \`${command}\`\n\n${text}`,
    );
  }
}

if (options.words || options.set !== OUR_WORDS)
  process.stdout.write(
    `${reportWordSets({
      files: options.set,
      isJson: options.json,
      isAlone: options.alone,
      against: options.against,
    })}\n`,
  );
else reportTurns();
