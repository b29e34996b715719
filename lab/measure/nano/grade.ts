import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readNanoReply } from '../../../nano/policy/nano-template.ts';
import { createNanoTokenizer } from '../../../nano/policy/tokenizer.ts';
import { readVocabulary } from '../../../nano/policy/vocabulary.ts';
import { createWorkspace } from '../../../src/agent/sandbox/workspace.ts';
import type { PlannedQuestion } from '../../workdays/files/make-file-questions.ts';
import { type EvaluationPrompt, questionOf } from './evaluation.ts';

/*
 * Grades the replies that pretrain.py sampled, with the suite's checks and shell.
 *
 *   npm run -s build && node dist/lab/measure/nano/grade.js --samples FOLDER/samples.json
 */
const { values } = parseArgs({
  options: {
    samples: { type: 'string', default: '.cache/nano-out/samples.json' },
    data: { type: 'string', default: '.cache/nano-data' },
    model: { type: 'string', default: 'models/nano' },
    show: { type: 'string', default: '0' },
  },
});
const vocabulary = readVocabulary(readFileSync(`${values.model}/tokenizer.json`, 'utf8'));
if (vocabulary === undefined) throw new Error(`${values.model}/tokenizer.json is no vocabulary`);
const tokenizer = createNanoTokenizer(vocabulary);
const asked = JSON.parse(
  readFileSync(`${values.data}/evaluation.json`, 'utf8'),
) as readonly EvaluationPrompt[];
const sampled = JSON.parse(readFileSync(values.samples, 'utf8')) as Readonly<
  Record<string, readonly (readonly number[])[]>
>;
const say = (text: string) => process.stdout.write(`${text}\n`);

interface Tally {
  count: number;
  passed: number;
  isDone: number;
  readonly rules: Map<string, { count: number; kept: number }>;
}

for (const temperature of ['1', '0']) {
  const tallies = new Map<string, Tally>();
  let shown = 0;
  for (const [at, tokens] of (sampled[temperature] ?? []).entries()) {
    const one = asked[at];
    if (one === undefined) continue;
    const tally = tallies.get(one.condition) ?? { count: 0, passed: 0, isDone: 0, rules: new Map() };
    tallies.set(one.condition, tally);
    const { passed, isDone, broken, rules } = await grade(one, tokens);
    tally.count++;
    if (passed) tally.passed++;
    if (isDone) tally.isDone++;
    for (const rule of rules) {
      const kept = tally.rules.get(rule) ?? { count: 0, kept: 0 };
      tally.rules.set(rule, { count: kept.count + 1, kept: kept.kept + (broken.includes(rule) ? 0 : 1) });
    }
    if (!isDone && shown < Number(values.show)) {
      shown++;
      say(`${one.condition}: ${tokenizer.decode(one.prompt)}\n   => ${tokenizer.decode(tokens)}`);
    }
  }
  say(`T = ${temperature}`);
  for (const [condition, { count, passed, isDone, rules }] of tallies) {
    const each = [...rules].sort().map(([rule, { count: of, kept }]) => `${rule} ${percent(kept, of)}`);
    say(
      `  ${condition.padEnd(24)} n ${count}, passed ${percent(passed, count)}, task alone ${percent(isDone, count)}  ${each.join(', ')}`,
    );
  }
}

async function grade(one: EvaluationPrompt, tokens: readonly number[]) {
  const reply = readNanoReply(tokens, tokenizer);
  const none = { broken: [] as readonly string[], rules: [] as readonly string[] };
  if (one.condition === 'foreign')
    return { ...none, passed: reply.is === 'foreign', isDone: reply.is === 'foreign' };
  const question = questionOf(one);
  if (question === undefined) throw new Error(`${one.question} is not there: make the data again`);
  if (question.kind === 'choice') {
    const isRight = reply.is === 'say' && reply.text === `\\bbox{${question.answer.join(',')}}`;
    return { ...none, passed: isRight, isDone: reply.is === 'say' };
  }
  const { plan, rules } = question as PlannedQuestion;
  const wrong = { passed: false, isDone: false, broken: rules, rules };
  if (reply.is !== 'act') return wrong;
  const workspace = await createWorkspace();
  try {
    for (const { path, before } of plan.edits) await workspace.write(path, before);
    await workspace.runPlain(reply.commands.filter((line) => line !== 'done').join('\n'), {});
    const verdict = await question.check(workspace, new AbortController().signal);
    return { passed: verdict.passed, isDone: verdict.isDone === true, broken: verdict.broken, rules };
  } finally {
    await workspace.dispose();
  }
}

function percent(part: number, of: number): string {
  return `${((100 * part) / Math.max(1, of)).toFixed(1)} %`;
}
