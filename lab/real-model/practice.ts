/**
 * npm run bench:real-practice -- --url URL --model NAME --tokenizer FOLDER --profile tinker --key-env VAR --problems FILE.jsonl --out FILE.jsonl
 *   [--practise 100 --measure 300 --group 5 --epochs 3 --batch 100 --samples 4 --seed 1 --control --seconds 240]
 *
 * Whether the product's practice makes a real model better at problems whose answer is a number (lab/results/real-model.md): it answers problems
 * that are never practised, practises others, and answers again with the lessons that the gate kept. The model writes its lessons itself, or
 * `--writer-…` names another one. The problems' text is in neither the repository nor the output.
 */
import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { ChatModel } from '../../src/core/chat.ts';
import { createPolicyModel } from '../../train/policy/policy-model.ts';
import { sharePrompts } from '../../train/policy-rollouts.ts';
import { markdownTable } from '../measure/markdown.ts';
import { requireSome } from '../measure/measured.ts';
import { readProblems } from './number-problems.ts';
import { ENGINE_OPTIONS, openRealEngine, readEngineChoice } from './open-engine.ts';
import { runNumberPractice } from './run-number-practice.ts';

const { values } = parseArgs({
  options: {
    ...ENGINE_OPTIONS,
    /** Another model that writes the lessons. */
    'writer-url': { type: 'string' },
    'writer-key-env': { type: 'string' },
    'writer-model': { type: 'string' },
    'writer-tokenizer': { type: 'string' },
    'writer-profile': { type: 'string' },
    problems: { type: 'string' },
    practise: { type: 'string', default: '100' },
    measure: { type: 'string', default: '300' },
    group: { type: 'string', default: '5' },
    epochs: { type: 'string', default: '3' },
    /** Problems whose lessons are published together. */
    batch: { type: 'string', default: '100' },
    /** Answers at 0.7, besides the greedy one. */
    samples: { type: 'string', default: '4' },
    /** Calls of practice at the same time. */
    jobs: { type: 'string', default: '512' },
    /** Tokens of an answer, and of what the writer replies. */
    reply: { type: 'string', default: '400' },
    'writer-reply': { type: 'string', default: '768' },
    seed: { type: 'string', default: '1' },
    /** `table`: without the sentence model. */
    recall: { type: 'string', default: 'sentences' },
    /** Practice with shuffled verdicts as well, at the same time. */
    control: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '3600' },
    out: { type: 'string' },
  },
});
const { out, problems: file } = values;
if (out === undefined || file === undefined)
  throw new Error('name the problems and the file for the results: --problems FILE.jsonl --out FILE.jsonl');
setMaxListeners(0);
const log = (line: string): void => void process.stderr.write(`${line}\n`);
const write = (line: object): void => {
  appendFileSync(out, `${JSON.stringify(line)}\n`);
  if (!('type' in line && (line.type === 'answer' || line.type === 'asked')))
    log(JSON.stringify(line).slice(0, 300));
};

const text = readFileSync(file, 'utf8');
const sha256 = createHash('sha256').update(text).digest('hex');
const choice = readEngineChoice(values);
const other = values['writer-model'];
const writerChoice =
  other === undefined
    ? choice
    : readEngineChoice({
        model: other,
        url: values['writer-url'] ?? values.url,
        'key-env': values['writer-key-env'] ?? values['key-env'],
        tokenizer: values['writer-tokenizer'] ?? values.tokenizer,
        profile: values['writer-profile'] ?? values.profile,
      });
const opened: { close(): Promise<void> }[] = [];

async function openModel(named: typeof choice, longestReply: number): Promise<ChatModel> {
  const { engine, template } = await openRealEngine(named, log, longestReply);
  opened.push(engine);
  const sampler = sharePrompts(await engine.openSampler(undefined));
  return createPolicyModel({
    template,
    weights: async () => ({ version: 0, sampler, release: () => undefined }),
  });
}

try {
  const answer = await openModel(choice, Number(values.reply));
  const writer = await openModel(writerChoice, Number(values['writer-reply']));
  write({ type: 'run', at: new Date().toISOString(), sha256, ...values, writer: writerChoice.model });
  const report = await runNumberPractice({
    problems: readProblems(text),
    answer,
    writer,
    names: { answer: choice.model, writer: writerChoice.model },
    practise: Number(values.practise),
    measure: Number(values.measure),
    group: Number(values.group),
    epochs: Number(values.epochs),
    batch: Number(values.batch),
    samples: Number(values.samples),
    jobs: Number(values.jobs),
    longestReply: Number(values.reply),
    seed: Number(values.seed),
    recall: values.recall === 'table' ? 'table' : 'sentences',
    hasControl: values.control,
    seconds: Number(values.seconds),
    write,
  });
  const percent = (share: number | undefined): string =>
    share === undefined ? '–' : (100 * share).toFixed(1);
  process.stdout.write(
    `${[
      `${file}: SHA-256 ${sha256}`,
      `${report.verdict}; ${choice.model} answers, ${writerChoice.model} writes`,
      markdownTable(
        ['arm', 'measure', 'right', '95 %', 'problems'],
        report.shares.map(({ arm, measure, share, interval, problems }) => [
          arm,
          measure,
          `${percent(share)} %`,
          `${percent(interval?.low)} to ${percent(interval?.high)}`,
          String(problems),
        ]),
      ),
      ...(report.differences.length === 0
        ? []
        : [
            markdownTable(
              ['difference', 'measure', 'points', '95 %', 'better/worse', ''],
              report.differences.map(({ of, against, measure, mean, interval, better, worse, verdict }) => [
                `${of} − ${against}`,
                measure,
                percent(mean),
                `${percent(interval?.low)} to ${percent(interval?.high)}`,
                `${better}/${worse}`,
                verdict,
              ]),
            ),
          ]),
    ].join('\n\n')}\n`,
  );
  requireSome(
    'measured answer',
    report.shares.reduce((sum, { answers }) => sum + answers, 0),
  );
  requireSome(
    `prompt with a lesson (${report.verdict})`,
    report.lessons
      .flatMap(({ practice, placed }) =>
        practice === 'graded' ? Object.values(placed).map(({ problems }) => problems) : [],
      )
      .reduce((sum, one) => sum + one, 0),
  );
} finally {
  await Promise.all(opened.map((one) => one.close()));
}
